"""Reads the sources of a list: each from its address, else from a mirror, else from its last good copy.

A source is a bundle of its files, includes too, so a copy is as whole as the source was. All sources that are read at
once share the room of one (`download_memory.py`); those that find none are read again, one by one.

A limit that is hit every time is no outage. When all sources are read, or stand in by their copies, their sizes are
added up (`sizes.py`), and a sum beyond a limit fails the build, whatever came first. One source that is too large by
itself has gone bad like any other bad one: its mirror or copy is taken, and without these the build fails too
(`source_outcomes.py`). A PUT looks at the sources first, once and for a short while; what does not answer by then is left to
the build.
"""

import asyncio
import hashlib
import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from sluice import __version__
from sluice.core.compiler.limits import Budget
from sluice.core.compiler.published.definition import ListDefinition, Mirror
from sluice.core.compiler.published.replacement_check import check_is_whole, check_size, count_rules
from sluice.core.compiler.published.versions import SourceState
from sluice.core.compiler.sources.backoff import backoff_s
from sluice.core.compiler.sources.download import Download, check_status
from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.compiler.sources.source_errors import BadSource, SourceFailed, find_cause
from sluice.core.compiler.sources.source_reader import SourceReader
from sluice.core.compiler.sources.utf8_conversion import to_utf8
from sluice.core.errors import SluiceError, TooLarge
from sluice.core.ports import Clock, Draw, Fetch, HeaderPairs
from sluice.services.compiler.limits.metered_download import LIMITS
from sluice.services.compiler.published.sources.bundles import Bundle, FetchedFile, PackedBundle
from sluice.services.compiler.published.sources.download_memory import DownloadMemory, SourceMemory
from sluice.services.compiler.published.sources.sizes import SourceSize, find_excess
from sluice.services.compiler.published.sources.source_outcomes import (
    GoodCopy,
    SourceOutcome,
    check_limits,
    list_addresses,
)

