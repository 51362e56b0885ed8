"""Bound parameters of both SQLite databases: D1 and a Durable Object's own."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sluice.core.errors import Invalid
from sluice.core.ports import Scalar
from sluice.platform.values import check_int, encode_text, split_into_chunks

MAX_PARAMS: Final = 100


def check_parameters(params: Sequence[object]) -> list[Scalar]:
    """Return the parameters as SQL values, or raise Invalid; unchecked, a list arrives as "1,2" and True as "true"."""
    if len(params) > MAX_PARAMS:
        raise Invalid(f"a statement has {len(params)} bound parameters; the limit is {MAX_PARAMS}")
    return [_to_scalar(value, f"parameter {place}") for place, value in enumerate(params, 1)]


def group_rows(rows: Iterable[Sequence[Scalar]], columns: int) -> Iterator[list[Sequence[Scalar]]]:
    """Yield the rows in groups that one statement can insert within the limit of parameters."""
    if not 1 <= columns <= MAX_PARAMS:
        raise Invalid(f"a row of {columns} columns does not fit {MAX_PARAMS} bound parameters")
    yield from split_into_chunks(list(rows), MAX_PARAMS // columns)


def _to_scalar(value: object, where: str) -> Scalar:
    match value:
        case bool():
            return int(value)
        case int():
            check_int(value, where)
        case str():
            encode_text(value, where)
        case None | float() | bytes():
            pass
        case _:
            raise Invalid(f"{where} is a {type(value).__name__}; SQL accepts text, numbers, bytes and None")
    return value
