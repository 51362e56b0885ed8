"""Signatures: the documented scheme and nothing else."""

import random
from dataclasses import replace

import pytest

from sluice.core.errors import Unauthorized
from sluice.core.preload.request_signing import SignedRequest, canonical_string, compute_signature, sign_request

KEY = "0123456789abcdef0123456789abcdef"
NOW = 1_700_000_000.0
PATH = "/api/v1/preload"
NONCE = "00112233445566778899aabbccddeeff"
BODY = b'{"zone_id":"abc123xyz","urls":["https://example.com/"]}'


def request(body: bytes = BODY, headers: dict[str, str] | None = None) -> SignedRequest:
    signed = sign_request(KEY, "POST", PATH, BODY, now=NOW, nonce=NONCE)
    lowered = {name.lower(): value for name, value in signed.items()} | (headers or {})
    return SignedRequest.from_request("POST", PATH, lowered, body)


def is_accepted(signed: SignedRequest, *keys: str, now: float = NOW) -> bool:
    try:
        signed.verify(keys or (KEY,), now)
    except Unauthorized:
        return False
    return True


def test_vector():
    """The test vector of the README."""
    body_hash = "8c0a54f73ec968b2180732f357c9e5db2720465ed5666099386f8c0ede8bb05a"
    text = canonical_string("POST", PATH, "1700000000", NONCE, body_hash)
    assert text == f"POST\n/api/v1/preload\n1700000000\n{NONCE}\n{body_hash}"
    assert compute_signature(KEY, text) == "8bb14a8e1bb52a6497ccb65c70b0928801f84ac8292049f328b2f81f385cb564"
    assert request().text == text
    assert is_accepted(request())


def test_time_window():
    """300 s past and 30 s ahead are the limits."""
    assert is_accepted(request(), now=NOW + 300)
    assert not is_accepted(request(), now=NOW + 300.5)
    assert is_accepted(request(), now=NOW - 30)
    assert not is_accepted(request(), now=NOW - 30.5)


def test_rotation():
    """The current and the previous key both verify; an empty one never does."""
    assert is_accepted(request(), "another-key", KEY)
    assert not is_accepted(request(), "another-key", "")
    empty = sign_request("", "POST", PATH, BODY, now=NOW, nonce=NONCE)
    assert not is_accepted(request(headers={name.lower(): value for name, value in empty.items()}), "", KEY)


@pytest.mark.parametrize("name", ["x-timestamp", "x-nonce", "x-signature"])
@pytest.mark.parametrize("value", ["", " ", "x", "1" * 70, "1700000000, 1700000000", "é" * 20])
def test_malformed(name: str, value: str):
    """A malformed header is refused before anything is computed."""
    with pytest.raises(Unauthorized):
        request(headers={name: value})


def test_capital_signature():
    """The signature is lower-case, so that it has one spelling."""
    with pytest.raises(Unauthorized):
        request(headers={"x-signature": request().signature.upper()})


def mutated_text(text: str, draw: random.Random, alphabet: str) -> str:
    at = draw.randrange(len(text))
    return text[:at] + draw.choice([c for c in alphabet if c != text[at]]) + text[at + 1 :]


def test_mutations():
    """Of 10,000 changed requests not one is accepted: every part, every byte, at random."""
    draw = random.Random(7)
    hexadecimal = "0123456789abcdef"
    original = request()
    for number in range(10_000):
        match number % 6:
            case 0:
                at, bit = draw.randrange(len(BODY)), 1 << draw.randrange(8)
                changed = request(BODY[:at] + bytes([BODY[at] ^ bit]) + BODY[at + 1 :])
            case 1:
                changed = replace(original, path=mutated_text(PATH, draw, "abz/?%A."))
            case 2:
                changed = replace(original, method=draw.choice(["GET", "PUT", "post", "POST ", "DELETE", "PATCH"]))
            case 3:
                changed = replace(original, timestamp=str(int(NOW) + draw.choice([-1, 1]) * draw.randrange(1, 25)))
            case 4:
                changed = replace(original, nonce=mutated_text(NONCE, draw, hexadecimal + "-ABCDEF"))
            case _:
                changed = replace(original, signature=mutated_text(original.signature, draw, hexadecimal))
        assert changed != original
        assert not is_accepted(changed)
    for body in (BODY + b" ", b" " + BODY, BODY[:-1], b""):
        assert not is_accepted(request(body))
