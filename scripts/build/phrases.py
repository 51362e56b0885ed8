"""Makes modules of the tables of phrases, because a Worker has modules and no other files.

./scripts/setup runs it after every change of the tables, and so does every build of the package.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from phrase_tables import KINDS, NO_ACT, BadTables, Phrase, Tables

NEWS: Final = Path(__file__).parents[2] / "src/sluice/core/news"
_WORDS: Final = ("common words", "name tails", "stop words")
_HEADLINE_KINDS: Final = ("planned", "talks", "recap", "explainer", "reaction", "forecast")
_NO_EVENTS: Final = ("no event opens", "no event", "procedures", "calm")
_SENTENCES: Final = (
    *(
        "boilerplate",
        "labels",
        "boilerplate of other languages",
        "site",
        "site without word ends",
        "entry verbs",
        "pictures",
    ),
    *("biographies", "openings", "openings of other languages", "more openings", "dangling", "ties"),
)
_SENTENCE_WORDS: Final = (
    *("past", "present", "reported", "parties", "known to all", "named parties", "generic"),
    *("commands", "noun commands", "objects"),
)
FEW: Final = r"(?:[^\s;:]*[^\s,;:] ){0,4}"


def build_modules(folder: Path) -> dict[str, str]:
    """Return the source of each module; raises BadTables."""
    tables = Tables(folder)
    acts, opposites, follow_ups = tables.read_acts("stories/acts.txt")
    phrases = tables.read_phrases("headlines.txt", acts, opposites)
    stories: dict[str, object] = {
        "ACTS": {"": _join_acts(phrases, NO_ACT), **{act: _join_acts(phrases, act) for act in acts}},
        "OPPOSITES": ", ".join(map("/".join, opposites)),
        "FOLLOW_UPS": ", ".join(follow_ups),
        **_name(tables.read_list("stories/words.txt", _WORDS), " "),
        **_name(tables.read_patterns("stories/patterns.txt", _HEADLINE_KINDS), "|"),
    }
    meanings = tables.read_meanings(
        "stories/meanings.txt", ("measures", "assets", "synonyms"), stems_in=("measures", "assets")
    ) | tables.read_meanings("stories/names.txt", ("nicknames",))
    stories |= {
        _to_constant(section): {meaning: ", ".join(words) for meaning, words in found.items()}
        for section, found in meanings.items()
    }
    rewriting = tables.read_replacements("sentiment/rewriting.txt", "rewriting")
    sentiment: dict[str, object] = {
        "PHRASES": tuple(_group_by_kind(phrases)),
        "REWRITING": tuple((each.replace("FEW", FEW), new.replace(" SPACE", " ")) for each, new in rewriting),
        **_name(tables.read_patterns("sentiment/patterns.txt", _NO_EVENTS), "|"),
    }
    summaries: dict[str, object] = {
        **_name(tables.read_patterns("summaries/patterns.txt", _SENTENCES), "|"),
        **_name(tables.read_list("summaries/words.txt", _SENTENCE_WORDS), " "),
    }
    tags = {tag: "|".join(patterns) for tag, patterns in tables.read_patterns("topics/tags.txt").items()}
    tables.check()
    modules: dict[str, Mapping[str, object]] = {
        "sentiment": sentiment,
        "stories": stories,
        "summaries": summaries,
        "topics": {"PATTERNS": tags},
    }
    return {"__init__": '"""The tables of phrases as modules, written by ./scripts/setup."""\n'} | {
        name: _write_module(name, constants) for name, constants in modules.items()
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
