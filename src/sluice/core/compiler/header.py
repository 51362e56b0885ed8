"""The headers in a compiled list: one for the list, and one above each source."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sluice import __version__
from sluice.core.compiler.configuration import Configuration, Source
from sluice.core.compiler.credits import Credits
from sluice.core.compiler.sources.line_splitting import flatten_to_one_line
from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.filters.syntax.lines import CREDITS

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
