"""What both SQLite databases, D1 and a Durable Object's own, take as bound parameters."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sluice.core.errors import Invalid
from sluice.core.ports import Scalar
from sluice.platform.values import check_int, encode_text, split_into_chunks

MAX_PARAMS: Final = 100


def check_parameters(params: Sequence[object]) -> list[Scalar]:
    """The parameters as they may cross; unchecked, a list would arrive as "1,2" and True as "true"."""
    if len(params) > MAX_PARAMS:
        raise Invalid(f"{len(params)} bound parameters; the limit is {MAX_PARAMS}")
    return [_scalar(value, f"parameter {place}") for place, value in enumerate(params, 1)]


def group_rows(rows: Iterable[Sequence[Scalar]], columns: int) -> Iterator[list[Sequence[Scalar]]]:
    """Rows in groups that one statement can insert: rows times columns within the limit of parameters."""
    if not 1 <= columns <= MAX_PARAMS:
        raise Invalid(f"a row of {columns} columns does not fit {MAX_PARAMS} bound parameters")
    yield from split_into_chunks(list(rows), MAX_PARAMS // columns)


def _scalar(value: object, where: str) -> Scalar:
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
            raise Invalid(f"{where} is a {type(value).__name__}; SQL takes text, numbers, bytes and None")
    return value
