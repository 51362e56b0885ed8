"""What is asked of an analyst."""

from typing import Protocol

from sluice.core.errors import SluiceError


class Mismatch(SluiceError):
    """The page does not belong to the title: a consent wall, a front page, another article."""


class Unreadable(SluiceError):
    """The analyst answered, but not to the question; asking again may help."""

    retryable = True


class Analyst(Protocol):
    """Reads one article; its name is stored with what it says."""

    @property
    def name(self) -> str: ...

    async def sentiment(self, title: str, description: str) -> str:
        """positive, negative or neutral for Bitcoin; an outage is a SluiceError, never "neutral"."""

    async def summary(self, title: str, content: str) -> str:
        """A few sentences; Mismatch when the content is about something else."""
