"""The rules of language in `src/sluice/core/news/phrases`, and those that the labelled sets of `dev` use."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from phrase_tables import Tables
from phrases import FEW
from sluice.core.news.sentiment import lexicon
from sluice.core.news.sentiment.clauses import split_clauses
from sluice.core.news.sentiment.inflection import inflect
from sluice.core.news.sentiment.judge import _normalise
from sluice.core.news.sentiment.rewriting import rewrite
from sluice.core.news.stories import names, terms
from sluice.core.news.stories.headline_facts import _WORD, HeadlineFacts, clean_title, stem_word
from sluice.core.news.summaries import address
from sluice.core.news.vocabulary.sentiment import REWRITING
from unit.core.news.labelled_sets import load_set

TABLES: Final = Path(__file__).parents[4] / "src/sluice/core/news/phrases"
_ANY_WORD: Final = re.compile(r"\w[\w'.*&-]*\w|\w")
# Where a pattern of a section may stand, for the sections of which not every pattern says it by itself.
_FRAMES: Final = {
    "no event opens": r"^(?:{})\b",
    "no event": r"\b(?:{})\b",
    "procedures": r"\b(?:{})\b",
    "calm": r"\b(?:{})\b",
    "negated": r"\b(?:{})\b",
    "halted": r"\b(?:{})\b",
    "wire labels": r"^(?:{})",
    "boilerplate": r"(?i)\b(?:{})\b",
    "labels": r"(?i)^(?:{})\b\s*[:|(]",
    "boilerplate of other languages": r"(?i)(?:{})",
    "site": r"(?i)\b(?:{})\b",
    "site without word ends": r"(?i)(?:{})",
    "entry verbs": r"(?i)^(?:{})\b",
    "pictures": r"\b(?:{})",
    "biographies": r"^(?:[A-Z][\w.'-]+\s+){{1,3}}(?:{})",
    "openings": r'^["“]?(?:{})',
    "openings of other languages": r"^(?:{})",
    "more openings": r"^(?:{})",
    "dangling": r"^(?:{})",
    "speech": r"\b(?:{})\b",
}
_ADDRESS: Final = {"persons": r"\b(?:{})\b", "orders": "^(?:{})"}
_TAG_FRAME: Final = r"(?<!\w)(?:{})(?!\w)"


class Rule(NamedTuple):
    """A rule is known by its file, by its section, or what it is used for, and by its text."""

    file: str
    section: str
    text: str


def list_rules() -> Iterator[Rule]:
    """Yield every rule of the tables."""
    tables = Tables(TABLES)
    for entry in tables.read("headlines.txt", 3, ()):
        uses = zip(("sentiment", "stories"), entry.columns[1:], strict=True)
        yield from (Rule("headlines.txt", use, entry.columns[0]) for use, column in uses if column != "-")
    for path in sorted(TABLES.glob("*/*.txt")):
        name = path.relative_to(TABLES).as_posix()
        for entry in tables.read(name, 0):
            if entry.section in {"opposites", "beside"}:
                yield Rule(name, entry.section, "/".join(entry.columns))
            elif entry.section != "acts":
                yield Rule(name, entry.section, entry.columns[0])


def find_used_rules() -> set[Rule]:
    """Return the rules that decide something about a text in `dev`."""
    cases = load_set("dev", "rules")
    headlines: list[dict[str, Any]] = [*load_set("dev", "headlines"), *cases["headlines"]]
    pairs: list[dict[str, Any]] = load_set("dev", "pairs")
    pairs += [{side: {"title": pair[side]} for side in "ab"} for pair in cases["pairs"]]
    texts = [_normalise(text) for item in headlines for text in (item["title"], item.get("description", ""))]
    items = [pair[side] for pair in pairs for side in "ab"]
    titles = [text for item in items for text in (item["title"], item.get("description", "")) if text]
    sentences = [text for name in load_set("dev", "articles/expected") for text in load_article(name)]
    rules = [*list_rules()]
    used = {*_find_in_headlines(texts), *_find_in_titles(titles), *_find_in_pairs(pairs)}
    used |= {
        *_find_words(rules, "stories/words.txt", titles),
        *_find_stems(rules, titles),
        *_find_words(rules, "summaries/words.txt", sentences),
    }
    used |= {*_find_words(rules, "topics/words.txt", titles), *_find_words(rules, "sentiment/words.txt", texts)}
    used |= {*_find_patterns(rules, "sentiment/patterns.txt", [rewrite(text) for text in texts])}
    used |= {*_find_patterns(rules, "stories/patterns.txt", [text.lower() for text in titles])}
    used |= {*_find_patterns(rules, "summaries/patterns.txt", sentences)}
    used |= {*_find_in_languages(rules)}
    used |= {*_find_patterns(rules, "topics/tags.txt", [item["title"].lower() for item in [*headlines, *items]])}
    return used & {*rules}


def load_article(name: str) -> list[str]:
    article = load_set("dev", f"articles/{name}")
    paragraphs: list[str] = article["paragraphs"]
    return [sentence for text in paragraphs for sentence in re.split(r"(?<=[.!?。])\s*", text) if sentence]


def _find_in_headlines(texts: Iterable[str]) -> Iterator[Rule]:
    """Yield the phrases that the sentiment finds, and the rewritings."""
    phrases = [*(rule.text for rule in list_rules() if (rule.file, rule.section) == ("headlines.txt", "sentiment"))]
    forms: dict[tuple[str, ...], set[str]] = {}
    for phrase in phrases:
        first, *rest = phrase.split()
        for form in (first, *inflect(first)):
            forms.setdefault((form, *rest), set()).add(phrase)
    for text in texts:
        rewritten = text
        for pattern, wanted in REWRITING:
            found = re.sub(pattern, wanted, rewritten)
            if found != rewritten:
                yield Rule("sentiment/rewriting.txt", "rewriting", pattern.replace(FEW, "FEW"))
            rewritten = found
        for clause, _ in split_clauses(rewritten):
            for entry in _find_entries(lexicon.split_words(clause)):
                yield from (Rule("headlines.txt", "sentiment", phrase) for phrase in forms.get(entry, ()))


def _find_entries(words: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the longest entries at each place, as `find_units` does."""
    at = 0
    while at < len(words):
        entries = lexicon._lexicon().entries(words[at].removesuffix("'s"))
        fitting = [entry.words for entry in entries if lexicon._fits(entry, words, at)]
        size = max(map(len, fitting), default=1)
        yield from (entry for entry in fitting if len(entry) == size)
        at += size


