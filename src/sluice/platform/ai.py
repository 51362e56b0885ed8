"""Workers AI: runs a model with a timeout."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from sluice.core.errors import TimedOut
from sluice.core.news.ai.ai_failures import ModelFailed
from sluice.platform.failures import get_js_message, read_ai_code
from sluice.platform.values import to_plain


class AI:
    """The AI binding."""

    def __init__(self, binding: Any, *, timeout_s: float) -> None:
        self._binding = binding
        self._timeout_s = timeout_s

    async def run(self, model: str, inputs: dict[str, Any]) -> Any:
        """Return the model's output as plain values; raise ModelFailed, or TimedOut if the model takes too long."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return to_plain(await self._binding.run(model, inputs))
        except TimeoutError:
            raise TimedOut(f"AI model {model} did not answer within {self._timeout_s:g} s") from None
        except Exception as error:
            message = get_js_message(error)
            if message is None:
                raise
            last_line = message.strip().rpartition("\n")[2]
            raise ModelFailed(f"AI model {model}: {last_line}", read_ai_code(message)) from error


def open_ai(env: Any, *, timeout_s: float) -> Callable[[str, dict[str, Any]], Awaitable[Any]] | None:
    """Return what runs a model, or None where Workers AI is not bound."""
    binding = getattr(env, "AI", None)
    return None if binding is None else AI(binding, timeout_s=timeout_s).run
