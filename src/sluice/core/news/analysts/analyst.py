"""The interface of an analyst and the errors it raises."""

from collections.abc import Sequence
from typing import Protocol

from sluice.core.errors import SluiceError


class Mismatch(SluiceError):
    """The page does not belong to the title: a consent wall, a front page, another article."""


class UnusableAnswer(SluiceError):
    """The analyst answered, but not to the question; a retry may help."""

    retryable = True


class Analyst(Protocol):
    """Reads one article; its name is stored with its answers."""

    @property
    def name(self) -> str: ...

    async def sentiment(self, title: str, description: str) -> str:
        """Return positive, negative or neutral for Bitcoin, or unknown for a language that the analyst does not know.

        Raise a SluiceError for an outage, never "neutral".
        """

    async def summary(self, title: str, content: str, page_titles: Sequence[str]) -> str:
        """Return a few sentences. Raise Mismatch when the page, whose own titles are given, is about something else."""