def _find_in_titles(titles: Iterable[str]) -> Iterator[Rule]:
    """Yield the acts, the meanings and the names that the stories find."""
    for title in titles:
        words = tuple(word.rstrip(".").lower() for word in _WORD.findall(clean_title(title)))
        yield from (Rule("headlines.txt", "stories", phrase) for phrase in _find_phrases(words, "acts"))
        for table in ("measures", "assets"):
            yield from (Rule("stories/meanings.txt", table, phrase) for phrase in _find_phrases(words, table))
        plain = [word.removesuffix("'s") for word in words]
        for word in plain:
            yield from (Rule("stories/meanings.txt", "synonyms", each) for each in (word, word.removesuffix("s")))
        for at, size, _ in names._find_aliases(words):
            phrase = " ".join(plain[at : at + size])
            yield from (Rule("stories/names.txt", "nicknames", each) for each in (phrase, phrase.removesuffix("s")))


def _find_phrases(words: tuple[str, ...], table: str) -> Iterator[str]:
    for term in terms.find_terms(words, table):
        for phrase, name in terms._phrases(table).options(words[term.at]):
            if len(phrase) == term.size and name == term.name and terms._fits(phrase, words, term.at):
                yield " ".join(phrase)


def _find_in_pairs(pairs: Iterable[dict[str, Any]]) -> Iterator[Rule]:
    """Yield the pairs of acts that exclude each other, and the acts that follow an event."""
    for pair in pairs:
        ours, theirs = (HeadlineFacts.from_text(pair[side]["title"]).acts for side in "ab")
        for one in ours - theirs:
            yield Rule("stories/acts.txt", "follow-ups", one)
            for other in theirs - ours:
                yield Rule("stories/acts.txt", "opposites", f"{one}/{other}")
                yield Rule("stories/acts.txt", "opposites", f"{other}/{one}")
        for one in ours & theirs:
            for other in (ours | theirs) - {one}:
                yield Rule("stories/acts.txt", "beside", f"{one}/{other}")
        yield from (Rule("stories/acts.txt", "follow-ups", other) for other in theirs - ours)


def _find_words(rules: Iterable[Rule], file: str, texts: Iterable[str]) -> Iterator[Rule]:
    words = {word.lower() for text in texts for word in _ANY_WORD.findall(text)}
    return (rule for rule in rules if rule.file == file and rule.text in words)


def _find_in_languages(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Yield what speaks to the reader in the language of an article."""
    spoken: dict[str, list[str]] = {}
    for name in load_set("dev", "articles/expected"):
        spoken.setdefault(load_set("dev", f"articles/{name}")["language"], []).extend(load_article(name))
    for rule in rules:
        what, _, language = rule.section.partition(" ")
        if rule.file == "summaries/address.txt":
            frame = "{}" if what == "persons" and language in address._WIDE else _ADDRESS[what]
            pattern = re.compile(frame.format(rule.text), re.NOFLAG if language in address._CASED else re.IGNORECASE)
            if any(map(pattern.search, spoken.get(language, ()))):
                yield rule


def _find_stems(rules: Iterable[Rule], titles: Iterable[str]) -> Iterator[Rule]:
    """Yield the beginnings and stems of words that the stories find."""
    words = {word for title in titles for word in _ANY_WORD.findall(title.lower())}
    stems = {stem_word(word) for word in words}
    for rule in rules:
        if rule.section == "decisions" and rule.text in stems:
            yield rule
        if rule.section == "undoing" and any(word.startswith(rule.text) for word in words):
            yield rule


def _find_patterns(rules: Iterable[Rule], file: str, texts: list[str]) -> Iterator[Rule]:
    for rule in rules:
        frame = _TAG_FRAME if file == "topics/tags.txt" else _FRAMES.get(rule.section, "{}")
        if rule.file == file and any(map(re.compile(frame.format(rule.text)).search, texts)):
            yield rule
