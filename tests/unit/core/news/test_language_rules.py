"""The rules of language against the labelled sets, and each rule against its case."""

import hashlib
import re

import pytest

from news_sets import ArticleFigures, HeadlineFigures, PairFigures
from unit.core.news.labelled_sets import FOLDER, PARTS, list_titles, load_set
from unit.core.news.rule_uses import Rule, find_used_rules, list_rules

WITHOUT_A_CASE = FOLDER / "rules-without-a-case.txt"
STRUCK_OUT = "- "
# The list with what is struck out: it names the rules that are older than itself, and nobody adds to it.
DIGEST = "937500ea7d1baec60c152a966d3e6af3293e829f4f5b0fe41d4abaa69abd4d99"


def test_headlines_of_frozen():
    """At least 93 of 100 labels of headlines that no rule is made for, and of confident judgements nearly all."""
    found = HeadlineFigures.of(load_set("frozen", "headlines"))
    assert found.accuracy >= 0.93
    assert found.macro_f1 >= 0.925
    assert sum(found.hard) >= 0.9 * len(found.hard)
    assert sum(found.sure) >= 0.98 * len(found.sure)


def test_pairs_of_frozen():
    """What is told as one story is one, and of ten that are one nine are found."""
    found = PairFigures.of(load_set("frozen", "pairs"))
    assert found.precision >= 0.98
    assert found.recall >= 0.9


def test_articles_of_frozen():
    """Every summary has the facts, and none a sentence that it must not have."""
    expected = load_set("frozen", "articles/expected")
    assert ArticleFigures.of(FOLDER / "frozen/articles", expected) == ArticleFigures(len(expected), 0, 0)


@pytest.mark.parametrize("part", PARTS)
def test_split(part: str):
    """The hash of a text decides where it is, so that nothing goes from one part to the other."""
    texts = [item["title"] for item in load_set(part, "headlines")]
    texts += [f"{pair['a']['title']}\n{pair['b']['title']}" for pair in load_set(part, "pairs")]
    texts += [load_set(part, f"articles/{name}")["title"] for name in load_set(part, "articles/expected")]
    remainders = {int(hashlib.sha256(text.encode()).hexdigest(), 16) % 3 for text in texts}
    assert remainders == ({0} if part == "frozen" else {1, 2})


def test_no_title_in_both_parts():
    """A rule that is made for a text of `dev` is made for no text of `frozen`, in whatever case and punctuation."""
    dev, frozen = ({re.sub(r"[\W_]+", "", title.lower()) for title in list_titles(part)} for part in PARTS)
    assert sorted(dev & frozen) == []


def test_every_rule_has_a_case():
    """A rule is used by a text in `dev`, or is one of the old rules that are not struck out yet."""
    lines = WITHOUT_A_CASE.read_text(encoding="utf-8").splitlines()[1:]
    excused = {Rule(*line.split("\t")) for line in lines if not line.startswith(STRUCK_OUT)}
    rules, used = {*list_rules()}, find_used_rules()
    assert sorted(rules - used - excused) == [], "a rule without a case: add one to dev"
    assert sorted(excused & used) == [], "the rule has a case: strike it out of the list"
    assert sorted(excused - rules) == [], "there is no such rule: strike it out of the list"


def test_no_new_rule_is_excused():
    """The list of old rules without a case never gets another one, in the place of none either."""
    lines = [line.removeprefix(STRUCK_OUT) for line in WITHOUT_A_CASE.read_text(encoding="utf-8").splitlines()[1:]]
    assert lines == sorted({*lines})
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == DIGEST, "a new rule needs a case in dev"
