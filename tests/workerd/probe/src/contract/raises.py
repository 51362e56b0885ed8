"""`pytest.raises` for where pytest is not."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def raises(kind: type[Exception], text: str = "") -> Iterator[None]:
    """Check that the block raises this kind, with the text in its message."""
    try:
        yield
    except kind as error:
        assert text in str(error), f"{text!r} is not in {str(error)!r}"  # noqa: PT017 - this is that helper
    else:
        raise AssertionError(f"{kind.__name__} was not raised")
