"""When Workers AI is asked: not while it keeps failing, and not beyond the budget of the day."""

from dataclasses import dataclass, replace
from typing import Final, Self

from sluice.core.news.ai.ai_failures import AiFault
from sluice.core.waits import is_waiting

FAILURES_TO_OPEN: Final = 3
PASSING_OPEN_MS: Final = 10 * 60_000
PERMANENT_OPEN_MS: Final = 6 * 3_600_000  # until the operator has chosen another model, or the platform a later date
_DAY_MS: Final = 24 * 3_600_000
# Neurons for a million tokens of input and output (developers.cloudflare.com/workers-ai/platform/pricing, November 2026).
_RATES: Final = {
    "@cf/google/gemma-4-26b-a4b-it": (9_091, 27_273),
    "@cf/zai-org/glm-4.7-flash": (5_455, 36_364),
    "@cf/meta/llama-3.2-1b-instruct": (2_457, 18_252),
    "@cf/meta/llama-3.2-3b-instruct": (4_625, 30_475),
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast": (26_668, 204_805),
}
_DEAREST: Final = (26_668, 204_805)  # for a model without a known price


@dataclass(frozen=True, slots=True)
class AiBreaker:
    """Opens after three failures in a row, or at once where another try cannot help; then one try closes it or not."""

    failures: int = 0
    open_until_ms: int = 0
    reason: str = ""

    def is_open(self, now_ms: int) -> bool:
        return is_waiting(self.open_until_ms, now_ms, _DAY_MS)

    @property
    def is_tripped(self) -> bool:
        """Whether a failure now means that the fallback is used at once."""
        return self.open_until_ms > 0

    def after_failure(self, fault: AiFault, reason: str, now_ms: int) -> Self:
        failures = self.failures + 1
        match fault:
            case AiFault.REQUEST:
                return self
            case AiFault.PERMANENT:
                return replace(self, failures=failures, open_until_ms=now_ms + PERMANENT_OPEN_MS, reason=reason)
            case AiFault.QUOTA:
                midnight_ms = now_ms - now_ms % _DAY_MS + _DAY_MS
                return replace(self, failures=failures, open_until_ms=midnight_ms, reason=reason)
            case AiFault.PASSING:
                opens = self.is_tripped or failures >= FAILURES_TO_OPEN
                open_until_ms = now_ms + PASSING_OPEN_MS if opens else 0
                return replace(self, failures=failures, open_until_ms=open_until_ms, reason=reason)

    def after_success(self) -> Self:
        return type(self)()


def count_neurons(model: str, input_tokens: int, output_tokens: int) -> float:
    """Return the neurons of one answer; a model without a known price counts as the dearest."""
    for_input, for_output = _RATES.get(model, _DEAREST)
    return (input_tokens * for_input + output_tokens * for_output) / 1_000_000
