"""Workers AI: runs a model with a timeout."""

import asyncio
from typing import Any

from sluice.core.errors import TimedOut
from sluice.platform.failures import translate_errors
from sluice.platform.values import to_plain


class AI:
    """The AI binding; an error of a model is retryable."""

    def __init__(self, binding: Any, *, timeout_s: float) -> None:
        self._binding = binding
        self._timeout_s = timeout_s

    async def run(self, model: str, inputs: dict[str, Any]) -> Any:
        """Return the model's output as plain values; raises TimedOut if the model takes too long."""
        try:
            async with asyncio.timeout(self._timeout_s):
                with translate_errors(f"AI model {model}"):
                    return to_plain(await self._binding.run(model, inputs))
        except TimeoutError:
            raise TimedOut(f"AI model {model} did not answer within {self._timeout_s:g} s") from None
