"""The transformations in their fixed order, which does not depend on the order in the configuration."""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.patterns import Exclusions, Inclusions, Patterns
from sluice.core.filters.transformations.compress import COMPRESS, CONVERT_ONLY, Compress
from sluice.core.filters.transformations.convert_to_ascii import CONVERT_TO_ASCII
from sluice.core.filters.transformations.deduplicate import DEDUPLICATE
from sluice.core.filters.transformations.insert_final_new_line import INSERT_FINAL_NEW_LINE
from sluice.core.filters.transformations.invert_allow import INVERT_ALLOW
from sluice.core.filters.transformations.optimise import OPTIMISE
from sluice.core.filters.transformations.remove_comments import REMOVE_COMMENTS
from sluice.core.filters.transformations.remove_empty_lines import REMOVE_EMPTY_LINES
from sluice.core.filters.transformations.remove_modifiers import REMOVE_MODIFIERS
from sluice.core.filters.transformations.transformation import Transformation
from sluice.core.filters.transformations.trim_lines import TRIM_LINES
from sluice.core.filters.transformations.validate import (
    VALIDATE,
    VALIDATE_ALLOW_IP,
    VALIDATE_ALLOW_IP_AND_PUBLIC_SUFFIX,
    VALIDATE_ALLOW_PUBLIC_SUFFIX,
    Validator,
)

if TYPE_CHECKING:
    from sluice.core.filters.patterns.domain_patterns import DomainPatterns

_VALIDATORS: Final[Mapping[str, Validator]] = MappingProxyType(
    {
        "Validate": VALIDATE,
        "ValidateAllowIp": VALIDATE_ALLOW_IP,
        "ValidateAllowPublicSuffix": VALIDATE_ALLOW_PUBLIC_SUFFIX,
        "ValidateAllowIpAndPublicSuffix": VALIDATE_ALLOW_IP_AND_PUBLIC_SUFFIX,
    }
)

TRANSFORMATIONS: Final[Mapping[str, Transformation]] = MappingProxyType(
    {
        "ConvertToAscii": CONVERT_TO_ASCII,
        "TrimLines": TRIM_LINES,
        "RemoveComments": REMOVE_COMMENTS,
        "Compress": COMPRESS,
        "RemoveModifiers": REMOVE_MODIFIERS,
        "InvertAllow": INVERT_ALLOW,
        **_VALIDATORS,
        "Deduplicate": DEDUPLICATE,
        "Optimise": OPTIMISE,
        "RemoveEmptyLines": REMOVE_EMPTY_LINES,
        "InsertFinalNewLine": INSERT_FINAL_NEW_LINE,
    }
)

# They drop a line only for the sake of another one.
_COMPARING: Final = frozenset({"Deduplicate", "Optimise"})

Outcome = TypeVar("Outcome")
# Pauses before and after each step, and returns the outcome.
Stepwise = Generator[None, None, Outcome]

EXCLUSIONS: Final = "exclusions"
INCLUSIONS: Final = "inclusions"
DOMAIN_EXCLUSIONS: Final = "domainExclusions"
DOMAIN_INCLUSIONS: Final = "domainInclusions"


class LineFilters(NamedTuple):
    """What is left out, and what alone is kept, before all transformations: by text, and by domain."""

    exclusions: Patterns | None = None
    inclusions: Patterns | None = None
    domain_exclusions: "DomainPatterns | None" = None
    domain_inclusions: "DomainPatterns | None" = None

    def __bool__(self) -> bool:
        return any(self)


_NO_FILTERS: Final = LineFilters()


class StepObserver(Protocol):
    """Observes a pipeline: it is called before and after each step with the numbers of lines."""

    def on_step_start(self, name: str, count: int) -> None: ...

    def on_step_complete(self, name: str, count_in: int, count_out: int) -> None: ...


class _NoObserver:
    def on_step_start(self, name: str, count: int) -> None: ...

    def on_step_complete(self, name: str, count_in: int, count_out: int) -> None: ...


NO_OBSERVER: Final = _NoObserver()


class PipelineDrop(NamedTuple):
    """A dropped line: its index in the first input, the step that dropped it, its text at that step, and the reason."""

    at: int
    transformation: str
    text: str
    reason: str


class PipelineTrace(NamedTuple):
    """The resulting lines, the input index of each (-1: added), and all dropped lines, step by step."""

    lines: list[str]
    origins: list[int]
    dropped: list[PipelineDrop]


def check_names(names: Collection[str]) -> None:
    """Raise Invalid for unknown names and for more than one validator."""
    unknown = sorted(set(names) - TRANSFORMATIONS.keys())
    if unknown:
        raise Invalid(
            f"Unknown transformations: {', '.join(unknown)}. The known ones are {', '.join(TRANSFORMATIONS)}."
        )
    validators = [name for name in _VALIDATORS if name in names]
    if len(validators) > 1:
        raise Invalid(f"Validation transformations cannot be combined: {', '.join(validators)}.")


