"""Random lines that look like rules, hosts rules and comments."""

from hypothesis import strategies as st

from sluice.core.filters.pipeline import TRANSFORMATIONS
from sluice.core.filters.transformations.drop_reasons import TransformationTrace

HOSTS = [
    "example.com", "sub.example.com", "ads.example.com", "com", "co.uk", "example", "EXAMPLE.com", "1.2.3.4", "1.2.3.",
    "1.2.3.*", "a_b.net", "a..b", "-a.org", "*.org", "*", "t.co", "пример.рф", "xn--p1ai", "[::1]", "x:80", "", "😀.la",
]  # fmt: skip
PREFIXES = ["", "||", "@@||", "|", "@@", "0.0.0.0 ", "::1\t", "! ", "# ", "#", " ", "/", "://", "bad "]
SUFFIXES = [
    "", "^", "^|", "^$important", "^$third-party", "$all,important=", "^$denyallow=x.com", "##.ad", "/path", "/", " # c",
    "^$csp=a\\,b", "$$script", " b.example.com", "^$", "^$,", "  ",
]  # fmt: skip

line = st.one_of(
    st.builds("{}{}{}".format, st.sampled_from(PREFIXES), st.sampled_from(HOSTS), st.sampled_from(SUFFIXES)),
    st.sampled_from(["", " ", "! heading", "#", "@@", "$", "constructor", "__proto__"]),
    st.text(alphabet=st.characters(exclude_characters="\n\r"), max_size=12),
)
lines = st.lists(line, max_size=30)
validators = st.sampled_from([name for name in TRANSFORMATIONS if name.startswith("Validate")])
others = st.sets(st.sampled_from([name for name in TRANSFORMATIONS if not name.startswith("Validate")]))
names = st.builds(lambda others, validator: [*others, validator], others, validators)


def run(name: str, *lines: str) -> list[str]:
    return TRANSFORMATIONS[name].apply(list(lines))


def trace(name: str, *lines: str) -> TransformationTrace:
    return TRANSFORMATIONS[name].trace(list(lines))


def reasons(name: str, *lines: str) -> dict[str, str]:
    """Return the reason for each dropped line, by its text."""
    return {line.text: line.reason for line in trace(name, *lines).dropped}
