"""Scripted downloads for tests, and helpers to compile with them."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fakes.clock import ManualClock
from sluice.core.compiler.compilation_result import CompilationResult
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.errors import SluiceError

Outcome = bytes | str | SluiceError
Script = Mapping[str, Any]  # from a location to an outcome, or to a list of outcomes


class ScriptedDownload:
    """Downloads from a script; a list gives one outcome per call, and an unknown location fails the test."""

    def __init__(self, script: Script) -> None:
        self._script = {location: _to_list(outcomes) for location, outcomes in script.items()}
        self.requests: list[str] = []
        self.most_at_once = 0
        self._at_once = 0

    async def __call__(self, location: str) -> bytes | str:
        assert location in self._script, f"unexpected download of {location}"
        self.requests.append(location)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(0)
        self._at_once -= 1
        outcomes = self._script[location]
        outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
        if isinstance(outcome, SluiceError):
            raise outcome
        return outcome


def _to_list(outcomes: Outcome | Sequence[Outcome]) -> list[Outcome]:
    return [outcomes] if isinstance(outcomes, bytes | str | SluiceError) else list(outcomes)


def compiler(files: Script, **options: Any) -> FilterCompiler:
    defaults = {"clock": ManualClock(), "draw": lambda: 0.0, "download": ScriptedDownload(files)}
    return FilterCompiler(**{**defaults, **options})


def configuration(*sources: str | Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """Build a configuration of these sources; a plain text is a source without options."""
    entries = [{"source": source} if isinstance(source, str) else dict(source) for source in sources]
    return {"name": "Test", "sources": entries, **fields}


async def compile_files(files: Script, **fields: Any) -> CompilationResult:
    """Compile the files as sources in their order."""
    return await compiler(files).compile(configuration(*files, **fields))


def body(result: CompilationResult) -> list[str]:
    """Return the rules without the header of the list and the headers of sources."""
    return below_headers(result.rules)


def below_headers(rules: Sequence[str]) -> list[str]:
    """Return the rules without the lines that the compiler generates itself."""
    generated = ("! Checksum:", "! Title:", "! Last modified:", "! Compiled by", "! Source")
    return [line for line in rules if line != "!" and not line.startswith(generated)]
