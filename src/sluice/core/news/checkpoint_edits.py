"""What a checkpoint means that a person has edited and put back.

The person read it a while ago, and KV may go on showing the edit for a minute after a run has taken it over. So it is
compared with the last checkpoint that the processor wrote: what was done since stays done, and an article that waited
for a retry and that the edit no longer has was removed by the person.
"""

from dataclasses import dataclass, replace

from sluice.core.news.article import Article
from sluice.core.news.checkpoint import Checkpoint, TryLaterEntry


@dataclass(frozen=True, slots=True)
class CheckpointEdit:
    """The checkpoint to go on with, and the articles that the person has removed from the try-later list."""

    checkpoint: Checkpoint
    removed: tuple[Article, ...]


def apply_edit(edited: Checkpoint, last: Checkpoint) -> CheckpointEdit:
    """Return what an edited checkpoint means. An article that failed after the person had read it was not removed by them, so it stays."""
    waiting = {entry.article.id for entry in edited.try_later} | ({edited.current.id} if edited.current else set())
    missing = [entry for entry in last.try_later if entry.article.id not in waiting]
    removed = [entry for entry in missing if _is_removed(entry, edited)]
    later = [entry for entry in missing if not _is_removed(entry, edited)]
    done = set(last.processed)
    since = {entry.article.id: entry for entry in last.try_later}
    kept = [since.get(entry.article.id, entry) for entry in edited.try_later if entry.article.id not in done]
    processed = dict.fromkeys((*last.processed, *(entry.article.id for entry in removed), *edited.processed))
    merged = replace(
        edited,
        current=_choose_current(edited, last),
        processed=tuple(processed),
        try_later=(*kept, *later),
    )
    return CheckpointEdit(merged, tuple(entry.article for entry in removed))


def _is_removed(entry: TryLaterEntry, edited: Checkpoint) -> bool:
    return entry.failed_at_ms <= edited.updated_at_ms or entry.article.id in edited.processed


def _choose_current(edited: Checkpoint, last: Checkpoint) -> Article | None:
    """Return the current article as it is by now."""
    if edited.current is None or edited.current.id in last.processed:
        return None
    known = last.find(edited.current.id)
    return known if known is not None and known.is_further_than(edited.current) else edited.current
