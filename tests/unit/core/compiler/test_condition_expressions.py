"""The value of conditions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.compiler.sources.condition_expressions import BadCondition, evaluate_condition

CONSTANTS = frozenset({"adguard", "ext_chromium"})


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("true", True),
        (" false ", False),
        ("adguard", True),
        ("unknown_constant", False),
        ("!unknown_constant", True),
        ("! adguard", False),
        ("!!adguard", True),
        ("adguard&&ext_chromium", True),
        ("adguard && !ext_chromium", False),
        ("false || true && false", False),
        ("true || false && false", True),
        ("(true || false) && false", False),
        ("!(false || false)", True),
        ("!true || true", True),
        ("(((adguard)))", True),
        ("True", False),
        ("a b", False),
        ("adguard & true", False),
        ("тест || true", True),
    ],
)
def test_conditions(condition: str, holds: bool):
    """`!` binds before `&&`, `&&` before `||`; a constant that is not set is false."""
    assert evaluate_condition(condition, CONSTANTS) is holds


@pytest.mark.parametrize(
    "condition", ["", " ", "!", "(", ")", "()", "true &&", "|| true", "(true", "true)", "true !", "true (false)"]
)
def test_malformed_conditions(condition: str):
    """An incomplete or unbalanced condition is an error."""
    with pytest.raises(BadCondition):
        evaluate_condition(condition, CONSTANTS)


def test_deep_nesting():
    """A hundred thousand parentheses or negations do not exhaust the stack."""
    depth = 100_000
    assert evaluate_condition("(" * depth + "true" + ")" * depth, CONSTANTS)
    assert evaluate_condition("!" * depth + "true", CONSTANTS)


EXPRESSIONS = st.recursive(
    st.sampled_from(["true", "false"]),
    lambda inner: st.one_of(
        st.builds("!{}".format, inner),
        st.builds("({})".format, inner),
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
    ),
)


def to_python(condition: str) -> str:
    for word, python_word in (("true", "True"), ("false", "False"), ("&&", "and"), ("||", "or"), ("!", " not ")):
        condition = condition.replace(word, python_word)
    return condition.strip()


@given(EXPRESSIONS)
def test_agrees_with_python(condition: str):
    """Every condition has the value of the same expression in Python."""
    assert evaluate_condition(condition, frozenset()) is eval(to_python(condition))  # noqa: S307 (built from the words above)
