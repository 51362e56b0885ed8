"""The articles that the embedded analyst has judged in place of Workers AI, and that wait for it."""

from collections.abc import Iterable, Mapping
from typing import Final

from sluice.core.news.article import Article
from sluice.core.ports import Sql

# A look that ends the run, such as a crash, is counted too; after this many the article stays as it is.
MAX_ATTEMPTS: Final = 3
_TABLES: Final = (
    "create table if not exists second_look (id text primary key, attempts integer not null) strict, without rowid",
    "create index if not exists second_look_attempts on second_look (attempts)",
)


class SecondLooks:
    """Stores the articles that wait for Workers AI, a row each; it goes when Workers AI has answered, or the article is no longer published."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        for statement in _TABLES:
            sql.run(statement)

    def update(self, articles: Mapping[str, Article]) -> None:
        """Add the articles that are marked, and remove those that no longer are."""
        marked = {article_id for article_id, article in articles.items() if article.text("secondLook")}
        known = {str(row["id"]) for row in self._sql.rows("select id from second_look")}
        for article_id in marked - known:
            self._sql.run("insert into second_look values (?, 0)", article_id)
        self._remove((known & articles.keys()) - marked)

    def keep(self, ids: Iterable[str]) -> None:
        """Forget the articles that are no longer in the index."""
        known = {str(row["id"]) for row in self._sql.rows("select id from second_look")}
        self._remove(known - set(ids))

    def claim(self) -> str:
        """Count an attempt before it is made, and return the article; "" if none waits."""
        article_id = self._sql.value(
            "select id from second_look where attempts < ? order by attempts limit 1", MAX_ATTEMPTS
        )
        if article_id is None:
            return ""
        self._sql.run("update second_look set attempts = attempts + 1 where id = ?", article_id)
        return str(article_id)

    def give_back(self, article_id: str) -> None:
        """Take back the attempt, because Workers AI was not there."""
        self._sql.run("update second_look set attempts = max(0, attempts - 1) where id = ?", article_id)

    def count(self) -> int:
        return int(self._sql.value("select count(*) from second_look where attempts < ?", MAX_ATTEMPTS) or 0)

    def _remove(self, ids: Iterable[str]) -> None:
        for article_id in ids:
            self._sql.run("delete from second_look where id = ?", article_id)
