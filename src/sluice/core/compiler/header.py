"""The headers in a compiled list: one for the list, and one above each source."""

from sluice import __version__
from sluice.core.compiler.configuration import Configuration, Source
from sluice.core.compiler.sources.line_splitting import flatten_to_one_line
from sluice.core.compiler.sources.locations import remove_secrets


class HeaderGenerator:
    """Writes headers in the format of HostlistCompiler, with the name and version of this program."""

    def __init__(self, version: str = __version__) -> None:
        self._version = version

    def list_header(self, configuration: Configuration, modified: str) -> list[str]:
        """Return the first lines of the list, without the checksum."""
        fields = {
            "Title": configuration.name,
            "Description": configuration.description,
            "Version": configuration.version,
            "Homepage": configuration.homepage,
            "License": configuration.license,
            "Last modified": modified,
        }
        lines = [f"! {name}: {flatten_to_one_line(value)}" for name, value in fields.items() if value]
        return ["!", *lines, "!", f"! Compiled by sluice v{self._version}", "!"]

    def source_header(self, source: Source) -> list[str]:
        name = [f"! Source name: {flatten_to_one_line(source.name)}"] if source.name else []
        return ["!", *name, f"! Source: {flatten_to_one_line(remove_secrets(source.source))}", "!"]
