"""Hostnames in texts, and the public suffix list."""

import pytest

from sluice.core.filters.syntax.hostnames import find_name, parse_hostname
from sluice.core.filters.syntax.public_suffixes import load_public_suffixes


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a.com", "a.com"),
        ("A.com.", "a.com"),
        ("http://a.com/x", "a.com"),
        ("//a.com?x", "a.com"),
        ("user:pw@a.com:80", "a.com"),
        ("a_b.com", "a_b.com"),
        ("бюро.рф", "бюро.рф"),
        (".a.com", ".a.com"),
        ("1.2.3.4", "1.2.3.4"),
        ("http://[::1]:80/", "::1"),
        ("", None),
        ("a..b", None),
        ("a_.com", None),
        ("-a.com", None),
        ("a b.com", None),
        ("*.a.com", None),
        ("data:a.com", None),
        ("ht!tp://a.com", None),
        ("[::1", None),
        (f"{'a' * 64}.com", None),
        (".".join(["a" * 60] * 5), None),
    ],
)
def test_parse_hostname(text, name):
    """Scheme, user, port and path are removed; the rest must be a hostname."""
    parsed = parse_hostname(text)
    assert (parsed.name if parsed else None) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ads.Example.org.", "ads.example.org"), ("bücher.de", "xn--bcher-kva.de"), ("BÜCHER.DE.", "xn--bcher-kva.de"),
        ("XN--BCHER-KVA.de", "xn--bcher-kva.de"), ("https://u:p@Bücher.de:8443/Weg?x#y", "xn--bcher-kva.de"), (" bücher.de\n", "xn--bcher-kva.de"),
        ("bücher.de/weg", "xn--bcher-kva.de"), ("ΟΣ.GR", "xn--0xai.gr"), ("faß.de", "xn--fa-hia.de"), ("_dmarc.a.com", "_dmarc.a.com"), ("a_.com", "a_.com"),
        ("1.2.3.4", "1.2.3.4"), ("nas", "nas"), ("рф", "xn--p1ai"), ("", None), ("https://", None), ("a b", None), ("אa.com", None), ("*.a.com", None),
    ],
)  # fmt: skip
def test_find_name(text, name):
    """A name is found in any script and case, with or without the rest of an address, as DNS has it."""
    assert find_name(text) == name


@pytest.mark.parametrize("text", ["1.2.3.4", "999.999.999.999", "1.2.3.4.", "[2001:db8::1]", "1...234"])
def test_addresses(text):
    """Anything in the form of an address counts as one."""
    parsed = parse_hostname(text)
    assert parsed
    assert parsed.is_ip


@pytest.mark.parametrize(
    ("hostname", "listed"),
    [
        ("com", True),
        ("co.uk", True),
        ("рф", True),
        ("xn--p1ai", True),
        ("foo.ck", True),
        ("www.ck", False),
        ("github.io", False),
        ("example.com", False),
        ("nosuchtld", False),
    ],
)
def test_listed_suffixes(hostname, listed):
    """Only the ICANN section counts, with its wildcards and exceptions, in Unicode and in ASCII."""
    assert load_public_suffixes().is_listed(hostname) is listed


def test_an_unknown_label_is_a_suffix():
    """A single label is a suffix, listed or not."""
    assert load_public_suffixes().is_suffix("nosuchtld")
    assert not load_public_suffixes().is_suffix("a.nosuchtld")
