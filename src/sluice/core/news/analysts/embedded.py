"""The embedded analyst: a lexicon for the sentiment, the article's own sentences for the summary."""

from typing import ClassVar

from sluice.core.news.analysts.analyst import UnusableAnswer
from sluice.core.news.analysts.extractive import check_match, summarise
from sluice.core.news.analysts.sentiment import classify_sentiment


class EmbeddedAnalyst:
    """Needs nothing but the text."""

    name: ClassVar[str] = "embedded"

    async def sentiment(self, title: str, description: str) -> str:
        return classify_sentiment(title, description)

    async def summary(self, title: str, content: str) -> str:
        check_match(title, content)
        text = summarise(title, content)
        if not text:
            raise UnusableAnswer("the page has no sentence to quote")
        return text
