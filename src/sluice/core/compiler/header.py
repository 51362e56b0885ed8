"""The headers in a compiled list: one for the list, one above each source, and the checksum line as AdGuard computes it."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from sluice import __version__
from sluice.core.compiler.configuration import Configuration, Source
from sluice.core.compiler.credits import Credits
from sluice.core.compiler.sources.line_splitting import flatten_to_one_line
from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.filters.syntax.line_chunks import cut_chunks
from sluice.core.filters.syntax.lines import CREDITS

_CHUNK_LINES: Final = 8_192  # hashed at a time, so that the whole text does not exist a second time
NO_CREDITS: Final[Mapping[int, Credits]] = MappingProxyType({})


class HeaderGenerator:
    """Writes headers in the format of HostlistCompiler, with the name and version of this program."""

    def __init__(self, version: str = __version__) -> None:
        self._version = version

    def list_header(
        self, configuration: Configuration, modified: str, credits_by_source: Mapping[int, Credits] = NO_CREDITS
    ) -> list[str]:
        """Return the first lines of the list, without the checksum; sources are credited by their index."""
        fields = {
            "Title": configuration.name,
            "Description": configuration.description,
            "Version": configuration.version,
            "Homepage": configuration.homepage,
            "License": configuration.license,
            "Last modified": modified,
        }
        lines = [f"! {name}: {flatten_to_one_line(value)}" for name, value in fields.items() if value]
        credit_lines = self.credit_lines(configuration, credits_by_source)
        return [
            "!",
            *lines,
            "!",
            f"! Compiled by sluice v{self._version}",
            "!",
            *credit_lines,
        ]

    def credit_lines(self, configuration: Configuration, credits_by_source: Mapping[int, Credits]) -> list[str]:
        """Return a line for each source that states its authors or its licence."""
        lines = [
            _format_credits(source, credits_by_source[at])
            for at, source in enumerate(configuration.sources)
            if any(credits_by_source.get(at, ()))
        ]
        return [*lines, *(["!"] * bool(lines))]

    def source_header(self, source: Source) -> list[str]:
        name = [f"! Source name: {flatten_to_one_line(source.name)}"] if source.name else []
        return ["!", *name, f"! Source: {flatten_to_one_line(remove_secrets(source.source))}", "!"]


def _format_credits(source: Source, credits_of_source: Credits) -> str:
    facts = (f"{name} {value}" for name, value in credits_of_source._asdict().items() if value)
    return f"! {CREDITS}: {flatten_to_one_line(source.label)} ({', '.join(facts)})"


def format_checksum_line(*parts: Sequence[str]) -> str:
    """Return the checksum line for a list of these other lines, which may come in several parts.

    It must be the first line: a source's own old checksum may follow further down, and verifiers take the first one.
    """
    return f"! Checksum: {compute_checksum(*parts)}"


def compute_checksum(*parts: Sequence[str]) -> str:
    """Return the unpadded base64 of the MD5 of the text without its empty lines."""
    digest = hashlib.md5(usedforsecurity=False)
    separator = ""
    for lines in parts:
        for _, chunk in cut_chunks(lines, _CHUNK_LINES):
            if filled := list(filter(None, chunk)):
                digest.update((separator + "\n".join(filled)).encode())
                separator = "\n"
    if parts and parts[-1] and not parts[-1][-1]:
        digest.update(b"\n")
    return base64.b64encode(digest.digest()).decode().rstrip("=")