def transform(
    lines: list[str],
    names: Collection[str],
    *,
    exclusions: Patterns | None = None,
    inclusions: Patterns | None = None,
    observer: StepObserver = NO_OBSERVER,
) -> list[str]:
    """Apply exclusions, inclusions and the named transformations; the input is not changed."""
    return run_to_end(transform_stepwise(lines, names, LineFilters(exclusions, inclusions), observer=observer))


def trace(
    lines: list[str],
    names: Collection[str],
    *,
    exclusions: Patterns | None = None,
    inclusions: Patterns | None = None,
    observer: StepObserver = NO_OBSERVER,
) -> PipelineTrace:
    """Do the same as `transform`, and record the origin or the reason for each line."""
    return run_to_end(trace_stepwise(lines, names, LineFilters(exclusions, inclusions), observer=observer))


def trace_alone(lines: list[str], names: Collection[str], filters: LineFilters) -> PipelineTrace:
    """Trace what would become of each line if it stood alone: no line is dropped for the sake of another one.

    Nor by a validator, which takes time and tells nothing about the lines of a finished list: they have passed it.
    """
    steps = {**TRANSFORMATIONS, "Compress": CONVERT_ONLY}
    left_out = _COMPARING | _VALIDATORS.keys()
    alone = [(name, steps[name]) for name in TRANSFORMATIONS if name in names and name not in left_out]
    return run_to_end(_trace_steps(lines, [*_select_filters(filters), *alone], NO_OBSERVER))


def transform_stepwise(
    lines: list[str],
    names: Collection[str],
    filters: LineFilters = _NO_FILTERS,
    *,
    observer: StepObserver,
    later: Collection[str] = (),
) -> Stepwise[list[str]]:
    """Run `transform` with a pause before and after each step, in which the caller may do other work.

    It may use up the lines. `later` are transformations that follow for the whole list.
    """
    check_names(names)
    for name, step in _select_steps(names, filters, later):
        count = len(lines)
        observer.on_step_start(name, count)
        yield
        lines = step.apply(lines)
        yield
        observer.on_step_complete(name, count, len(lines))
    return lines


def trace_stepwise(
    lines: list[str],
    names: Collection[str],
    filters: LineFilters = _NO_FILTERS,
    *,
    observer: StepObserver,
    later: Collection[str] = (),
) -> Stepwise[PipelineTrace]:
    """Run `trace` with the same pauses."""
    check_names(names)
    return _trace_steps(lines, _select_steps(names, filters, later), observer)


def _trace_steps(
    lines: list[str], steps: Iterable[tuple[str, Transformation]], observer: StepObserver
) -> Stepwise[PipelineTrace]:
    origins = list(range(len(lines)))
    dropped: list[PipelineDrop] = []
    for name, step in steps:
        observer.on_step_start(name, len(lines))
        yield
        result = step.trace(lines)
        dropped.extend(PipelineDrop(origins[line.at], name, line.text, line.reason) for line in result.dropped)
        yield
        observer.on_step_complete(name, len(lines), len(result.lines))
        lines = result.lines
        if not isinstance(result.origins, range):  # a range means that each line stayed in its place
            origins = [origins[index] if index >= 0 else -1 for index in result.origins]
    return PipelineTrace(lines, origins, dropped)


def run_to_end(work: Stepwise[Outcome]) -> Outcome:
    """Run without pausing and return the outcome."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome


def _select_steps(
    names: Collection[str], filters: LineFilters, later: Collection[str]
) -> Iterator[tuple[str, Transformation]]:
    if filters:
        yield from _select_filters(filters)
    validator = next((step for name, step in _VALIDATORS.items() if name in (*names, *later)), None)
    for name, step in TRANSFORMATIONS.items():
        if name in names:
            yield name, Compress(validator.select_valid) if validator and step is COMPRESS else step


def _select_filters(filters: LineFilters) -> Iterator[tuple[str, Transformation]]:
    if filters.exclusions:
        yield EXCLUSIONS, Exclusions(filters.exclusions)
    if filters.domain_exclusions:
        from sluice.core.filters.patterns.domain_patterns import DomainExclusions  # noqa: PLC0415 - few lists have them

        yield DOMAIN_EXCLUSIONS, DomainExclusions(filters.domain_exclusions)
    if filters.inclusions:
        yield INCLUSIONS, Inclusions(filters.inclusions)
    if filters.domain_inclusions:
        from sluice.core.filters.patterns.domain_patterns import DomainInclusions  # noqa: PLC0415 - few lists have them

        yield DOMAIN_INCLUSIONS, DomainInclusions(filters.domain_inclusions)