_RETRIES: Final = 2
_RETRIES_WITH_COPY: Final = 1
_MAX_REASON_CHARS: Final = 300
CHECK_S: Final = 20.0  # a person waits
_HEADERS: Final = (("User-Agent", f"sluice/{__version__}"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFetcher:
    fetch: Fetch
    clock: Clock
    draw: Draw
    timeout_s: float
    retries: int = _RETRIES

    async def fetch_all(self, definition: ListDefinition, copies: Mapping[str, GoodCopy]) -> list[SourceOutcome]:
        """Return an outcome for each source, and for each file of exclusions and inclusions; no outage raises an error.

        Raise TooLarge if all of them exceed a limit together, or one alone of which there is no copy.
        """
        found: dict[str, SourceOutcome] = {}
        await self.fetch_each(definition, copies, found)
        return check_limits(definition, found)

    async def check_size(self, definition: ListDefinition, copies: Mapping[str, GoodCopy]) -> None:
        """Raise TooLarge as a build would, as far as the sources can be read soon; a build finds out about the others."""
        found: dict[str, SourceOutcome] = {}
        with suppress(TimeoutError):
            async with asyncio.timeout(CHECK_S):
                await replace(self, retries=0).fetch_each(definition, copies, found)
        check_limits(definition, found)

    async def fetch_each(
        self, definition: ListDefinition, copies: Mapping[str, GoodCopy], found: dict[str, SourceOutcome]
    ) -> None:
        """Add an outcome for each address, side by side."""
        room = DownloadMemory(LIMITS.total_bytes)

        async def fetch(address: str, *, is_patterns: bool) -> None:
            async def read(own: SourceMemory) -> SourceOutcome:
                if is_patterns:
                    return await self._fetch_patterns(own, address, copies.get(address))
                return await self._fetch_source(own, definition, address, copies.get(address))

            outcome = found[address] = await room.read_in_turn(read)
            if find_excess(one.size for one in found.values()):
                found[address] = replace(outcome, packed=None)  # only the sum is wanted now

        await asyncio.gather(*(fetch(address, is_patterns=one) for address, one in list_addresses(definition).items()))

    async def _fetch_source(
        self, room: SourceMemory, definition: ListDefinition, source: str, copy: GoodCopy | None
    ) -> SourceOutcome:
        try:
            return await self._read(room, source, copy, definition.max_shrink)
        except SluiceError as error:
            failures, reason = [error], describe_failure(error)
        for mirror in definition.mirrors_of(source):
            try:
                found = await self._read(room, source, copy, definition.max_shrink, mirror)
            except SluiceError as error:
                failures.append(error)
                reason = _shorten(f"{reason}; mirror {remove_secrets(mirror.address)}: {describe_failure(error)}")
            else:
                return replace(found, state=SourceState.MIRROR, reason=reason, mirror=mirror.address)
        return await _fall_back(source, copy, failures, reason)

    async def _fetch_patterns(self, room: SourceMemory, file: str, copy: GoodCopy | None) -> SourceOutcome:
        try:
            bundle, lines = await self._read_files(room, file, copy, None, is_patterns=True)
        except SluiceError as error:
            return await _fall_back(file, copy, [error], describe_failure(error), is_patterns=True)
        return SourceOutcome(
            source=file,
            state=SourceState.OK,
            packed=_pack(bundle, copy),
            rule_count=len(lines),
            fetched_s=self.clock.now(),
            is_patterns=True,
            size=SourceSize.measure(bundle, len(lines)),
        )

    async def _read(
        self,
        room: SourceMemory,
        source: str,
        copy: GoodCopy | None,
        max_shrink: float,
        mirror: Mirror | None = None,
    ) -> SourceOutcome:
        """Return the source as its address, or a mirror, has it; raise SluiceError if that cannot be used."""
        bundle, lines = await self._read_files(room, source, copy, mirror)
        rules, size = count_rules(lines), SourceSize.measure(bundle, len(lines))
        del lines  # before the last copy is unpacked
        check_size(rules, copy.rule_count if copy else None, max_shrink)
        packed = _pack(bundle, copy)
        if copy and packed is not copy.packed:
            good = next(iter(copy.packed.unpack().files.values())).body
            body = next(iter(bundle.files.values())).body
            check_is_whole(body, good.endswith((b"\n", b"\r")), len(good))
        return SourceOutcome(
            source=source, state=SourceState.OK, packed=packed, rule_count=rules, fetched_s=self.clock.now(), size=size
        )

    async def _read_files(
        self,
        room: SourceMemory,
        source: str,
        copy: GoodCopy | None,
        mirror: Mirror | None,
        *,
        is_patterns: bool = False,
    ) -> tuple[Bundle, list[str]]:
        files: dict[str, FetchedFile] = {}
        known = copy.packed.read_validators() if copy and mirror is None else {}

        async def download(url: str) -> bytes:
            retries = min(self.retries, _RETRIES_WITH_COPY) if copy else self.retries
            found = await self._download(room, _to_mirror(url, source, mirror), known.get(url, ()), retries=retries)
            if found is None and copy:
                found = copy.packed.unpack().files[url]
            if found is None:
                raise BadSource("it has not changed since a copy that is not there: its server is wrong")
            files[url] = found
            if mirror and mirror.sha256 and url == source:
                _check_pin(files[url].body, mirror.sha256)
            return files[url].body

        lines = await _read_lines(download, source, is_patterns=is_patterns)
        return Bundle({source: files.pop(source), **dict(sorted(files.items()))}), lines

    async def _download(
        self, room: SourceMemory, url: str, validators: HeaderPairs, *, retries: int
    ) -> FetchedFile | None:
        for attempt in range(retries):
            try:
                return await self._download_once(room, url, validators)
            except SluiceError as error:
                if not error.retryable:
                    raise
            await self.clock.sleep(backoff_s(attempt, self.draw()))
        return await self._download_once(room, url, validators)

    async def _download_once(self, room: SourceMemory, url: str, validators: HeaderPairs) -> FetchedFile | None:
        """Return the file; None if its server says that it has not changed."""
        received = room.open_body()
        try:
            response = await self.fetch(
                url,
                headers=(*_HEADERS, *validators),
                max_bytes=LIMITS.source_bytes,
                timeout_s=self.timeout_s,
                sink=received.write,
            )
            if response.status == 304 and validators:
                return None
            check_status(response.status)
            content = received.take_all()
        finally:
            received.discard()
        body = to_utf8(content, response.header("content-type"), max_bytes=LIMITS.source_bytes)
        room.take(max(0, len(body) - len(content)))
        return FetchedFile(body, response.header("etag") or "", response.header("last-modified") or "")


def _pack(bundle: Bundle, copy: GoodCopy | None) -> PackedBundle:
    """Return the bundle, compressed; the last good copy if the bytes are the same."""
    return copy.packed if copy and copy.packed.digest == bundle.digest else bundle.pack()


def describe_failure(error: SluiceError) -> str:
    """Return the reason alone: the message names the source already."""
    while isinstance(error, SourceFailed):
        error = error.cause
    return _shorten(str(error))


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_REASON_CHARS else f"{text[:_MAX_REASON_CHARS]}…"


async def _fall_back(
    source: str, copy: GoodCopy | None, failures: Sequence[SluiceError], reason: str, *, is_patterns: bool = False
) -> SourceOutcome:
    failed = SourceOutcome(
        source=source,
        state=SourceState.FAILED,
        packed=None,
        reason=reason,
        is_patterns=is_patterns,
        is_too_large=any(isinstance(find_cause(failure), TooLarge) for failure in failures),
    )
    if copy is None:
        return failed
    return replace(
        failed,
        state=SourceState.LAST_GOOD,
        packed=copy.packed,
        rule_count=copy.rule_count,
        fetched_s=copy.fetched_s,
        size=await _measure_copy(source, copy.packed.unpack(), is_patterns=is_patterns),
    )


async def _measure_copy(source: str, bundle: Bundle, *, is_patterns: bool) -> SourceSize:
    async def download(url: str) -> bytes:
        return bundle.files[url].body

    return SourceSize.measure(bundle, len(await _read_lines(download, source, is_patterns=is_patterns)))


async def _read_lines(download: Download, source: str, *, is_patterns: bool) -> list[str]:
    reader = SourceReader(download, Budget(LIMITS), content={})
    try:
        text = await (reader.read_patterns(source) if is_patterns else reader.read_list(source, source))
    finally:
        await reader.close()
    return text.lines


def _check_pin(body: bytes, pin: str) -> None:
    if hashlib.sha256(body).hexdigest() != pin:
        raise BadSource("its bytes do not have the pinned SHA-256: they were changed")


def _to_mirror(url: str, source: str, mirror: Mirror | None) -> str:
    """Return the address to fetch: of the mirror for the source, and beside it for what the source includes."""
    if mirror is None:
        return url
    if url == source:
        return mirror.address
    folder = f"{posixpath.dirname(source)}/"
    return f"{posixpath.dirname(mirror.address)}/{url.removeprefix(folder)}" if url.startswith(folder) else url
