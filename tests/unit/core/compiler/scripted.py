"""Sources for tests: what a download answers is written down beforehand."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fakes.clock import ManualClock
from sluice.core.compiler.compile import CompilationResult, FilterCompiler
from sluice.core.errors import SluiceError

Answer = bytes | str | SluiceError
Script = Mapping[str, Any]  # to an answer, or to a list of answers


class ScriptedDownload:
    """Answers from a script; a list is answered one after the other, and what is not in the script fails the test."""

    def __init__(self, script: Script) -> None:
        self._script = {location: _queue(answers) for location, answers in script.items()}
        self.asked: list[str] = []
        self.most_at_once = 0
        self._at_once = 0

    async def __call__(self, location: str) -> bytes | str:
        assert location in self._script, f"nobody expected a download of {location}"
        self.asked.append(location)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(0)
        self._at_once -= 1
        answers = self._script[location]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, SluiceError):
            raise answer
        return answer


def _queue(answers: Answer | Sequence[Answer]) -> list[Answer]:
    return [answers] if isinstance(answers, bytes | str | SluiceError) else list(answers)


def compiler(files: Script, **options: Any) -> FilterCompiler:
    given = {"clock": ManualClock(), "draw": lambda: 0.0, "download": ScriptedDownload(files)}
    return FilterCompiler(**{**given, **options})


def configuration(*sources: str | Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A configuration of these sources; a plain text names one that has no options."""
    listed = [{"source": source} if isinstance(source, str) else dict(source) for source in sources]
    return {"name": "Test", "sources": listed, **fields}


async def compiled(files: Script, **fields: Any) -> CompilationResult:
    """The files compiled as sources in their order."""
    return await compiler(files).compile(configuration(*files, **fields))


def body(result: CompilationResult) -> list[str]:
    """The rules below the list's header and without the headers of sources."""
    return below_headers(result.rules)


def below_headers(rules: Sequence[str]) -> list[str]:
    """What is left without any of the lines that the compiler writes itself."""
    ours = ("! Checksum:", "! Title:", "! Last modified:", "! Compiled by", "! Source")
    return [line for line in rules if line != "!" and not line.startswith(ours)]
