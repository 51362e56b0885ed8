"""The public suffix list, ICANN section: the names under which anyone can register a domain."""

from functools import cache
from pkgutil import get_data
from typing import Final, NamedTuple

from sluice.core.errors import ConfigError
from sluice.core.filters.syntax.punycode import encode_label

_END: Final = b"===END ICANN DOMAINS==="


class PublicSuffixes(NamedTuple):
    """Rules by kind: `com` is in `plain`, `*.ck` is in `wildcards` as `ck`, `!www.ck` is in `exceptions` as `www.ck`."""

    plain: frozenset[str]
    wildcards: frozenset[str]
    exceptions: frozenset[str]
    plain_rules: frozenset[str]  # the plain ones as rules, `||com^`

    def is_listed(self, hostname: str) -> bool:
        """Return whether the list names this hostname as a suffix."""
        if hostname in self.plain:
            return True
        return hostname.partition(".")[2] in self.wildcards and hostname not in self.exceptions

    def is_suffix(self, hostname: str) -> bool:
        """Return whether the whole hostname is a suffix; an unknown single label counts as one."""
        return "." not in hostname or self.is_listed(hostname)


@cache
def load_public_suffixes() -> PublicSuffixes:
    """Load the list on first use only, because imports delay the start of a Worker."""
    rules = _read_rules()
    wildcards = {rule[2:] for rule in rules if rule.startswith("*.")}
    exceptions = {rule[1:] for rule in rules if rule.startswith("!")}
    plain = {rule for rule in rules if rule[0] not in "*!"}
    plain_rules = frozenset(f"||{suffix}^" for suffix in plain)
    return PublicSuffixes(frozenset(plain), frozenset(wildcards), frozenset(exceptions), plain_rules)


def _read_rules() -> set[str]:
    """Return all rules; one that is not in ASCII in both of its forms."""
    data = get_data("publicsuffixlist", "public_suffix_list.dat") or b""
    if _END not in data:
        raise ConfigError(
            "the public suffix list is missing from the bundle: add the package publicsuffixlist; without it rules for co.uk would pass"
        )
    lines = map(str.strip, data.partition(_END)[0].decode().splitlines())
    rules = {line for line in lines if line and not line.startswith("//")}
    return rules | {".".join(map(encode_label, rule.split("."))) for rule in rules if not rule.isascii()}
