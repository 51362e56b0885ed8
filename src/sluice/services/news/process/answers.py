"""Who answers a question about an article: Workers AI while it answers, otherwise the embedded analyst at once."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sluice.core.errors import SluiceError
from sluice.core.news.ai.ai_failures import find_fault
from sluice.core.news.analysts import Analyst, Mismatch, UnusableAnswer
from sluice.services.news.process.workers_ai import WorkersAi
from sluice.services.news.state.remote_state import RemoteNewsState

Question = Callable[[Analyst], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and who gave it. `second_look` says why it was not the one who should have."""

    text: str
    by: str
    second_look: str = ""


class NoAnswer(SluiceError):
    """The embedded analyst has no answer; it would have none the next time either. `second_look` as in Answer."""

    def __init__(self, message: str, second_look: str = "") -> None:
        super().__init__(message)
        self.second_look = second_look


class AnswerSource(Protocol):
    """Answers questions; the analyst behind it may change from one to the next."""

    async def ask(self, question: Question) -> Answer: ...


@dataclass(frozen=True, slots=True)
class FixedAnalyst:
    """Asks the same analyst every time."""

    analyst: Analyst

    async def ask(self, question: Question) -> Answer:
        try:
            return Answer(await question(self.analyst), self.analyst.name)
        except UnusableAnswer as error:
            raise NoAnswer(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedAi:
    """Asks Workers AI within its budget, until it has failed three times in a row; then `fallback` for a while."""

    ai: WorkersAi
    fallback: Analyst
    state: RemoteNewsState
    daily_neurons: int

    async def ask(self, question: Question) -> Answer:
        """Raise what Workers AI raises while it is not clear whether it keeps failing."""
        refusal = await self.state.explain_ai_refusal(self.daily_neurons)
        if refusal:
            return await self._ask_fallback(question, refusal)
        try:
            text = await question(self.ai)
        except Mismatch:
            # An answer too.
            await self.state.record_ai_answer(self.ai.meter.neurons)
            raise
        except SluiceError as error:
            reason = " ".join(str(error).split())[:200]
            if await self.state.record_ai_failure(find_fault(error), reason):
                return await self._ask_fallback(question, reason)
            raise
        await self.state.record_ai_answer(self.ai.meter.neurons)
        return Answer(text, self.ai.name)

    async def _ask_fallback(self, question: Question, reason: str) -> Answer:
        try:
            return replace(await FixedAnalyst(self.fallback).ask(question), second_look=reason)
        except NoAnswer as error:
            raise NoAnswer(str(error), reason) from error
