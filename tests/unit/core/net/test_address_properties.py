"""No spelling of a private address passes the SSRF check."""

import ipaddress
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.core.errors import Refused
from sluice.core.net.addresses import AllowedHosts, check_url

NOTHING = AllowedHosts()


def spell(address: int, style: int) -> str:
    """Return one of the spellings that inet_aton accepts."""
    parts = [address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255]
    return {
        0: ".".join(map(str, parts)),
        1: str(address),
        2: hex(address),
        3: oct(address).replace("0o", "0"),
        4: ".".join(map(hex, parts)),
        5: ".".join(oct(part).replace("0o", "0") for part in parts),
        6: f"{parts[0]}.{address & 0xFFFFFF}",
        7: f"{parts[0]}.{parts[1]}.{address & 0xFFFF}",
        8: f"0X{address:X}.",
        9: f"[::ffff:{'.'.join(map(str, parts))}]",
        10: f"[2002:{address >> 16:x}:{address & 0xFFFF:x}::1]",
        11: f"[64:ff9b::{address >> 16:x}:{address & 0xFFFF:x}]",
        12: f"[::{address >> 16:x}:{address & 0xFFFF:x}]",
        13: ".".join(map(str, parts)).translate({ord(str(n)): 0xFF10 + n for n in range(10)}),
    }[style]


@given(
    st.ip_addresses(v=4).map(int), st.integers(0, 13), st.sampled_from(["", ".", "..", "...", "。", "．．", ".\u00ad."])
)
def test_no_spelling_of_a_private_address_passes(address, style, dots):
    """An address that is not global is refused in every spelling, and no other address is reached."""
    try:
        target = check_url(f"http://{spell(address, style)}{dots}/", NOTHING)
    except Refused:
        return
    assert ipaddress.ip_address(address).is_global
    assert target.host == str(ipaddress.IPv4Address(address))


@given(st.ip_addresses(v=6))
def test_no_private_ipv6_address_passes(address):
    """The same for IPv6."""
    try:
        check_url(f"http://[{address}]/", NOTHING)
    except Refused:
        return
    assert address.is_global
    assert address.ipv4_mapped is None
    assert address.sixtofour is None
    assert address.teredo is None


@given(st.text(max_size=40))
def test_any_text_is_a_target_or_refused(text):
    """Any URL is refused or leads to a host in ASCII; nothing else is raised."""
    for url in (text, f"http://{text}", f"http://{text}/"):
        try:
            target = check_url(url, NOTHING)
        except Refused:
            continue
        assert target.host.isascii()
        assert not set(target.host) & set("@/\\?#% ")
        assert check_url(target.url, NOTHING) == target


# Pieces that parsers treat specially: numbers, dots of several scripts, brackets, invisible characters.
PIECES = st.sampled_from(
    (
        *(
            "127",
            "1",
            "0x7f",
            "0177",
            "0",
            "2130706433",
            "0x",
            "08",
            ".",
            ".",
            "..",
            "。",
            "．",
            "①",
            "\u00ad",
            "\u200b",
        ),
        *("a", "com", "localhost", "é", "ß", "ſ", "xn--", "xn--9", "-", "_", "[::1]", "[", "]", ":", ":80", "\\", "@"),
        *("/", " ", "%31"),
    )
)


@settings(max_examples=1000)
@given(st.lists(PIECES, min_size=1, max_size=5).map("".join))
def test_host_of_odd_pieces_is_canonical(text):
    """A host that passes has no empty label, and is an address if its last label is a number."""
    try:
        host = check_url(f"http://{text}/", NOTHING).host
    except Refused:
        return
    labels = host.split(".")
    assert all(labels)
    assert len(labels) > 1
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        assert ipaddress.IPv4Address(host).is_global
