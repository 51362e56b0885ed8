"""The sources of one compilation: fetched, each included file once, and put together in order."""

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeVar

from sluice.core.compiler.limits import MAX_INCLUDE_DEPTH, MAX_PARALLEL_DOWNLOADS, Budget
from sluice.core.compiler.sources.directives import resolve
from sluice.core.compiler.sources.documents import Document, Include, check_is_text, read_document
from sluice.core.compiler.sources.download import Download
from sluice.core.compiler.sources.failures import BadSource, IncludeFailed, SourceFailed
from sluice.core.compiler.sources.line_origins import Origins, Place, Places, origins_of_file
from sluice.core.compiler.sources.line_splitting import count_lines
from sluice.core.errors import SluiceError

T = TypeVar("T")


class Text:
    """Lines, and where they came from if that is asked for."""

    def __init__(self, lines: list[str], origins: Origins | None = None) -> None:
        self.lines = lines
        self.origins = origins

    def take(self) -> list[str]:
        """Hand the lines over, so that whoever works on them can let them go as early as possible."""
        lines, self.lines = self.lines, []
        return lines


class Library:
    """Reads sources and what they include; `close` lets go of every file it still holds."""

    def __init__(
        self,
        download: Download,
        budget: Budget,
        *,
        content: Mapping[str, str],
        constants: frozenset[str] = frozenset(),
        shared: frozenset[str] = frozenset(),
        places: Places | None = None,
    ) -> None:
        """`content` holds files that need no download; `shared` names sources that are read more than once."""
        self._download = download
        self._budget = budget
        self._content = content
        self._constants = constants
        self._shared = shared
        self._places = places
        self._slots = asyncio.Semaphore(MAX_PARALLEL_DOWNLOADS)
        self._documents: dict[str, asyncio.Task[Document]] = {}

    async def read(self, location: str, label: str | None = None) -> Text:
        """The whole text of a source; SourceFailed names it by its label and tells why."""
        label = label or location
        try:
            document = await (self._kept(location) if location in self._shared else self._fetch(location))
            return await self._expanded(document, _Path(label, (location,)))
        except SluiceError as error:
            raise SourceFailed(label, error, given=location in self._content) from error

    async def close(self) -> None:
        """Forget every file, and stop what is still on its way."""
        tasks = list(self._documents.values())
        self._documents.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _kept(self, location: str) -> Awaitable[Document]:
        if location not in self._documents:
            self._documents[location] = asyncio.ensure_future(self._fetch(location))
        return self._documents[location]

    async def _fetch(self, location: str) -> Document:
        if (given := self._content.get(location)) is not None:
            return self._parsed(given)
        async with self._slots:
            body = await self._download(location)
            if isinstance(body, bytes):
                check_is_text(body)
            return self._parsed(body)

    def _parsed(self, body: bytes | str) -> Document:
        self._budget.take_bytes(len(body))
        self._budget.check_lines(count_lines(body))
        return read_document(body, self._constants, numbered=self._places is not None)

    async def _expanded(self, document: Document, path: "_Path") -> Text:
        """The document with its includes in place; a document is shared, so its lists are left alone."""
        self._budget.take_lines(len(document.lines))
        self._budget.take_includes(len(document.includes))
        included = await in_parallel(self._included(include, path) for include in document.includes)
        file = None if self._places is None else self._places.add(path.place())
        if not included:
            return Text(document.lines, None if file is None else origins_of_file(file, document.numbers))
        return _spliced(document, included, file)

    async def _included(self, include: Include, path: "_Path") -> Text:
        onward = path.onward(include)
        try:
            onward.check()
            return await self._expanded(await self._kept(onward.location), onward)
        except IncludeFailed:
            raise
        except SluiceError as error:
            raise IncludeFailed(onward.chain, error) from error


@dataclass(frozen=True, slots=True)
class _Path:
    """How a file was reached: the source's label, the files from the source on, and the lines that included them."""

    label: str
    chain: tuple[str, ...]
    via: tuple[str, ...] = ()

    @property
    def location(self) -> str:
        return self.chain[-1]

    def onward(self, include: Include) -> "_Path":
        try:
            location = resolve(include.target, self.location)
        except BadSource as error:
            raise IncludeFailed(self.chain, BadSource(f"line {include.line}: {error}")) from None
        return _Path(self.label, (*self.chain, location), (*self.via, f"{self.location}:{include.line}"))

    def check(self) -> None:
        if self.location in self.chain[:-1]:
            raise BadSource("the includes go round in a circle")
        if len(self.chain) - 1 > MAX_INCLUDE_DEPTH:
            raise BadSource(f"includes are nested deeper than {MAX_INCLUDE_DEPTH}")

    def place(self) -> Place:
        return Place(self.label, self.location, self.via)


def _spliced(document: Document, included: Sequence[Text], file: int | None) -> Text:
    """The document's lines with each include's line replaced by the included text."""
    lines: list[str] = []
    origins = None if file is None else Origins()
    start = 0
    ends = [include.at for include in document.includes]
    for end, text in zip_longest([*ends, len(document.lines)], included):
        lines += document.lines[start:end]
        if origins is not None and file is not None:
            origins.add_file(file, document.numbers[start:end])
        start = end + 1
        if text is not None:
            lines += text.lines
            if origins is not None and text.origins is not None:
                origins.extend(text.origins)
    return Text(lines, origins)


async def in_parallel(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All results in order; the first failure stops the rest and is raised as it is."""
    failed: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in work]
    except BaseExceptionGroup as failures:
        failed = failures.exceptions[0]
    if failed:
        raise failed  # out here, where it keeps its own cause
    return [task.result() for task in tasks]
