"""How many fetches one request may cause: a batch, its lists, their includes, redirects and retries together."""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.limits import ListTooLarge
from sluice.core.errors import Invalid
from sluice.core.json_text import JsonObject, JsonValue
from sluice.core.net.transport import Transport, TransportRequest, TransportResponse

MAX_FETCHES: Final = 100
# For the lists that the operator has configured: what the platform allows.
OPERATOR_FETCHES: Final = 9_000
SOURCES_PER_REQUEST: Final = 10
_PATTERN_FILES: Final = (
    "exclusions_sources", "inclusions_sources", "domainExclusionsSources", "domainInclusionsSources",
)  # fmt: skip


@dataclass(slots=True)
class FetchAllowance:
    """What is left of the fetches of one compilation."""

    limit: int = MAX_FETCHES
    used: int = 0

    @property
    def left(self) -> int:
        return self.limit - self.used

    def take(self) -> None:
        if self.used >= self.limit:
            raise ListTooLarge(
                f"this needs more than {self.limit} fetches, with includes, redirects and retries:"
                " that is all this request may cause; split it"
            )
        self.used += 1

    def limit_transport(self, transport: Transport) -> Transport:
        """Return the transport, which takes one from the allowance for each request."""

        def send(request: TransportRequest) -> AbstractAsyncContextManager[TransportResponse]:
            self.take()
            return transport(request)

        return send


def count_files(configuration: Configuration) -> int:
    """Return how many files a configuration names: its sources, and its files of exclusions and inclusions."""
    filters = (configuration, *configuration.sources)
    return len(configuration.sources) + sum(len(part.pattern_files) for part in filters)


def count_sent_files(sent: JsonObject) -> int:
    """Return how many files a configuration names that is not validated yet; an invalid one is never compiled."""
    filters = (sent, *_list_sources(sent))
    return count_sent_sources(sent) + sum(_length(part.get(name)) for part in filters for name in _PATTERN_FILES)


def count_sent_sources(sent: JsonObject) -> int:
    """Return how many sources a configuration has that is not validated yet."""
    return len(_list_sources(sent))


def _list_sources(sent: JsonObject) -> list[JsonObject]:
    sources = sent.get("sources")
    return [source for source in sources if isinstance(source, Mapping)] if isinstance(sources, list) else []


def _length(value: JsonValue) -> int:
    return len(value) if isinstance(value, list) else 0


def share_fetches(files: Sequence[int]) -> list[int]:
    """Return how many fetches each list of one request may cause: one for each file, and an equal part of the rest."""
    total = sum(files)
    if total > MAX_FETCHES:
        raise Invalid(f"the lists name {total} files together; one request may cause {MAX_FETCHES} fetches: split it")
    return [count + (MAX_FETCHES - total) // len(files) for count in files]


def count_charges(sources: int) -> int:
    """Return as how many requests a request for many lists counts: one for each ten sources begun."""
    return max(1, math.ceil(sources / SOURCES_PER_REQUEST))
