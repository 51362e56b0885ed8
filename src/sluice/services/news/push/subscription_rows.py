"""Subscriptions of feeds and webhooks for new stories, in the state object."""

from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlsplit

from sluice.core.errors import TooManyRequests
from sluice.core.json_text import encode_json
from sluice.core.ports import Row, Sql
from sluice.services.news.state.remote_state import CreatedWebhook

MAX_SUBSCRIPTIONS: Final = 1000
MAX_FOR_ONE_HOST: Final = 50
MAX_WEBHOOKS: Final = 100
_RETRY_AFTER_S: Final = 3600
_TABLES: Final = (
    """create table if not exists subscription (
      id integer primary key autoincrement, topic text not null, callback text not null, host text not null,
      secret text not null, until_ms integer not null, unique (topic, callback)
    ) strict""",
    """create table if not exists webhook (
      id text primary key, url text not null, secret text not null, created_ms integer not null
    ) strict, without rowid""",
    # Of what the subscribers have got.
    "create table if not exists topic_digest (id integer primary key check (id = 1), digest text not null) strict",
    "insert or ignore into topic_digest values (1, '')",
    "create table if not exists announced_story (id text primary key, at_ms integer not null) strict, without rowid",
    "create index if not exists announced_story_time on announced_story (at_ms)",
)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A confirmed subscription; (topic, callback) identifies it."""

    id: int
    topic: str
    callback: str
    secret: str


class SubscriptionRows:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        for statement in _TABLES:
            sql.run(statement)

    def check_room(self, callback: str, waiting: int) -> None:
        """Raise TooManyRequests if there are too many subscriptions, in all or for one host; `waiting` for confirmation."""
        host = urlsplit(callback).netloc
        total = int(self._sql.value("select count(*) from subscription") or 0) + waiting
        of_host = int(self._sql.value("select count(*) from subscription where host = ?", host) or 0)
        if total >= MAX_SUBSCRIPTIONS or of_host >= MAX_FOR_ONE_HOST:
            raise TooManyRequests("there are too many subscriptions: try again later", _RETRY_AFTER_S)

    def subscribe(self, topic: str, callback: str, secret: str, until_ms: int) -> None:
        """Store a confirmed subscription; the same again renews it."""
        self._sql.run(
            """insert into subscription (topic, callback, host, secret, until_ms) values (?, ?, ?, ?, ?)
            on conflict (topic, callback) do update set secret = excluded.secret, until_ms = excluded.until_ms""",
            topic,
            callback,
            urlsplit(callback).netloc,
            secret,
            until_ms,
        )

    def unsubscribe(self, topic: str, callback: str) -> None:
        self._sql.run("delete from subscription where topic = ? and callback = ?", topic, callback)

    def list_active(self, now_ms: int) -> list[Subscription]:
        self._sql.run("delete from subscription where until_ms <= ?", now_ms)
        return [_parse(row) for row in self._sql.rows("select id, topic, callback, secret from subscription")]

    def find(self, subscription_id: str, now_ms: int) -> Subscription | None:
        rows = self._sql.rows(
            "select id, topic, callback, secret from subscription where id = ? and until_ms > ?",
            int(subscription_id),
            now_ms,
        )
        return _parse(rows[0]) if rows else None

    def replace_digest(self, digest: str) -> bool:
        """Return whether the content of the feeds is another one than before."""
        return bool(self._sql.execute("update topic_digest set digest = ?1 where digest <> ?1", digest))

    def add_webhook(self, webhook: CreatedWebhook) -> None:
        if int(self._sql.value("select count(*) from webhook") or 0) >= MAX_WEBHOOKS:
            raise TooManyRequests(f"there are {MAX_WEBHOOKS} webhooks: delete one first", _RETRY_AFTER_S)
        self._sql.run(
            "insert into webhook values (?, ?, ?, ?)",
            webhook["id"],
            webhook["url"],
            webhook["secret"],
            webhook["created_ms"],
        )

    def remove_webhook(self, webhook_id: str) -> bool:
        return bool(self._sql.execute("delete from webhook where id = ?", webhook_id))

    def list_webhooks(self) -> list[CreatedWebhook]:
        rows = self._sql.rows("select id, url, secret, created_ms from webhook order by created_ms, id")
        return [_parse_webhook(row) for row in rows]

    def find_webhook(self, webhook_id: str) -> CreatedWebhook | None:
        rows = self._sql.rows("select id, url, secret, created_ms from webhook where id = ?", webhook_id)
        return _parse_webhook(rows[0]) if rows else None

    def announce_stories(self, ids: list[str], now_ms: int) -> list[str]:
        """Return the stories that were not announced before, and remember them."""
        found = self._sql.rows(
            "select wanted.value as id from json_each(?) as wanted join announced_story on announced_story.id = wanted.value",
            encode_json(ids),
        )
        known = {str(row["id"]) for row in found}
        new = [story_id for story_id in ids if story_id not in known]
        for story_id in new:
            self._sql.run("insert into announced_story values (?, ?)", story_id, now_ms)
        return new

    def forget_stories(self, before_ms: int) -> None:
        self._sql.run("delete from announced_story where at_ms < ?", before_ms)


def _parse(row: Row) -> Subscription:
    found: dict[str, Any] = row
    return Subscription(**found)


def _parse_webhook(row: Row) -> CreatedWebhook:
    return cast("CreatedWebhook", row)
