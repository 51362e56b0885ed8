"""Reads the sources of a list: each from its address, else from a mirror, else from its last good copy."""

import asyncio
import hashlib
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sluice import __version__
from sluice.core.compiler.limits import Budget
from sluice.core.compiler.published.definition import ListDefinition, Mirror
from sluice.core.compiler.published.source_rules import check_is_whole, check_size, count_rules
from sluice.core.compiler.published.texts import SourceNote, describe_copy
from sluice.core.compiler.published.versions import SourceState
from sluice.core.compiler.sources.backoff import backoff_s
from sluice.core.compiler.sources.charsets import to_utf8
from sluice.core.compiler.sources.download import check_status
from sluice.core.compiler.sources.failures import BadSource, SourceFailed
from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.compiler.sources.source_reader import SourceReader
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Draw, Fetch, HeaderPairs
from sluice.services.compiler.limits.metered_download import LIMITS
from sluice.services.compiler.published.sources.bundles import Bundle, PackedBundle, SourceFile
from sluice.services.compiler.published.sources.download_room import DownloadRoom

_RETRIES: Final = 2
_RETRIES_WITH_COPY: Final = 1
_MAX_REASON_CHARS: Final = 300
_HEADERS: Final = (("User-Agent", f"sluice/{__version__}"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodCopy:
    """The last good copy of a source."""

    rule_count: int
    fetched_s: float
    packed: PackedBundle


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOutcome:
    """What is taken for a source. `packed` is None if there is nothing; `mirror` is the address that answered."""

    source: str
    state: SourceState
    packed: PackedBundle | None
    rule_count: int = 0
    fetched_s: float | None = None
    reason: str = ""
    mirror: str = ""
    is_patterns: bool = False

    @property
    def note(self) -> SourceNote | None:
        """What the header says about it; nothing if the source is as it should be."""
        match self.state:
            case SourceState.OK:
                return None
            case SourceState.LAST_GOOD:
                substitute = describe_copy(self.fetched_s or 0)
            case SourceState.MIRROR:
                substitute = f"mirror {remove_secrets(self.mirror)}"
            case SourceState.FAILED:
                substitute = "missing"
        return SourceNote(self.source, substitute, self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFetcher:
    fetch: Fetch
    clock: Clock
    draw: Draw
    timeout_s: float

    async def fetch_all(self, definition: ListDefinition, copies: Mapping[str, GoodCopy]) -> list[SourceOutcome]:
        """Return an outcome for each source, and for each file of exclusions and inclusions; never raises for one."""
        configuration = definition.configuration
        parts = (configuration, *configuration.sources)
        patterns = dict.fromkeys(file for part in parts for file in part.pattern_files)
        addresses = dict.fromkeys(source.source for source in configuration.sources)
        room = DownloadRoom(LIMITS.total_bytes)
        rounds = [
            *(self._fetch_source(room, definition, source, copies.get(source)) for source in addresses),
            *(self._fetch_patterns(room, file, copies.get(file)) for file in patterns if file not in addresses),
        ]
        return list(await asyncio.gather(*rounds))

    async def _fetch_source(
        self, room: DownloadRoom, definition: ListDefinition, source: str, copy: GoodCopy | None
    ) -> SourceOutcome:
        try:
            return await self._read(room, source, copy, definition.max_shrink)
        except SluiceError as error:
            reason = describe_failure(error)
        for mirror in definition.mirrors_of(source):
            try:
                found = await self._read(room, source, copy, definition.max_shrink, mirror)
            except SluiceError as error:
                reason = _shorten(f"{reason}; mirror {remove_secrets(mirror.address)}: {describe_failure(error)}")
            else:
                return _replace_state(found, SourceState.MIRROR, reason, mirror.address)
        return _fall_back(source, copy, reason)

    async def _fetch_patterns(self, room: DownloadRoom, file: str, copy: GoodCopy | None) -> SourceOutcome:
        try:
            bundle, lines = await self._read_files(room, file, copy, None, is_patterns=True)
        except SluiceError as error:
            return _fall_back(file, copy, describe_failure(error), is_patterns=True)
        return SourceOutcome(
            source=file,
            state=SourceState.OK,
            packed=_pack(bundle, copy),
            rule_count=len(lines),
            fetched_s=self.clock.now(),
            is_patterns=True,
        )

    async def _read(
        self,
        room: DownloadRoom,
        source: str,
        copy: GoodCopy | None,
        max_shrink: float,
        mirror: Mirror | None = None,
    ) -> SourceOutcome:
        """Return the source as its address, or a mirror, has it; raises SluiceError if that cannot be used."""
        bundle, lines = await self._read_files(room, source, copy, mirror)
        rules = count_rules(lines)
        del lines  # before the last copy is unpacked
        check_size(rules, copy.rule_count if copy else None, max_shrink)
        packed = _pack(bundle, copy)
        if copy and packed is not copy.packed:
            good = next(iter(copy.packed.unpack().files.values())).body
            body = next(iter(bundle.files.values())).body
            check_is_whole(body, good.endswith((b"\n", b"\r")), len(good))
        return SourceOutcome(
            source=source, state=SourceState.OK, packed=packed, rule_count=rules, fetched_s=self.clock.now()
        )

    async def _read_files(
        self,
        room: DownloadRoom,
        source: str,
        copy: GoodCopy | None,
        mirror: Mirror | None,
        *,
        is_patterns: bool = False,
    ) -> tuple[Bundle, list[str]]:
        files: dict[str, SourceFile] = {}
        known = copy.packed.read_validators() if copy and mirror is None else {}

        async def download(url: str) -> bytes:
            address, retries = _to_mirror(url, source, mirror), _RETRIES_WITH_COPY if copy else _RETRIES
            found = await self._download(room, address, known.get(url, ()), retries=retries)
            if found is None and copy:
                found = copy.packed.unpack().files[url]
            if found is None:
                raise BadSource("it has not changed since a copy that is not there: its server is wrong")
            files[url] = found
            if mirror and mirror.sha256 and url == source:
                _check_pin(files[url].body, mirror.sha256)
            return files[url].body

        reader = SourceReader(download, Budget(LIMITS), content={})
        try:
            text = await (reader.read_patterns(source) if is_patterns else reader.read_list(source, source))
        finally:
            await reader.close()
        return Bundle({source: files.pop(source), **dict(sorted(files.items()))}), text.lines

    async def _download(
        self, room: DownloadRoom, url: str, validators: HeaderPairs, *, retries: int
    ) -> SourceFile | None:
        for attempt in range(retries):
            try:
                return await self._download_once(room, url, validators)
            except SluiceError as error:
                if not error.retryable:
                    raise
            await self.clock.sleep(backoff_s(attempt, self.draw()))
        return await self._download_once(room, url, validators)

    async def _download_once(self, room: DownloadRoom, url: str, validators: HeaderPairs) -> SourceFile | None:
        """Return the file; None if its server says that it has not changed."""
        received = room.open()
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
        return SourceFile(body, response.header("etag") or "", response.header("last-modified") or "")


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


def _replace_state(found: SourceOutcome, state: SourceState, reason: str, mirror: str) -> SourceOutcome:
    return SourceOutcome(
        source=found.source,
        state=state,
        packed=found.packed,
        rule_count=found.rule_count,
        fetched_s=found.fetched_s,
        reason=reason,
        mirror=mirror,
    )


def _fall_back(source: str, copy: GoodCopy | None, reason: str, *, is_patterns: bool = False) -> SourceOutcome:
    return SourceOutcome(
        source=source,
        state=SourceState.LAST_GOOD if copy else SourceState.FAILED,
        packed=copy.packed if copy else None,
        rule_count=copy.rule_count if copy else 0,
        fetched_s=copy.fetched_s if copy else None,
        reason=reason,
        is_patterns=is_patterns,
    )


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
