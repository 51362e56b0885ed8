"""The public suffix list, ICANN section: the names under which anyone can register a domain."""

from collections.abc import Iterable
from functools import cache
from pkgutil import get_data
from typing import Final, NamedTuple

from sluice.core.errors import ConfigError
from sluice.core.filters.syntax.punycode import encode_label

_END: Final = "===END ICANN DOMAINS==="
_PREPARED: Final = "// prepared for sluice"


class PublicSuffixes(NamedTuple):
    """Rules by kind: `com` is in `plain` as `||com^`, `*.ck` in `wildcards` as `ck`, `!www.ck` in `exceptions` as `www.ck`."""

    plain: frozenset[str]
    wildcards: frozenset[str]
    exceptions: frozenset[str]

    def is_listed(self, hostname: str) -> bool:
        """Return whether the list names this hostname as a suffix."""
        if f"||{hostname}^" in self.plain:
            return True
        return hostname.partition(".")[2] in self.wildcards and hostname not in self.exceptions

    def is_suffix(self, hostname: str) -> bool:
        """Return whether the whole hostname is a suffix; an unknown single label counts as one."""
        return "." not in hostname or self.is_listed(hostname)


@cache
def load_public_suffixes() -> PublicSuffixes:
    """Load the list on first use only, because imports delay the start of a Worker."""
    text = (get_data("publicsuffixlist", "public_suffix_list.dat") or b"").decode()
    _, *kinds = prepare_public_suffixes(text).split("\n\n")
    return PublicSuffixes(*(frozenset(kind.split()) for kind in kinds))


def prepare_public_suffixes(text: str) -> str:
    """Return the rules of the ICANN section, the three kinds one after another, as `PublicSuffixes` has them.

    One that is not in ASCII is there in both of its forms. The build stores a prepared list with each Worker; to prepare that
    again changes nothing.
    """
    if text.startswith(_PREPARED):
        return text
    if _END not in text:
        raise ConfigError(
            "the public suffix list is missing from the bundle: add the package publicsuffixlist; without it rules for co.uk would pass"
        )
    lines = [line.strip() for line in text.partition(_END)[0].splitlines()]
    written = [line for line in lines if line and not line.startswith("//")]
    rules = dict.fromkeys([*written, *(_encode(rule) for rule in written if not rule.isascii())])
    plain = (f"||{rule}^" for rule in rules if rule[0] not in "*!")
    wildcards = (rule[2:] for rule in rules if rule.startswith("*."))
    exceptions = (rule[1:] for rule in rules if rule.startswith("!"))
    return "\n\n".join([_PREPARED, *map(_join, (plain, wildcards, exceptions))])


def _encode(rule: str) -> str:
    return ".".join(map(encode_label, rule.split(".")))


def _join(rules: Iterable[str]) -> str:
    return "\n".join(rules)
