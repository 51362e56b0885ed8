"""Defects of the news pipeline to plant."""

from typing import Final

from simulation.plants import Plant

_NEWS: Final = "services/news/"


def _plant(name: str, *patches: tuple[str, str, str]) -> Plant:
    return Plant(name, "news", patches)


NEWS_PLANTS: Final = (
    _plant(
        "an attempt is stored after it was made",
        (
            f"{_NEWS}process/checkpoint_store.py",
            "        await self._write(run, started)\n",
            "        run.checkpoint, run.has_unwritten_checkpoint = started, True\n",
        ),
    ),
    _plant(
        "a run lease is granted to everybody, and nobody notices its loss",
        (f"{_NEWS}run_lease/run_lock.py", "where token = '' or until_ms <= ?", "where 1 or until_ms <= ?"),
        (f"{_NEWS}run_lease/run_lock.py", "        await self.renew(token, until_ms)\n", ""),
    ),
    _plant(
        "a run lease never ends",
        (
            f"{_NEWS}run_lease/run_lock.py",
            "where token = '' or until_ms <= ?",
            "where token = '' or until_ms <= ? - 1e12",
        ),
    ),
    _plant(
        "a stale checkpoint is believed",
        (
            f"{_NEWS}run_lease/lease.py",
            "return CurrentValue.KV if version == 0 or version >= self.version else CurrentValue.ANNOUNCED",
            "return CurrentValue.KV",
        ),
        (
            f"{_NEWS}run_lease/lease.py",
            "return CurrentValue.ANNOUNCED if is_new else CurrentValue.KV",
            "return CurrentValue.KV",
        ),
    ),
    _plant(
        "the index is not written",
        (f"{_NEWS}process/article_store.py", "        await self.indexes.write(change.index)\n", ""),
    ),
    _plant(
        "the API keeps its first snapshot",
        (
            f"{_NEWS}serve/stored_snapshot.py",
            "if known is not None and known.articles and version == str(known.version):",
            "if known is not None and known.articles:",
        ),
    ),
    _plant(
        "an attempt too many",
        ("core/news/retry.py", "if attempt <= max_attempts:", "if attempt <= max_attempts + 1:"),
    ),
    _plant(
        "a snapshot counts as written before it is",
        (
            f"{_NEWS}state/state_object.py",
            "        await write_snapshot(self.snapshot_kv, snapshot, snapshot.encode())\n",
            "        self.rows.mark_written(changes)\n        await write_snapshot(self.snapshot_kv, snapshot, snapshot.encode())\n",
        ),
    ),
    _plant(
        "an article that is given up has no reason",
        ("core/news/stage_results.py", 'f"{reason}: {failed.last_error}"', '""'),
        (
            "core/news/stage_results.py",
            "return StageResult(_close_with_feed_text(article, reason, now_ms), Outcome.GIVEN_UP, reason)",
            'return StageResult(_close_with_feed_text(article, "", now_ms), Outcome.GIVEN_UP, reason)',
        ),
    ),
    _plant(
        "the state object is not told of articles",
        (
            f"{_NEWS}process/article_publisher.py",
            "            await self.state.publish(article, index)\n",
            "            pass\n",
        ),
        (
            f"{_NEWS}state/state_object.py",
            "        await self.reconcile()\n        await self._plan_alarm()\n",
            "        await self._plan_alarm()\n",
        ),
    ),
)
