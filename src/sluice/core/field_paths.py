"""The path of a field in a body or a query: `sources[2].url`."""

import json
import re

_PLAIN_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")


def format_step(step: int | str, *, first: bool) -> str:
    """Return one step of a path: the index of an item, or the name of a member."""
    if isinstance(step, int):
        return f"[{step}]"
    if not _PLAIN_NAME.fullmatch(step):
        return f"[{json.dumps(step)}]"
    return step if first else f".{step}"
