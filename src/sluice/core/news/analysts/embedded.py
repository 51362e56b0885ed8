"""The analyst that needs nothing but the text: lexicon for the sentiment, the article's own sentences for the summary."""

from typing import ClassVar

from sluice.core.news.analysts.analyst import Unreadable
from sluice.core.news.analysts.extractive import check_match, summarised
from sluice.core.news.analysts.sentiment import sentiment_of


class EmbeddedAnalyst:
    name: ClassVar[str] = "embedded"

    async def sentiment(self, title: str, description: str) -> str:
        return sentiment_of(title, description)

    async def summary(self, title: str, content: str) -> str:
        check_match(title, content)
        text = summarised(title, content)
        if not text:
            raise Unreadable("the page has no sentence to quote")
        return text
