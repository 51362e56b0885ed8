"""The check against server-side request forgery (SSRF): which URLs may be fetched.

Only http and https URLs of the public web pass, nothing that could mean this machine or its network. The URL that is
fetched is built from the parts checked here, never from the original text, so another parser that reads odd text
(backslashes, tabs, `%31`, `0x7f.1`) differently cannot lead anywhere else.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from sluice.core.errors import ConfigError, Refused

_REFUSED_V4: Final = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
# Only 2000::/3 is allocated, so loopback, link-local, mapped, compatible and NAT64 addresses all fall outside it.
_PUBLIC_V6: Final = ipaddress.IPv6Network("2000::/3")
# Teredo and other special uses, documentation, 6to4 (which carries an IPv4 address), documentation.
_REFUSED_V6: Final = tuple(
    ipaddress.IPv6Network(block) for block in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_REFUSED_SUFFIXES: Final = frozenset(
    {"corp", "home", "home.arpa", "internal", "intranet", "lan", "local", "localdomain", "localhost", "private"}
    | {"metadata.oraclecloud.com", "metadata.packet.net", "metadata.platformequinix.com", "metadata.tencentyun.com"}
    # Public names that resolve to any address, private ones included.
    | {
        "1u.ms",
        "backname.io",
        "lacolhost.com",
        "localtest.me",
        "lvh.me",
        "nip.io",
        "rbndr.us",
        "sslip.io",
        "vcap.me",
        "xip.io",
    }
)
_MAX_HOST_CHARS: Final = 253
# No empty label, not even a last one: `2130706433.` is 127.0.0.1 to browsers and workerd.
_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NUMBER: Final = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL in its canonical form."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    @property
    def url(self) -> str:
        return self.origin + self.path

    @property
    def redacted_url(self) -> str:
        """The URL for messages and logs: without the query, which may hold a secret."""
        return self.origin + self.path.partition("?")[0]


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The private hosts that the operator allows to be fetched."""

    everything: bool = False
    hosts: frozenset[tuple[str, int | None]] = frozenset()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a comma-separated list of `host` and `host:port`, or `*`; raise ConfigError."""
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        if "*" in entries:
            return cls(everything=True)
        try:
            return cls(hosts=frozenset(_parse_host_and_port(entry) for entry in entries))
        except Refused as error:
            raise ConfigError(f"ALLOW_PRIVATE_HOSTS: {error}") from error

    def covers(self, host: str, port: int) -> bool:
        return self.everything or bool(self.hosts & {(host, None), (host, port)})


def check_url(url: str, allowed: AllowedHosts) -> Target:
    """Return the canonical target of an absolute URL; raise Refused with the reason if it must not be fetched."""
    if _CONTROL.search(url):
        raise Refused("the URL contains a control character")
    try:
        parts = urlsplit(url.strip(" "))
        scheme = parts.scheme.lower()
        if scheme not in _DEFAULT_PORTS:
            raise Refused(f"only http and https URLs are fetched, not {scheme or 'a URL without a scheme'}")
        host, explicit_port = _parse_host_and_port(parts.netloc)
    except ValueError:
        raise Refused("the URL is malformed") from None
    port = _DEFAULT_PORTS[scheme] if explicit_port is None else explicit_port
    if not allowed.covers(host, port) and (reason := _refusal_reason(host)):
        raise Refused(f"{host} is {reason}, which is not fetched")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(scheme, host, port, path.replace(" ", "%20"))


def _parse_host_and_port(netloc: str) -> tuple[str, int | None]:
    """Parse by hand, because `urlsplit().hostname` drops the text around the brackets of an IPv6 address."""
    if "@" in netloc:
        raise Refused("a URL with a user name or password is not fetched")
    has_port = ":" in netloc.rpartition("]")[2]
    literal, _, port_text = netloc.rpartition(":") if has_port else (netloc, "", "")
    if port_text and not (port_text.isascii() and port_text.isdigit() and int(port_text) < 2**16):
        raise Refused("the port is not valid")
    return _canonicalize_host(literal), int(port_text) if port_text else None


def _canonicalize_host(text: str) -> str:
    if text.startswith("["):
        return _canonicalize_ipv6(text)
    host = text.lower() if text.isascii() else _encode_idna(text)
    host = host.removesuffix(".")
    if len(host) > _MAX_HOST_CHARS or not _HOST.fullmatch(host):
        raise Refused("the host name is not valid")
    # Browsers and workerd treat a host whose last label is a number as an IPv4 address.
    return _canonicalize_ipv4(host) if _NUMBER.fullmatch(host.rpartition(".")[2]) else host


def _canonicalize_ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text[1:].removesuffix("]"))
    except ValueError:
        raise Refused("the IPv6 address is not valid") from None
    if address.scope_id or not text.endswith("]"):
        raise Refused("the IPv6 address is not valid")
    return f"[{address.compressed}]"


def _canonicalize_ipv4(host: str) -> str:
    """Return an IPv4 address in its canonical form, from every spelling that inet_aton accepts: `127.1`, `0x7f.1`, `017700000001`, `2130706433`."""
    labels = host.split(".")
    try:
        numbers = [_parse_number(label) for label in labels]
    except ValueError:
        raise Refused("the IPv4 address is not valid") from None
    *leading, last = numbers
    if len(numbers) > 4 or any(number > 255 for number in leading) or last >= 256 ** (5 - len(numbers)):
        raise Refused("the IPv4 address is not valid")
    return str(ipaddress.IPv4Address(last + sum(number << 8 * (3 - place) for place, number in enumerate(leading))))


def _parse_number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if label.startswith("0") and len(label) > 1 else int(label)


def _encode_idna(text: str) -> str:
    import idna  # noqa: PLC0415 - few names are not ASCII, and it delays the start of a Worker

    try:
        return idna.encode(text, uts46=True).decode()
    except (UnicodeError, OverflowError):
        # Overflow: punycode for a character beyond a machine word, which has 32 bits in Pyodide.
        raise Refused("the host name is not valid") from None


def _refusal_reason(host: str) -> str | None:
    """Return why a canonical host must not be fetched; None for a public host."""
    if host.startswith("["):
        v6 = ipaddress.IPv6Address(host[1:-1])
        public = v6 in _PUBLIC_V6 and not any(v6 in block for block in _REFUSED_V6)
        return None if public else "not a public address"
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        v4 = ipaddress.IPv4Address(host)
        return "not a public address" if any(v4 in block for block in _REFUSED_V4) else None
    labels = host.split(".")
    if len(labels) == 1 or any(".".join(labels[at:]) in _REFUSED_SUFFIXES for at in range(len(labels))):
        return "a name of a local network"
    return None
