"""`sluice transform`: lines in, lines out, byte for byte."""

import argparse
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.cli.commands.transform import run as transform_command
from sluice.cli.standard_streams import Streams, UsageError
from sluice.core.errors import Invalid


def transform(
    body: bytes, *names: str, exclude: tuple[str, ...] = (), include: tuple[str, ...] = (), as_json: bool = False
) -> bytes:
    streams = Streams(io.BytesIO(body), io.BytesIO(), io.StringIO())
    options = argparse.Namespace(transformations=names, exclude=exclude, include=include, json=as_json)
    assert transform_command(options, streams) == 0
    return streams.stdout.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b""),
        (b"a", b"a"),
        (b"a\n", b"a\n"),
        (b"a\r\nb\n\n", b"a\nb\n\n"),
        (b"a\rb", b"a\rb"),
        (b"\xff\xfe\n\xed\xa0\x80", b"\xff\xfe\n\xed\xa0\x80"),
        ("\ufeffä\u2028\0".encode(), "\ufeffä\u2028\0".encode()),
    ],
)
def test_bytes_pass_through(before: bytes, after: bytes):
    """Without transformations only line ends change; bytes that are not UTF-8 survive, and nothing is added."""
    assert transform(before) == after


def test_transformations_and_filters():
    """Transformations run in their own order, after exclusions and inclusions."""
    body = b"! c\n0.0.0.0 a.com\n0.0.0.0 b.com\n0.0.0.0 a.com\n"
    assert transform(body, "Deduplicate", "Compress", "RemoveComments") == b"||a.com^\n||b.com^\n"
    assert transform(body, exclude=("b.com", "! c")) == b"0.0.0.0 a.com\n0.0.0.0 a.com\n"
    assert transform(body, include=("*a.com",)) == b"0.0.0.0 a.com\n0.0.0.0 a.com"


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=()), max_size=9)))
def test_json_carries_any_text(lines: list[str]):
    """As JSON every text survives, including line breaks in a line and lone surrogates."""
    output = transform(json.dumps(lines).encode(), as_json=True)
    assert json.loads(output) == lines
    assert output.isascii()


@pytest.mark.parametrize("body", [b"", b"{}", b'["a", 1]', b"[", b"\xff"])
def test_not_an_array(body: bytes):
    """Anything but a JSON array of strings is refused."""
    with pytest.raises(Invalid, match="standard input"):
        transform(body, as_json=True)


@pytest.mark.parametrize("names", [("Nope",), ("Validate", "ValidateAllowIp")])
def test_wrong_names(names: tuple[str, ...]):
    """Unknown names and conflicting validators are a usage error."""
    with pytest.raises(UsageError):
        transform(b"a", *names)


def test_wrong_patterns():
    """A malformed or dangerous regular expression fails the command, with a sentence that quotes it."""
    for pattern in ("/(/", "/^(a|a)*$/"):
        with pytest.raises(Invalid, match=re.escape(pattern)):
            transform(b"a", exclude=(pattern,))
