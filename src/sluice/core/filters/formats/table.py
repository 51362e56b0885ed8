"""The formats, one row each: how a block and an exception of each width is written, and what the client makes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from sluice.core.filters.formats.entries import Width

EXACT, TREE, BELOW = Width.EXACT, Width.TREE, Width.BELOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format; `{name}` in a line stands for the name, a width without a line cannot be expressed.

    The lines of an exception hold inside of a block: what they do not open, they leave blocked or block again. With
    `names_only`, the line for a tree blocks the name alone, and the header says so. In a `zone`, a wildcard reaches neither
    names that have a line nor the names below them.
    """

    syntax: str
    comment: str = "#"
    preamble: tuple[str, ...] = ()
    blocks: Mapping[Width, str] = field(default_factory=dict)
    exceptions: Mapping[Width, str] = field(default_factory=dict)
    names_only: bool = False
    zone: bool = False
    names_on_line: int = 1
    max_entries: int | None = None
    escape: Callable[[str], str] | None = None
    is_json: bool = False


def _escape_dots(name: str) -> str:
    return name.replace(".", r"\.")


_HOSTS: Final = {EXACT: "0.0.0.0 {name}", TREE: "0.0.0.0 {name}"}
_LOCAL_DATA: Final = 'local-data: "{name}. A 0.0.0.0"\nlocal-data: "{name}. AAAA ::"'
_ZONE: Final = ("$TTL 3600", "@ SOA localhost. root.localhost. {serial} 28800 3600 259200 3600", " NS localhost.")
PASSED_THROUGH: Final = ("adblock", "browser")

FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "adblock": Format(syntax="AdBlock", comment="!"),
        "browser": Format(syntax="AdBlock", comment="!"),
        "hosts": Format(syntax="Hosts", blocks=_HOSTS, names_only=True),
        "hosts-compressed": Format(syntax="Hosts, 9 names a line", blocks=_HOSTS, names_only=True, names_on_line=9),
        "domains": Format(syntax="Domains", blocks={EXACT: "{name}", TREE: "{name}"}, names_only=True),
        "wildcard": Format(syntax="Wildcard domains", blocks={TREE: "*.{name}"}),
        "dnsmasq": Format(
            syntax="DNSMasq v2.86 or newer",
            blocks={EXACT: "host-record={name},0.0.0.0,::", TREE: "local=/{name}/", BELOW: "local=/*.{name}/"},
            exceptions={
                EXACT: "server=/{name}/#\nlocal=/*.{name}/",
                TREE: "server=/{name}/#",
                BELOW: "server=/*.{name}/#",
            },
        ),
        "unbound": Format(
            syntax="Unbound",
            preamble=("server:",),
            blocks={EXACT: _LOCAL_DATA, TREE: 'local-zone: "{name}." always_nxdomain'},
            exceptions={
                TREE: 'local-zone: "{name}." transparent',
                BELOW: f'local-zone: "{{name}}." transparent\n{_LOCAL_DATA}',
            },
        ),
        "rpz": Format(
            syntax="Response policy zone",
            comment=";",
            preamble=_ZONE,
            blocks={EXACT: "{name} CNAME .", TREE: "{name} CNAME .\n*.{name} CNAME .", BELOW: "*.{name} CNAME ."},
            exceptions={
                EXACT: "{name} CNAME rpz-passthru.\n*.{name} CNAME .",
                TREE: "{name} CNAME rpz-passthru.\n*.{name} CNAME rpz-passthru.",
                BELOW: "{name} CNAME .\n*.{name} CNAME rpz-passthru.",
            },
            zone=True,
        ),
        "dnscrypt": Format(syntax="dnscrypt-proxy blocked names", blocks={EXACT: "={name}", TREE: "{name}"}),
        "pihole": Format(syntax="Pi-hole v6", comment="!", blocks={EXACT: "{name}", TREE: "||{name}^"}),
        "pihole-regex": Format(
            syntax="Pi-hole regular expressions, for import",
            blocks={EXACT: "^{name}$", TREE: r"(\.|^){name}$", BELOW: r"\.{name}$"},
            escape=_escape_dots,
            comment="",
        ),
        "technitium": Format(
            syntax="Technitium", comment="!", blocks={TREE: "||{name}^"}, exceptions={TREE: "@@||{name}^"}
        ),
        "routeros": Format(syntax="RouterOS 7.15 or newer", blocks=_HOSTS, names_only=True, max_entries=100_000),
        "mihomo": Format(
            syntax="mihomo domain set, text", blocks={EXACT: "{name}", TREE: "+.{name}", BELOW: ".{name}"}
        ),
        "sing-box": Format(
            syntax="sing-box rule set",
            comment="",
            blocks={EXACT: "{name}", TREE: "{name}", BELOW: ".{name}"},
            is_json=True,
        ),
        "surge": Format(syntax="Surge domain set", blocks={EXACT: "{name}", TREE: ".{name}"}),
        "little-snitch": Format(
            syntax="Little Snitch rules",
            comment="",
            blocks={EXACT: "{name}", TREE: "{name}"},
            max_entries=200_000,
            is_json=True,
        ),
    }
)
