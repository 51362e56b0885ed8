"""Scores one clause: what moves, what is undone or negated, and whom it concerns.

A list of good and bad words is not enough: "falls" is bad of Bitcoin and good of inflation. So the words of a clause become
units of the vocabulary (`lexicon`), and four rules give each unit its value. Their order matters, because each works on the
values that the ones before have set.

1. A unit with a value of its own has it. A move ("rises", "at a low") takes its sign from what moves: a burden such as
   outflows inverts it, another market makes it 0, Bitcoin's own price counts more. What moves is the object of the verb or
   "in …" behind it, else the nearest subject before it. That thing is then used: it has no value of its own any more.
2. "Undo" words ("dashes", "lifts") invert what they act on: the things of one sign behind them, else the one before. Some
   undo bad things only: "eases fears" is good, and "eases" leaves good things as they are. Nothing is undone twice.
3. A negation inverts what follows it, and weakens what stands before; "neither" and "nor" make what follows 0. Where nothing
   follows, it inverts what stands before, except for a bare one such as "no" or "without".
4. What happens to an adversary of the holder is inverted: a short seller's loss is good. What an adversary merely says is an
   opinion, and stays as it is. A criminal who is caught is good news, whatever else the clause says.

A record takes its sign from what it is a record of, before all this. Links to what follows end at a punctuation mark, and
after a few words: a wrong link between distant words costs more than a missing one. A negation that points back, and what
happens to an adversary, have the whole clause. Factors below 1 stand for doubt: "not good" is less bad than "bad".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.news.sentiment.lexicon import STOPS, Kind, Unit, find_units, split_words
from sluice.core.news.vocabulary.sentiment import RECORDS, SAYING, SECOND_VERBS, SHARES

_MOVE: Final = 1.5
_LEVEL: Final = 2.0
_BITCOIN_FACTOR: Final = 1.3  # the price itself counts more than what is said about it
_UNKNOWN_FACTOR: Final = 0.7
_SUBJECT_REACH: Final = 6  # words between a subject and its verb
_UNDO_REACH: Final = 7
_BACK_REACH: Final = 5
_NEGATION_REACH: Final = 8
_PREPOSITIONS: Final = frozenset(
    [
        "to",
        "below",
        "above",
        "by",
        "as",
        "in",
        "at",
        "on",
        "past",
        "under",
        "over",
        "after",
        "of",
        "for",
        "from",
        "near",
        "with",
        "and",
        "or",
    ]
)
_OF: Final = frozenset(["from", "of", "in", "into", "for", "against", "at", "on", "to"])
_ENDS_SUBJECT: Final = STOPS | {"by", "with"}  # they separate what moves from its verb
_ARTICLES: Final = frozenset({"a", "an", "the", "its", "their"})
_THINGS: Final = (Kind.BURDEN, Kind.ASSET, Kind.OTHER)
# They negate what follows them, never what stands before.
_BARE_NEGATIONS: Final = frozenset({"no", "without", "lack", "none", "nobody", "little"})
_SECOND_VERBS: Final = frozenset(SECOND_VERBS.split())
_SAYING: Final = frozenset({":", *SAYING.split()})
_SHARES: Final = frozenset(SHARES.split())
_RECORDS: Final = frozenset(RECORDS.split())


@dataclass(frozen=True, slots=True)
class ClauseScore:
    """The sum, its good and bad parts, what the clause is about, and whether a part of it was turned round."""

    total: float
    good: float
    bad: float
    names_bitcoin: bool
    names_other: bool
    moves_bitcoin: bool
    is_inverted: bool


def score_clause(text: str) -> ClauseScore:
    """Return a score above zero for good news."""
    clause = _Clause(split_words(text))
    clause.value_units()
    clause.undo()
    clause.negate()
    clause.invert_for_adversaries()
    values = [unit.value for unit in clause.units if not unit.is_used]
    return ClauseScore(
        total=sum(values),
        good=sum(value for value in values if value > 0),
        bad=-sum(value for value in values if value < 0),
        names_bitcoin=clause.names_bitcoin(),
        names_other=any(unit.has(Kind.OTHER) for unit in clause.units),
        moves_bitcoin=clause.moves_bitcoin,
        is_inverted=clause.is_inverted,
    )


class _Clause:
    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.units = find_units(words)
        self.moves_bitcoin = False
        self.is_inverted = False  # whether something is undone, negated, or an adversary's

    def names_bitcoin(self) -> bool:
        """Return whether the clause is Bitcoin's matter; beside another coin or metal that must be said."""
        if any(word.startswith(("bitcoin", "btc", "crypto")) for word in self.words):
            return True
        others = {self.words[unit.at] for unit in self.units if unit.has(Kind.OTHER)}
        return others <= _SHARES and any(unit.has(Kind.BITCOIN) for unit in self.units)

    def value_units(self) -> None:
        for place, unit in enumerate(self.units):
            if unit.has(Kind.MOVE, Kind.LEVEL):
                self._value_move(place, unit)
            elif unit.has(Kind.VALUE):
                unit.value = unit.kinds[Kind.VALUE]
        for place, unit in enumerate(self.units):
            if unit.has(Kind.VALUE) and self.words[unit.at] in _RECORDS and unit.size == 1:
                self._value_record(place, unit)

    def undo(self) -> None:
        undone: list[Unit] = []
        for place, unit in enumerate(self.units):
            if not unit.has(Kind.UNDO, Kind.RELIEVE) or unit.is_used:
                continue
            only_bad = not unit.has(Kind.UNDO)
            targets = self._targets_after(place, only_bad=only_bad)
            if not targets and not unit.has(Kind.MOVE):
                targets = self._targets_before(place, only_bad=only_bad)
            # What was undone is not undone again: "dashes hopes of a cut".
            targets = [target for target in targets if target not in undone]
            if not targets:
                continue
            undone += targets
            self.is_inverted = True
            for target in targets:
                target.value, target.is_used = -0.9 * self._value_of(target), False
            if targets[0].at != unit.at:
                unit.value = 0.0

    def negate(self) -> None:
        for place, unit in enumerate(self.units):
            if not unit.has(Kind.NEGATION):
                continue
            after = [each for each in self._after(place, _NEGATION_REACH) if each.value and not each.is_used]
            before = [each for each in self.units[:place] if each.value and not each.is_used]
            self.is_inverted = self.is_inverted or bool(after or before)
            if self.words[unit.at] in {"neither", "nor"}:
                _scale(after, 0.0)
            elif after:
                _scale(after, -0.8)
                _scale(before, 0.25)
            elif self.words[unit.at] not in _BARE_NEGATIONS:
                _scale(before, -0.7)

    def invert_for_adversaries(self) -> None:
        """Invert what happens to an adversary: the loss of a short seller is good news, and so is the arrest of a thief."""
        caught = any(unit.has(Kind.CAUGHT) for unit in self.units)
        criminal = next((unit for unit in self.units if unit.has(Kind.CRIMINAL)), None)
        adversary = next((unit for unit in self.units if unit.has(Kind.ADVERSARY)), None)
        if criminal is not None and caught:
            _scale(self.units, 0.0)
            criminal.value = 1.5
            self.is_inverted = True
        elif (
            adversary is not None
            and adversary is self._first_actor()
            and not adversary.is_used
            and not self._only_says_something(adversary)
        ):
            adversary.value = 0.0
            self.is_inverted = True
            # What happens to the adversary is inverted, not what does it: "bears trapped by a jump".
            affected = [
                unit for unit in self.units if unit.at > adversary.at and "by" not in self.words[adversary.at : unit.at]
            ]
            _scale(affected, -1.0)

    def _only_says_something(self, adversary: Unit) -> bool:
        """Return whether an adversary only says something: that is an opinion about the price, and no loss of theirs."""
        end = adversary.at + adversary.size
        return bool(_SAYING & set(self.words[end : end + 2]))

    def _first_actor(self) -> Unit | None:
        return next((unit for unit in self.units if unit.has(Kind.ADVERSARY, Kind.BITCOIN, Kind.MOVE)), None)

    def _value_move(self, place: int, unit: Unit) -> None:
        direction = unit.kinds.get(Kind.MOVE) or unit.kinds[Kind.LEVEL]
        strength = _MOVE if unit.has(Kind.MOVE) else _LEVEL
        moved = self._object(place, unit) or self._subject(place, unit)
        unit.value = direction * strength
        if moved is None:
            # What moves is not known, and nothing says that it is Bitcoin's matter.
            if not any(each.has(Kind.BITCOIN) for each in self.units):
                unit.value *= _UNKNOWN_FACTOR
            return
        if moved.has(Kind.BURDEN):
            unit.value = -unit.value
        elif moved.has(Kind.OTHER):
            unit.value = 0.0
        elif self._is_bitcoin(moved):
            unit.value *= _BITCOIN_FACTOR
            self.moves_bitcoin = True
        self._exclude_moved(moved)
        self._exclude_topic(moved, place)

    def _object(self, place: int, unit: Unit) -> Unit | None:
        """Return the thing after a transitive move, or after "in": "sinks hopes", "a surge in outflows"."""
        following = self.units[place + 1] if place + 1 < len(self.units) else None
        if following is None or not following.has(*_THINGS):
            return None
        between = self.words[unit.at + unit.size : following.at]
        is_of = between[:1] in (["in"], ["of"]) and len(between) <= 3
        is_direct = len(between) <= 1 and not _PREPOSITIONS & set(between) and not STOPS & set(between)
        is_direct = is_direct and following.has(Kind.BURDEN, Kind.ASSET)
        # "knocks Bitcoin" is transitive; "falling Bitcoin prices" and "Bitcoin drops, Bitcoin …" are not read like that.
        if self._is_bitcoin(following):
            is_direct = is_direct and not between and unit.at > 0
        return following if is_of or is_direct else None

    def _subject(self, place: int, unit: Unit) -> Unit | None:
        for other in reversed(self.units[:place]):
            between = self.words[other.at : unit.at]
            if len(between) > _SUBJECT_REACH + other.size or not _ENDS_SUBJECT.isdisjoint(between):
                return None
            if other.has(*_THINGS):
                return self._head(other)
            # After "and" the subject is further away, beyond the first verb and its object; so it is for a level.
            if other.has(Kind.MOVE) and unit.has(Kind.MOVE) and "and" not in self.words[other.at : unit.at]:
                return None
        return None

    def _head(self, thing: Unit) -> Unit:
        """Return what a thing belongs to: in "outflows from Bitcoin funds" the outflows."""
        before = thing.at - (2 if self.words[thing.at - 1] in _ARTICLES else 1)
        if before < 0 or self.words[before] not in _OF:
            return thing
        heads = [
            unit for unit in self.units if thing.at - 4 <= unit.at < thing.at and unit.has(Kind.BURDEN, Kind.ASSET)
        ]
        return heads[-1] if heads else thing

    def _exclude_moved(self, moved: Unit) -> None:
        """Leave the thing that moves out of the sum, and what it belongs to: "fears of a sell-off"."""
        moved.is_used, moved.value = True, 0.0
        for other in self.units:
            between = self.words[other.at + other.size : moved.at]
            if other.at < moved.at and between[:1] == ["of"] and len(between) <= 3 and other.has(Kind.BURDEN):
                other.is_used = True

    def _exclude_topic(self, moved: Unit, place: int) -> None:
        """Leave what a thing is about out of the sum: "hopes for a Bitcoin reserve fade"."""
        for other in self.units[:place]:
            between = self.words[moved.at + moved.size : other.at]
            if between and between[0] in _OF and len(between) <= 2 and other.has(Kind.VALUE) and other.has(*_THINGS):
                other.is_used = True

    def _value_record(self, place: int, unit: Unit) -> None:
        """Give a record the sign of the thing that it is a record of."""
        near = [each for each in self.units[place + 1 : place + 2] if each.at - unit.at <= 3]
        near += [each for each in reversed(self.units[:place]) if unit.at - each.at <= 4 and each.has(Kind.MOVE)]
        signed = next((each.value for each in near if each.value), 0.0)
        if signed < 0 or any(each.has(Kind.BURDEN) for each in near[:1]):
            unit.value = -abs(unit.value)

    def _targets_after(self, place: int, *, only_bad: bool) -> list[Unit]:
        """Return the first thing that can be undone, and those of the same sign behind it."""
        found: list[Unit] = []
        for unit in self._after(place, _UNDO_REACH):
            # "delays a decision and sues" undoes nothing.
            if self.words[unit.at - 1] == "and" and self.words[unit.at] in _SECOND_VERBS:
                break
            worth = self._value_of(unit)
            if not worth or (only_bad and (worth > 0 or unit.has(Kind.LEVEL))):
                continue
            if found and (worth > 0) != (self._value_of(found[0]) > 0):
                break
            found.append(unit)
        return found

    def _targets_before(self, place: int, *, only_bad: bool) -> list[Unit]:
        at = self.units[place].at
        for unit in reversed(self.units[:place]):
            if at - unit.at > _BACK_REACH or self._has_stop(unit.at, at):
                break
            worth = self._value_of(unit)
            if worth and not (only_bad and worth > 0):
                return [unit]
        return []

    def _value_of(self, unit: Unit) -> float:
        if unit.value:
            return unit.value
        if unit.is_used or unit.has(Kind.NEGATION):
            return 0.0
        if unit.has(Kind.BURDEN):
            return -1.0
        return 1.0 if unit.has(Kind.ASSET) and not self._is_bitcoin(unit) else 0.0

    def _after(self, place: int, reach: int) -> Iterator[Unit]:
        start = self.units[place].at
        for unit in self.units[place + 1 :]:
            if unit.at - start > reach or self._has_stop(start, unit.at):
                return
            yield unit

    def _has_stop(self, start: int, end: int) -> bool:
        return not STOPS.isdisjoint(self.words[start:end])

    def _is_bitcoin(self, unit: Unit) -> bool:
        return self.words[unit.at].startswith(("bitcoin", "btc", "crypto", "price")) and unit.size == 1


def _scale(units: Sequence[Unit], factor: float) -> None:
    for unit in units:
        unit.value *= factor
