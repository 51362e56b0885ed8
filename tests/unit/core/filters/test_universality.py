"""Regular expressions that match every name: what is said to match every name does, and what a name escapes is found out."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.filters.patterns.universality import matches_every_name


@pytest.mark.parametrize(
    "source",
    [
        "", "^", ".*", "^.+$", "^.*?$", ".", "[a-z]", "[A-Z]?", r"\.", "[.]", r"\w", r"\S+", r"\D", r"\b", "[^0-9]", "[^a-z]", "a|[^a]",
        "(ads)?", "(ads)*$", ".*|ads", "^.*(google|facebook)?.*$", "[a-z]{2}", r"\.[a-z]", "^[a-z0-9.-]+$", "^.{1,253}$", "(a*)*",
        r"^[^.]{1,63}\.", r"^([a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}$", "[a-z]$|[0-9]$", "(?=x)|.", r"(.)?\1|.", r"[\s\S]",
        r"\.([a-z]{2,}|xn--[a-z0-9-]+)$",
    ],
)  # fmt: skip
def test_all_names(source: str):
    """A name has two or more labels, and letters in the last one."""
    assert matches_every_name(source)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("[0-9]", "a.com"), (r"\d{1,3}", "a.com"), ("-", "a.com"), ("[a-y]$", "a.zz"), ("[aeiou]", "t.bz"), ("^[a-z]", "1.com"),
        ("[a-z]{3}", "t.co"), (".{5}", "t.co"), ("^.{1,60}$", f"{'a.' * 40}com"), ("^[a-z.]+$", "1.com"), (r"\.[a-z]{2,}$", "a.xn--p1ai"),
        ("(ads|track)", "a.com"), (r"[^.]\.[^.]+\.", "a.com"), (r"\W\W", "a.com"), ("^[^x]*$", "x.com"), (r"(a)\1", "b.com"),
        ("^$", "a.com"), ("[\u0400-\u04ff]", "a.com"), (r"^(\w|\.)*$", "a-b.com"), (r"\B\.", "a.com"), ("^(?!.*google)", "google.com"),
        ("[a-z]{500}", "a.com"), ("(", "a.com"), ("^([a-z]|x{400})", "1.com"),
    ],
)  # fmt: skip
def test_some_name_escapes(source: str, name: str):
    """An expression that does not match some name is told from one that matches all."""
    assert not matches_every_name(source)
    try:
        assert re.search(source, name) is None
    except re.error:
        assert source == "("


labels = st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,4}[a-z0-9])?", fullmatch=True)
names = st.builds(
    "{}.{}".format,
    st.lists(labels, min_size=1, max_size=3).map(".".join),
    st.sampled_from(["com", "zz", "xn--p1ai", "xn--0", "co", "aa"]),
)
FRAGMENTS = [
    ".", ".*", "[a-z]", "[a-z]*", r"\.", "[^a]", "[0-9]?", "(?:a|b)*", "^", "$", "a?", "[a-z0-9-]+", "|", r"\b", "(?:^|[^.]+)", ".{2,3}",
    r"(?:\.|$)", "[^.]", "-?", "(?:[a-y]|z)", r"\w{1,2}",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=6).map("".join), st.lists(names, min_size=1, max_size=30))
def test_what_matches_every_name_matches_each(source: str, some: list[str]):
    """No name escapes an expression that is said to match every name."""
    if matches_every_name(source):
        assert all(re.search(source, name, re.IGNORECASE) for name in some)


@given(st.sets(st.sampled_from(string.ascii_lowercase + string.digits + ".-"), min_size=1), st.booleans())
def test_a_class_of_characters(characters: set[str], is_negated: bool):
    """One character of a class stands in every name if the class has the dot, or nearly all letters: the last label may be `zz`."""
    source = f"[{'^' * is_negated}{re.escape(''.join(sorted(characters)))}]"
    in_class = set(string.ascii_lowercase + ".") & characters
    if is_negated:
        in_class = set(string.ascii_lowercase + ".") - characters
    assert matches_every_name(source) == ("." in in_class or len(in_class) == 26)
