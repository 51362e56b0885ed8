"""Tells the state object about each article that is stored, so that the API serves it."""

from dataclasses import dataclass

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article
from sluice.core.ports import Log
from sluice.services.news.ports import SnapshotRefresher
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.services.news.storage.article_index import ArticleIndex


@dataclass(frozen=True, slots=True)
class ArticlePublisher:
    """Tells the state object about an article. Best effort: the object finds what it missed when it reconciles."""

    state: RemoteNewsState
    refresher: SnapshotRefresher
    log: Log

    async def publish(self, article: Article, index: ArticleIndex) -> None:
        try:
            await self.state.publish(article, index)
        except SluiceError as error:
            self.log.error("publish.failed", error, id=article.id)

    async def refresh(self) -> None:
        try:
            await self.refresher.refresh()
        except SluiceError as error:
            self.log.error("snapshot.failed", error)
