"""Whether a fetched source may replace its last good copy."""

from sluice.core.compiler.sources.source_errors import BadSource
from sluice.core.filters.syntax.lines import is_blank, is_comment

COPY_KEPT_S = 30 * 24 * 3600


def count_rules(lines: list[str]) -> int:
    """Return how many lines are neither empty nor comments."""
    return sum(1 for line in lines if not is_blank(line) and not is_comment(line))


def check_size(rules: int, good_rules: int | None, max_shrink: float) -> None:
    """Raise BadSource for a source that has lost a larger share of its rules than allowed; None if there is no copy."""
    if good_rules and rules < good_rules * (1 - max_shrink):
        raise BadSource(
            f"it has {rules:,} rules after {good_rules:,}: more is gone than maxShrink {max_shrink:g} allows"
        )


def check_is_whole(text: bytes, good_text_ends: bool, good_bytes: int) -> None:
    """Raise BadSource for a text that stops within a line, if the last good copy was longer and did not."""
    if good_text_ends and len(text) < good_bytes and not text.endswith((b"\n", b"\r")):
        raise BadSource("it ends within a line and is shorter than before: the download is incomplete")
