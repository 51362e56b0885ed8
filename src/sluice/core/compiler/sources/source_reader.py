"""Reads the sources of one compilation: downloads each file, each included file once, and puts includes in place."""

from collections.abc import Awaitable, Mapping, Sequence
from itertools import zip_longest

from sluice.core.compiler.limits import MAX_PARALLEL_DOWNLOADS, Budget, ListTooLarge
from sluice.core.compiler.sources.documents import Document, parse_document
from sluice.core.compiler.sources.download import Download
from sluice.core.compiler.sources.includes import Include, IncludeChain
from sluice.core.compiler.sources.line_buffer import LineBuffer
from sluice.core.compiler.sources.line_origins import LineOrigins, SourceFiles
from sluice.core.compiler.sources.list_check import check_is_no_prose, check_is_text
from sluice.core.compiler.sources.locations import is_url
from sluice.core.compiler.sources.source_errors import BadSource, IncludeFailed, SourceFailed
from sluice.core.concurrency import Concurrency, event_loop_concurrency
from sluice.core.errors import Oversized, SluiceError


class SourceReader:
    """Reads sources and the files they include; `close` releases every file it still holds."""

    def __init__(
        self,
        download: Download,
        budget: Budget,
        *,
        content: Mapping[str, str],
        constants: frozenset[str] = frozenset(),
        repeated: frozenset[str] = frozenset(),
        files: SourceFiles | None = None,
        concurrency: Concurrency | None = None,
    ) -> None:
        """`content` holds files that need no download; `repeated` names sources that are read more than once.

        With `files`, the origin of every line is recorded.
        """
        self._download = download
        self._budget = budget
        self._content = content
        self._constants = constants
        self._repeated = repeated
        self._files = files
        self.concurrency = concurrency or event_loop_concurrency()
        self._slots = self.concurrency.limit(MAX_PARALLEL_DOWNLOADS)
        self._documents: dict[str, Awaitable[Document]] = {}
        self._has_rules = False  # whether any list has some

    async def read_list(self, location: str, label: str) -> LineBuffer:
        """Read a list of rules; raise SourceFailed also for a page or a message in its place, and for an empty download.

        Raise ListTooLarge if all sources together exceed a limit.
        """
        try:
            document = await self._load_source(location)
            self._has_rules |= not document.is_empty
            if document.is_empty and is_url(location):
                raise BadSource("it has no rules: check the address, or remove the source")
            text = await self._expand_includes(document, IncludeChain(label, (location,)))
            check_is_no_prose(text.lines)
        except ListTooLarge:
            raise
        except SluiceError as error:
            raise SourceFailed(label, error, sent_by_caller=location in self._content) from error
        return text

    def check_has_rules(self, location: str, label: str) -> None:
        """Raise SourceFailed, which names this source, if no list that was read has a rule."""
        if not self._has_rules:
            cause = BadSource("it has no rules, and no other source has any: check it")
            raise SourceFailed(label, cause, sent_by_caller=location in self._content)

    async def read_patterns(self, location: str) -> LineBuffer:
        """Read a file of patterns; raise SourceFailed, which names it and gives the reason."""
        try:
            return await self._expand_includes(await self._load_source(location), IncludeChain(location, (location,)))
        except ListTooLarge:
            raise
        except SluiceError as error:
            raise SourceFailed(location, error, sent_by_caller=location in self._content) from error

    async def _load_source(self, location: str) -> Document:
        return await (self._load_once(location) if location in self._repeated else self._load(location))

    async def close(self) -> None:
        """Release every file and cancel unfinished downloads."""
        shared = list(self._documents.values())
        self._documents.clear()
        await self.concurrency.cancel(shared)

    def _load_once(self, location: str) -> Awaitable[Document]:
        if location not in self._documents:
            self._documents[location] = self.concurrency.share(self._load(location))
        return self._documents[location]

    async def _load(self, location: str) -> Document:
        if (content := self._content.get(location)) is not None:
            return self._parse(content)
        async with self._slots:
            try:
                body = await self._download(location)
            except Oversized:
                raise self._budget.refuse_source() from None
            if isinstance(body, bytes):
                check_is_text(body)
            return self._parse(body)

    def _parse(self, body: bytes | str) -> Document:
        self._budget.take_bytes(len(body))
        self._budget.check_lines(body)
        return parse_document(body, self._constants, numbered=self._files is not None)

    async def _expand_includes(self, document: Document, chain: IncludeChain) -> LineBuffer:
        """Put the included files in place; the document is shared between uses, so its lists are not changed."""
        self._budget.take_lines(len(document.lines))
        self._budget.take_includes(len(document.includes))
        included = await self.concurrency.run_all(self._read_include(include, chain) for include in document.includes)
        file = None if self._files is None else self._files.add(chain.source_file)
        if not included:
            origins = None if file is None else LineOrigins.of_file(file, document.numbers)
            is_shared = chain.location in self._documents
            return LineBuffer(list(document.lines) if is_shared else document.lines, origins)
        return _splice_includes(document, included, file)

    async def _read_include(self, include: Include, chain: IncludeChain) -> LineBuffer:
        next_chain = chain.follow(include)
        try:
            next_chain.check()
            return await self._expand_includes(await self._load_once(next_chain.location), next_chain)
        except (IncludeFailed, ListTooLarge):
            raise
        except SluiceError as error:
            raise IncludeFailed(next_chain.locations, error) from error


def _splice_includes(document: Document, included: Sequence[LineBuffer], file: int | None) -> LineBuffer:
    """Replace the line of each include by the lines of the included file."""
    lines: list[str] = []
    origins = None if file is None else LineOrigins()
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
    return LineBuffer(lines, origins)
