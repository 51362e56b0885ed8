"""The embedded analyst: rules for the sentiment, the article's own sentences for the summary."""

from collections.abc import Sequence
from typing import ClassVar

from sluice.core.news.analysts.analyst import UnusableAnswer
from sluice.core.news.analysts.matching import check_match


class EmbeddedAnalyst:
    """Judges and summarises by rules; needs nothing but the text."""

    name: ClassVar[str] = "embedded"

    async def sentiment(self, title: str, description: str) -> str:
        # One stage of three needs it.
        from sluice.core.news.sentiment import judge_headline  # noqa: PLC0415 - rare

        return judge_headline(title, description).sentiment

    async def summary(self, title: str, content: str, page_titles: Sequence[str] = ()) -> str:
        # One stage of three needs it.
        from sluice.core.news.summaries import summarise  # noqa: PLC0415 - rare

        check_match(title, page_titles, content)
        text = summarise(title, content)
        if not text:
            raise UnusableAnswer("the page has no sentence to quote")
        return text
