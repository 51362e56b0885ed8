"""Makes modules of the tables of phrases, because a Worker has modules and no other files.

./scripts/setup runs it after every change of the tables, and so does every build of the package.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from runpy import run_path
from typing import Final

from phrase_faults import KINDS, NO_ACT, Entry, Phrase
from phrase_files import NEWS
from phrase_forms import Forms
from phrase_tables import BadTables, Tables

_TAGS: Final[tuple[str, ...]] = run_path(str(NEWS / "topics/tags.py"))["TAGS"]
_TITLE_WORDS: Final = ("told assets", "no entities", "before names", "after names", "other nouns")
_WORDS: Final = ("common words", "name tails", "stop words", "owners", "decisions", "undoing", "undone")
_HEADLINES: Final = (
    *("planned", "talks", "recap", "explainer", "reaction", "forecast", "negated", "halted", "wire labels"),
)
_NO_EVENTS: Final = ("no event opens", "no event", "procedures", "calm")
# Compared in whatever case, and with capitals.
_NOTES: Final = (
    *("boilerplate", "labels", "boilerplate of other languages", "site", "site without word ends", "entry verbs"),
)
_OPENINGS: Final = ("openings", "openings of other languages", "more openings")
_SENTENCES: Final = ("pictures", "biographies", *_OPENINGS, "dangling", "ties", "speech")
_SENTENCE_WORDS: Final = (
    *("past", "present", "reported", "parties", "known to all", "named parties", "generic"),
    *("commands", "noun commands", "objects"),
)
_EXCLUSIVE_WORDS: Final = (
    *(("past", "present"), ("past", "reported"), ("known to all", "named parties"), ("commands", "noun commands")),
)
_PERSONS: Final = ("en", "de", "fr", "es", "pt", "it", "nl", "pl", "tr", "ru", "ja", "zh", "ko")
_CASED: Final = ("en", "de")
_ORDERS: Final = ("de", "fr", "es", "pt", "it", "nl", "ru", "zh")
# Companies issue them: a ticker is the asset, and stands for its issuer.
_ISSUED: Final = "stablecoin"
FEW: Final = r"(?:[^\s;:]*[^\s,;:] ){0,4}"


def build_modules(folder: Path) -> dict[str, str]:
    """Return the source of each module; raises BadTables."""
    tables = Tables(folder)
    modules: dict[str, Mapping[str, object]] = {}
    acts = tables.read_acts("stories/acts.txt")
    phrases = tables.read_phrases("headlines.txt", acts)
    modules["sentiment"] = _read_sentiment(tables, phrases)
    modules["stories"] = {
        "ACTS": {"": _join_acts(phrases, NO_ACT), **{act: _join_acts(phrases, act) for act in acts.names}},
        "OPPOSITES": ", ".join(map("/".join, acts.opposites)),
        "FOLLOW_UPS": ", ".join(acts.follow_ups),
        "BESIDE": acts.beside,
        **_read_stories(tables),
    }
    modules["summaries"] = {
        **_name(
            tables.read_patterns(
                "summaries/patterns.txt", _NOTES + _SENTENCES, (("boilerplate", "site"), _OPENINGS), cased=_SENTENCES
            ),
            "|",
        ),
        **_name(tables.read_list("summaries/words.txt", _SENTENCE_WORDS, _EXCLUSIVE_WORDS), " "),
        **_read_address(tables),
    }
    tags = tables.read_patterns("topics/tags.txt", _TAGS, (_TAGS,))
    modules["topics"] = {
        "PATTERNS": {tag: "|".join(patterns) for tag, patterns in tags.items()},
        **_name(tables.read_list("topics/words.txt", _TITLE_WORDS), " "),
    }
    tables.check()
    return {"__init__": '"""The tables of phrases as modules, written by ./scripts/setup."""\n'} | {
        name: _write_module(name, constants) for name, constants in modules.items()
    }


def _read_sentiment(tables: Tables, phrases: list[Phrase]) -> dict[str, object]:
    groups = tuple(_group_by_kind(phrases))
    forms = Forms(groups)
    entries = {phrase.text: phrase.entry for phrase in phrases}
    for text, kind, other in forms.find_idle():
        tables.refuse(entries[text], f"“{text}” never counts as “{kind}”, because “{other}” fits wherever it does")
    for text, kind, other in forms.find_opposed():
        tables.refuse(entries[text], f"“{text}” is “{kind}”, and the opposite as a form of “{other}”")
    rewriting = tables.read_replacements("sentiment/rewriting.txt", "rewriting", {"FEW": FEW, " SPACE": " "})
    for _, new, entry in rewriting:
        if "\\" not in new and not forms.knows(new.replace(",", "")):
            tables.refuse(entry, f"no phrase of headlines.txt stands in “{new}”")
    return {
        "PHRASES": groups,
        "REWRITING": tuple((pattern, new) for pattern, new, _ in rewriting),
        **_name(tables.read_list("sentiment/words.txt", ("second verbs", "saying", "shares", "records")), " "),
        **_name(tables.read_patterns("sentiment/patterns.txt", _NO_EVENTS, (_NO_EVENTS,)), "|"),
    }


def _read_stories(tables: Tables) -> dict[str, object]:
    meanings = tables.read_meanings(
        "stories/meanings.txt",
        ("measures", "assets", "synonyms"),
        stems_in=("measures", "assets"),
        single_in=("synonyms",),
        exclusive=(("measures", "assets"),),
    )
    nicknames = tables.read_meanings("stories/names.txt", ("nicknames",), dated=("nicknames",))
    _refuse_names(tables, nicknames, [entry for entry in meanings if entry.section == "assets"])
    return {
        **_name(tables.read_list("stories/words.txt", _WORDS, (("name tails", "stop words"),)), " "),
        **_name(
            tables.read_patterns("stories/patterns.txt", _HEADLINES, (_HEADLINES,)),
            "|",
        ),
        **_join_meanings([*meanings, *nicknames]),
    }


def _read_address(tables: Tables) -> dict[str, object]:
    """Return for persons and orders the patterns of each language."""
    cased = [f"persons {language}" for language in _CASED] + [f"orders {language}" for language in _ORDERS]
    sections = [f"persons {language}" for language in _PERSONS] + [f"orders {language}" for language in _ORDERS]
    found: dict[str, dict[str, str]] = {"PERSONS": {}, "ORDERS": {}}
    for section, patterns in tables.read_patterns("summaries/address.txt", sections, cased=cased).items():
        what, _, language = section.partition(" ")
        found[what.upper()][language] = "|".join(patterns)
    return dict(found)


def _refuse_names(tables: Tables, nicknames: Iterable[Entry], assets: Iterable[Entry]) -> None:
    """Refuse a nickname that is a name or an asset by itself."""
    names: dict[str, int] = {}
    for entry in nicknames:
        names.setdefault(entry.columns[1], entry.line)
    traded = {text for entry in assets if entry.columns[1] != _ISSUED for text in entry.columns}
    for entry in nicknames:
        nickname, name = entry.columns
        if nickname == name:
            tables.refuse(entry, f"“{name}” stands for itself")
        elif nickname in names:
            tables.refuse(entry, f"“{nickname}” is a name itself, in line {names[nickname]}")
        elif nickname in traded:
            tables.refuse(entry, f"“{nickname}” is an asset in stories/meanings.txt")


def _join_meanings(entries: Iterable[Entry]) -> dict[str, object]:
    """Return for each section the meanings with their words."""
    found: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        word, meaning = entry.columns
        found.setdefault(_to_constant(entry.section), {}).setdefault(meaning, []).append(word)
    return {
        section: {meaning: ", ".join(words) for meaning, words in meanings.items()}
        for section, meanings in found.items()
    }


def _join_acts(phrases: Iterable[Phrase], act: str) -> str:
    return ", ".join(phrase.text for phrase in phrases if act in phrase.acts)


def _group_by_kind(phrases: Iterable[Phrase]) -> Iterable[tuple[str, float, str]]:
    """Yield kinds, strengths and phrases, the kinds in their order: where two fit equally well the later one counts."""
    groups: dict[tuple[int, float], list[str]] = defaultdict(list)
    for phrase in phrases:
        for kind, strength in phrase.kinds.items():
            groups[KINDS.index(kind), -strength].append(phrase.text)
    for place, strength in sorted(groups):
        yield KINDS[place], -strength, ", ".join(groups[place, strength])


def _name(sections: Mapping[str, list[str]], separator: str) -> dict[str, object]:
    return {_to_constant(section): separator.join(lines) for section, lines in sections.items()}


def _to_constant(section: str) -> str:
    return section.upper().replace(" ", "_").replace("-", "_")


def _write_module(name: str, constants: Mapping[str, object]) -> str:
    lines = [f'"""The phrases for {name}, written by ./scripts/setup."""\n', "from typing import Final\n"]
    return "\n".join([*lines, *(f"{constant}: Final = {value!r}" for constant, value in constants.items())]) + "\n"


def write_modules(news: Path = NEWS) -> None:
    """Write the modules beside the tables, where they are not the same already."""
    folder = news / "phrases"
    try:
        modules = build_modules(folder)
    except BadTables as error:
        shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
        raise SystemExit("\n".join(f"{shown}/{fault}" for fault in str(error).splitlines())) from None
    target = news / "vocabulary"
    target.mkdir(exist_ok=True)
    for name, source in modules.items():
        path = target / f"{name}.py"
        if not path.exists() or path.read_text(encoding="utf-8") != source:
            path.write_text(source, encoding="utf-8")


if __name__ == "__main__":
    write_modules()
