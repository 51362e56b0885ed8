"""What must hold inside of the zone's storage: at any time, when all is drained, and after the retention."""

from datetime import datetime
from math import inf
from typing import Any, Final

from simulation.platform import EPOCH_S, TrueClock
from simulation.preload_model import Acceptance, PreloadModel
from simulation.preload_world import SITE, ZONE, PreloadPlatform

RESULTS: Final = ("done", "failed", "gone", "skipped", "dropped", "cancelled")
SUCCESSES: Final = frozenset({"warmed", "unchanged", "edge_only", "skipped", "gone", "redirected"})


def check_invariants(platform: PreloadPlatform, model: PreloadModel) -> None:
    """Check what holds between any two steps."""
    if not (storage := platform.storage).rows("SELECT 1 FROM sqlite_master WHERE name = 'batch'"):
        return
    require = model.simulation.require
    for batch in storage.rows("SELECT *, (SELECT count(*) FROM membership WHERE batch_id = id) AS members FROM batch"):
        sums = batch["queued"] + sum(batch[name] for name in RESULTS)
        require(batch["total"] == sums and batch["queued"] >= 0, "the counts of a batch add up", batch)
        require(batch["queued"] == batch["members"], "a batch counts the pages that are queued", batch)
        is_over = not batch["queued"] and not batch["crawling"]
        require(is_over == (batch["finished_at"] is not None), "a batch without waiting pages is finished", batch)
    [tally] = storage.rows("SELECT depth, (SELECT count(*) FROM entry) AS entries FROM queue_tally")
    require(tally["depth"] == tally["entries"], "the depth of the queue is counted right", tally)
    require(not storage.rows("SELECT 1 FROM dead WHERE reason = ''"), "a dead letter has a reason")


def check_copies(platform: PreloadPlatform, model: PreloadModel) -> None:
    """Check that a purge would find every copy; while nobody stores or removes one."""
    indexed = {row["key_hash"] for row in platform.d1.rows("SELECT key_hash FROM cached_pages")}
    for key in platform.r2.keys_now():
        digest = key.rpartition("/")[2].partition(".")[0]
        model.simulation.require(digest in indexed, "every copy in R2 is in the index", key)


def check_drained(platform: PreloadPlatform, model: PreloadModel) -> None:
    """Check what became of everything that was accepted, when nothing is left to do."""
    storage, require = platform.storage, model.simulation.require
    check_invariants(platform, model)
    batches = {row["id"]: row for row in storage.rows("SELECT * FROM batch")}
    for each in model.acceptances:
        if not each.is_void:
            _check_acceptance(platform, model, each, batches.get(each.batch_id))
    # The cron may just have begun another scheduled batch.
    unfinished = [row for row in batches.values() if row["crawling"]]
    require(not unfinished, "every batch ends", unfinished)
    left = storage.rows("SELECT * FROM purge_progress WHERE finished_at IS NULL")
    require(not left, "every purge ends", left)
    check_copies(platform, model)
    for row in platform.d1.rows("SELECT * FROM preload_log WHERE status = 'failed'"):
        require(bool(row["detail"]), "a page that failed is logged with its reason", row)


def _check_acceptance(platform: PreloadPlatform, model: PreloadModel, accepted: Acceptance, row: Any) -> None:
    batch_id, paths = accepted.batch_id, accepted.paths
    require = model.simulation.require
    if row is None:
        model.simulation.violate("an accepted batch is known", batch_id)
        return
    require(row["finished_at"] is not None, "an accepted batch ends", row)
    require(row["total"] >= len(paths), "a batch has all of its pages", row)
    if row["finished_at"] is None:
        return
    # By the clock of the zone's object, so nothing can be said if that was set.
    ended_at = inf if model.jumps else row["finished_at"] - EPOCH_S
    if row["done"] == row["total"] == len(paths):
        for path in paths:
            url = SITE + path
            asked = [
                each for each in model.arrivals if accepted.called_at <= each.at <= ended_at and each.request.url == url
            ]
            require(bool(asked), "a warmed page was asked for after it was wanted", f"{path} of {batch_id}")
            lines = platform.d1.rows(f"SELECT status, created_at FROM preload_log WHERE url = '{url}'")  # noqa: S608
            ends = [_to_time(line["created_at"]) for line in lines if line["status"] in SUCCESSES]
            is_logged = any(accepted.called_at <= each <= ended_at + 0.01 for each in ends)
            require(is_logged or bool(model.jumps), "a warmed page is logged", f"{path} of {batch_id}: {lines}")


def _to_time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() - EPOCH_S


def check_retention(platform: PreloadPlatform, model: PreloadModel) -> None:
    """Check that nothing grows with time: after nine days only the last pages and rows are left."""
    require, storage = model.simulation.require, platform.storage
    for table, most in {
        "nonce": 0, "replay": 0, "purge": 0, "purge_progress": 0, "flight": 60, "result": 200, "mark": 5, "outbox": 50, "dead": 5,
    }.items():  # fmt: skip
        [count] = storage.rows(f"SELECT count(*) AS n FROM {table}")  # noqa: S608
        require(count["n"] <= most, "storage is bounded", f"{count['n']} rows in {table}")
    wall = TrueClock().now()
    old = storage.rows(f"SELECT * FROM flight WHERE ended_at IS NULL AND granted_at < {wall - 600}")  # noqa: S608
    require(not old, "every grant ends", old)
    keys = platform.kv.list_now()
    known = {f"config:{ZONE}", "host:www.example.com", f"preload-queue:{ZONE}", f"preload-dlq:{ZONE}"}
    require(set(keys) <= known, "the keys of KV are bounded", keys)
    require(len(platform.r2.keys_now()) <= len(model.pages) + 1, "R2 is bounded", platform.r2.keys_now())
