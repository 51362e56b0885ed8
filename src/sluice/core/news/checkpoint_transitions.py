"""The order of the stages and the transitions between them: where an article goes after each attempt."""

from enum import StrEnum
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.news.article import Stage


class Outcome(StrEnum):
    """How one attempt at one stage ended."""

    DONE = "done"
    # Another attempt may succeed.
    FAILED = "failed"
    # No attempts are left, or another attempt cannot succeed.
    GIVEN_UP = "given up"


class Place(StrEnum):
    """Where the checkpoint keeps an article after an attempt."""

    CURRENT = "current"
    TRY_LATER = "try later"
    PROCESSED = "processed"


# (stage, outcome) -> (next stage, place). A stage that the article does not need is skipped.
TRANSITIONS: Final = {
    (Stage.SENTIMENT, Outcome.DONE): (Stage.CONTENT, Place.CURRENT),
    (Stage.SENTIMENT, Outcome.FAILED): (Stage.SENTIMENT, Place.TRY_LATER),
    (Stage.SENTIMENT, Outcome.GIVEN_UP): (Stage.CONTENT, Place.CURRENT),
    (Stage.CONTENT, Outcome.DONE): (Stage.SUMMARY, Place.CURRENT),
    (Stage.CONTENT, Outcome.FAILED): (Stage.CONTENT, Place.TRY_LATER),
    (Stage.CONTENT, Outcome.GIVEN_UP): (Stage.COMPLETE, Place.PROCESSED),
    (Stage.SUMMARY, Outcome.DONE): (Stage.COMPLETE, Place.PROCESSED),
    (Stage.SUMMARY, Outcome.FAILED): (Stage.SUMMARY, Place.TRY_LATER),
    (Stage.SUMMARY, Outcome.GIVEN_UP): (Stage.COMPLETE, Place.PROCESSED),
}


class IllegalTransition(SluiceError):
    """An article changed in a way that no row of the table allows."""


def place_after(before: Stage, outcome: Outcome, after: Stage) -> Place:
    """Return where an article goes. The article's flags determine `after`, and the table must agree with them."""
    if (before, outcome) not in TRANSITIONS:
        raise IllegalTransition(f"stage {before} has no transition for the outcome {outcome}")
    expected, place = TRANSITIONS[before, outcome]
    if after is Stage.COMPLETE and place is not Place.TRY_LATER:
        return Place.PROCESSED
    if after is not expected and not (expected is Stage.CONTENT and after is Stage.SUMMARY):
        raise IllegalTransition(f"{before} and {outcome} lead to {expected}, not to {after}")
    return place
