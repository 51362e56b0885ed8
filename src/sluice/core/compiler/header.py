"""What stands above the rules: the list's own header with its checksum, and one header for each source."""

import base64
import hashlib
from collections.abc import Sequence
from typing import Final

from sluice import __version__
from sluice.core.compiler.configuration import Configuration, Source
from sluice.core.compiler.sources.line_splitting import one_line

_CHUNK_LINES: Final = 8_192  # hashed at a time: the whole text need not exist a second time


class HeaderGenerator:
    """Writes headers as HostlistCompiler does, naming this program and its version."""

    def __init__(self, version: str = __version__) -> None:
        self._version = version

    def list_header(self, configuration: Configuration, modified: str) -> list[str]:
        """The lines above everything else, all but the checksum."""
        fields = {
            "Title": configuration.name,
            "Description": configuration.description,
            "Version": configuration.version,
            "Homepage": configuration.homepage,
            "License": configuration.license,
            "Last modified": modified,
        }
        told = [f"! {name}: {one_line(value)}" for name, value in fields.items() if value]
        return ["!", *told, "!", f"! Compiled by sluice v{self._version}", "!"]

    def source_header(self, source: Source) -> list[str]:
        named = [f"! Source name: {one_line(source.name)}"] if source.name else []
        return ["!", *named, f"! Source: {one_line(source.source)}", "!"]


def checksum_line(lines: Sequence[str]) -> str:
    """The first line of a list whose other lines are these.

    First, because a source's own old checksum may stand further down, and whoever verifies takes the first one.
    """
    return f"! Checksum: {checksum(lines)}"


def checksum(lines: Sequence[str]) -> str:
    """AdGuard's checksum of the lines: unpadded base64 of the MD5 of their text, empty lines left out."""
    digest = hashlib.md5(usedforsecurity=False)
    separator = ""
    for start in range(0, len(lines), _CHUNK_LINES):
        if filled := [line for line in lines[start : start + _CHUNK_LINES] if line]:
            digest.update((separator + "\n".join(filled)).encode())
            separator = "\n"
    if lines and not lines[-1]:
        digest.update(b"\n")
    return base64.b64encode(digest.digest()).decode().rstrip("=")
