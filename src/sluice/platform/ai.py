"""Workers AI: runs a model within a limit of time."""

import asyncio
from typing import Any

from sluice.core.errors import TimedOut
from sluice.platform.failures import translate_errors
from sluice.platform.values import to_plain


class AI:
    """The binding; whatever it throws is told as a failure that may pass."""

    def __init__(self, binding: Any, *, timeout_s: float) -> None:
        self._binding = binding
        self._timeout_s = timeout_s

    async def run(self, model: str, inputs: dict[str, Any]) -> Any:
        """The model's answer as plain values."""
        try:
            async with asyncio.timeout(self._timeout_s):
                with translate_errors(f"AI model {model}"):
                    return to_plain(await self._binding.run(model, inputs))
        except TimeoutError:
            raise TimedOut(f"AI model {model} did not answer within {self._timeout_s:g} s") from None
