"""Which conditions hold."""

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
        ("unheard_of", False),
        ("!unheard_of", True),
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
    """`!` binds before `&&`, `&&` before `||`; a constant that nobody set is false, whatever it is called."""
    assert evaluate_condition(condition, CONSTANTS) is holds


@pytest.mark.parametrize(
    "condition", ["", " ", "!", "(", ")", "()", "true &&", "|| true", "(true", "true)", "true !", "true (false)"]
)
def test_what_is_no_condition(condition: str):
    """A condition that is cut short or does not balance is an error, not a guess."""
    with pytest.raises(BadCondition):
        evaluate_condition(condition, CONSTANTS)


def test_depth_costs_nothing():
    """Neither a hundred thousand parentheses nor as many negations exhaust the stack."""
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


def python_of(condition: str) -> str:
    for ours, pythons in (("true", "True"), ("false", "False"), ("&&", "and"), ("||", "or"), ("!", " not ")):
        condition = condition.replace(ours, pythons)
    return condition.strip()


@given(EXPRESSIONS)
def test_as_python_has_it(condition: str):
    """Every condition has the value that Python gives to the same expression."""
    assert evaluate_condition(condition, frozenset()) is eval(python_of(condition))  # noqa: S307 (made of the words above)
