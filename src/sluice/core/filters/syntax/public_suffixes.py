"""The public suffix list, ICANN section: which names are open for anyone to register under."""

from collections.abc import Iterator
from functools import cache
from pkgutil import get_data
from typing import Final, NamedTuple

from sluice.core.errors import ConfigError

_END: Final = b"===END ICANN DOMAINS==="


class Suffixes(NamedTuple):
    """Rules by kind: `com` is plain, `*.ck` stands as `ck` in the wildcards, `!www.ck` as `www.ck` in the exceptions."""

    plain: frozenset[str]
    wildcards: frozenset[str]
    exceptions: frozenset[str]

    def known(self, hostname: str) -> bool:
        """Whether the list itself names this hostname as a suffix."""
        if hostname in self.plain:
            return True
        return hostname.partition(".")[2] in self.wildcards and hostname not in self.exceptions

    def covers(self, hostname: str) -> bool:
        """Whether the whole hostname is a suffix; an unknown single label counts as one."""
        return "." not in hostname or self.known(hostname)


@cache
def suffixes() -> Suffixes:
    """Read once, on first use: importing must stay cheap where a Worker starts."""
    rules = set(_rules())
    wildcards = {rule[2:] for rule in rules if rule.startswith("*.")}
    exceptions = {rule[1:] for rule in rules if rule.startswith("!")}
    plain = {rule for rule in rules if rule[0] not in "*!"}
    return Suffixes(frozenset(plain), frozenset(wildcards), frozenset(exceptions))


def _rules() -> Iterator[str]:
    data = get_data("publicsuffixlist", "public_suffix_list.dat") or b""
    if _END not in data:
        raise ConfigError("the public suffix list is missing from the bundle: without it, rules for co.uk would pass")
    for line in data.partition(_END)[0].decode().splitlines():
        rule = line.strip()
        if rule and not rule.startswith("//"):
            yield rule
            if not rule.isascii():
                yield ".".join(map(_ascii_label, rule.split(".")))


def _ascii_label(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"
