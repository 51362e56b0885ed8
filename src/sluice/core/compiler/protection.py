"""Tells which excluded domains a list still blocks, and adds the exceptions that keep them open."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sluice.core.compiler.report import BlockedDomain
from sluice.core.filters.patterns.domain_patterns import DomainPattern
from sluice.core.filters.verdicts import NameVerdicts, Verdict

# Two names below a domain that have no label in common: a rule that blocks both blocks everything there.
_PROBES: Final = ("q7x9jz", "m-m.0k")


class Protection(NamedTuple):
    """The domains that are still blocked, those that were opened, and the exceptions that open them."""

    still_blocked: tuple[BlockedDomain, ...] = ()
    protected: tuple[BlockedDomain, ...] = ()
    exceptions: tuple[str, ...] = ()


def protect_domains(
    lines: Sequence[str], domains: Iterable[DomainPattern], opened: Iterable[DomainPattern]
) -> Protection:
    """Look for the domains in a finished list; those that are `opened` get an exception where something blocks them."""
    domains = tuple(dict.fromkeys([*domains, *opened]))
    if not domains:
        return Protection()
    to_open = set(opened)
    verdicts = NameVerdicts(
        lines, any_client=True, names=(name for domain in domains for name in _choose_names(domain))
    )
    still_blocked: list[BlockedDomain] = []
    protected: dict[str, BlockedDomain] = {}
    for domain in domains:
        decisions = [verdicts.decide(name) for name in _choose_names(domain)]
        if any(decision.verdict is not Verdict.BLOCKED or decision.line is None for decision in decisions):
            continue
        blocked = BlockedDomain(domain=str(domain), rule=lines[decisions[0].line or 0].strip())
        if domain in to_open:
            is_important = any(decision.is_important for decision in decisions)
            protected[_format_exception(domain, is_important=is_important)] = blocked
        else:
            still_blocked.append(blocked)
    return Protection(tuple(still_blocked), tuple(protected.values()), tuple(protected))


def _choose_names(domain: DomainPattern) -> tuple[str, ...]:
    return tuple(f"{probe}.{domain.name}" for probe in _PROBES) if domain.is_below else (domain.name,)


def _format_exception(domain: DomainPattern, *, is_important: bool) -> str:
    pattern = f"||{domain}^" if domain.is_below else f"|{domain}^"
    return f"@@{pattern}$important" if is_important else f"@@{pattern}"
