"""Workers AI that fails: who answers instead, how many runs that costs, and what is counted."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fakes.binding import Crash, JsError
from sluice.core.errors import Unavailable
from sluice.core.news.ai.ai_failures import AiFault, ModelFailed, find_fault
from sluice.core.news.ai.breaker import PASSING_OPEN_MS, PERMANENT_OPEN_MS, AiBreaker, count_neurons
from sluice.core.news.analysts.analyst import UnusableAnswer
from sluice.core.news.analysts.embedded import EmbeddedAnalyst
from sluice.core.variables import Variables
from sluice.platform.ai import AI
from sluice.services.news.process.answers import FixedAnalyst
from sluice.services.news.process.workers_ai import parse_sentiment, parse_summary
from sluice.services.news.settings import DEFAULT_MODEL, ProcessorSettings
from sluice.services.news.state.second_looks import MAX_ATTEMPTS
from unit.services.news.harness import NewsHarness

NAMES = [f"a{n}" for n in range(20)]
SUMMARY = {"matches": True, "summary": "Bitcoin rose on Monday, and the analysts were glad of it."}


def say(answer: object) -> Callable[[], Any]:
    return lambda: answer


def fail(message: str) -> Callable[[], Any]:
    def respond() -> Any:
        raise JsError(message, "AiError")

    return respond


class FakeAi:
    """The binding: `respond` answers every call, or raises."""

    def __init__(self, respond: Callable[[], Any]) -> None:
        self.respond = respond
        self.calls = 0

    async def run(self, _model: str, inputs: dict[str, Any]) -> Any:
        self.calls += 1
        answer = self.respond()
        if answer is None:
            await asyncio.sleep(3600)
        if answer == "good":
            is_summary = "summary" in inputs["response_format"]["json_schema"]["properties"]
            return {"choices": [{"message": {"content": SUMMARY if is_summary else {"sentiment": "negative"}}}]}
        return answer


def bind_ai(news: NewsHarness, ai: FakeAi, **settings: Any) -> None:
    news.run_model, news.analyst = AI(ai, timeout_s=0).run, EmbeddedAnalyst()
    news.settings = replace(news.settings, **settings)


async def count_runs(news: NewsHarness) -> int:
    await news.put_pending(*NAMES)
    return await news.run_until_idle(400)


FAILURES = {
    "removed": fail("5028: This model was deprecated on 2026-05-30."),
    "plan": fail("5035: This model needs a paid plan"),
    "quota": fail("4006: you have used up your daily free allocation of 10,000 neurons"),
    "old quota": fail("3036: daily free allocation"),
    "busy": fail("3040: Capacity temporarily exceeded"),
    "unknown": fail("7777: something new"),
    "no code": fail("Network connection lost."),
    "silent": say(None),
    "nonsense": say({"response": "I am a language model."}),
    "null": say({"choices": [{"message": {"content": None, "reasoning_content": "Let me think"}}]}),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_twenty_articles_with_an_ai_that_always_fails(name: str):
    """They take at most five runs more than without an AI, and each names its analyst and waits for a second look."""
    undisturbed = await count_runs(NewsHarness())
    news = NewsHarness(retry_delay_s=60)
    ai = FakeAi(FAILURES[name])
    bind_ai(news, ai)
    assert await count_runs(news) - undisturbed <= 5
    for each in NAMES:
        stored = news.stored_article(each)
        assert (stored["sentimentBy"], stored["needsSummary"], bool(stored["secondLook"])) == ("embedded", False, True)
    assert ai.calls <= 12


@pytest.mark.parametrize("name", ["removed", "plan", "quota", "old quota"])
async def test_failure_that_no_retry_mends(name: str):
    """The embedded analyst speaks in the same run, and the AI is asked once."""
    news = NewsHarness()
    ai = FakeAi(FAILURES[name])
    bind_ai(news, ai)
    await news.put_pending("a")
    assert await news.run_until_idle() == 4
    assert ai.calls == 1


async def test_recovery():
    """When the AI answers again, it is used again."""
    news = NewsHarness()
    ai = FakeAi(FAILURES["busy"])
    bind_ai(news, ai)
    await news.put_pending("a")
    await news.run_until_idle()
    assert news.stored_article("a")["sentimentBy"] == "embedded"
    ai.respond = say("good")
    news.clock.advance(PASSING_OPEN_MS / 1000)
    await news.put_pending("a", "b")
    await news.run_until_idle()
    stored = news.stored_article("b")
    assert (stored["sentiment"], stored["sentimentBy"], stored["summaryBy"]) == ("negative", "workers-ai", "workers-ai")
    assert "secondLook" not in stored
    assert news.state.ai.read_breaker() == AiBreaker()


async def test_budget():
    """Once the neurons of the day are used up, the embedded analyst speaks, until the next day."""
    news = NewsHarness()
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    ai = FakeAi(lambda: {"response": {"sentiment": "negative"} | SUMMARY, "usage": usage})
    bind_ai(news, ai, ai_daily_neurons=20)
    await news.put_pending("a", "b")
    await news.run_until_idle()
    day = news.state.ai.read_day(int(news.clock.now() * 1000))
    assert (day["answers"], round(day["neurons"], 2)) == (2, round(2 * count_neurons(DEFAULT_MODEL, 1000, 100), 2))
    assert news.stored_article("b")["secondLook"] == "the budget of 20 neurons a day is used up"
    news.clock.advance(24 * 3600)
    await news.put_pending("a", "b", "c")
    await news.run_minute()
    assert news.stored_article("c")["sentimentBy"] == "workers-ai"


async def test_second_look():
    """When the AI answers again, it judges one article of the embedded analyst in each idle run, at the documented cost."""
    news = NewsHarness()
    ai = FakeAi(FAILURES["busy"])
    bind_ai(news, ai)
    await news.put_pending("a", "b")
    await news.run_until_idle()
    before = news.stored_article("a")
    assert (before["sentimentBy"], before["aiSummary"]) == ("embedded", "")
    assert (await news.state.describe())["secondLooks"] == 2
    ai.respond = say("good")
    news.clock.advance(PASSING_OPEN_MS / 1000)
    news.kv.operations.clear()
    assert await news.run_minute() == "ok"
    assert len(news.kv.operations) <= 5
    assert [key for name, key in news.kv.operations if name == "put"] in (["article:a"], ["article:b"])
    assert await news.run_minute() == "ok"
    assert await news.run_minute() == "idle"
    for name in ("a", "b"):
        stored = news.stored_article(name)
        assert (stored["sentiment"], stored["sentimentBy"], stored["summaryBy"]) == ("negative", *["workers-ai"] * 2)
        assert not stored.keys() & {"secondLook", "sentimentScore", "extractedContent"}
        assert (stored["aiSummary"], stored["needsSummary"]) == (SUMMARY["summary"], False)
    assert (await news.state.describe())["secondLooks"] == 0
    assert (await news.state.read_snapshot()).count("workers-ai") == 4


async def test_second_look_that_fails():
    """Nothing changes while the AI fails, and no attempt is lost; new articles come first."""
    news = NewsHarness()
    ai = FakeAi(FAILURES["busy"])
    bind_ai(news, ai)
    await news.put_pending("a")
    await news.run_until_idle()
    before = news.stored_article("a")
    for _ in range(2 * MAX_ATTEMPTS):
        news.clock.advance(PASSING_OPEN_MS / 1000)
        assert await news.run_minute() == "idle"
    assert news.stored_article("a") == before
    ai.respond = say("good")
    news.clock.advance(PASSING_OPEN_MS / 1000)
    await news.put_pending("a", "b")
    await news.run_minute()
    assert (news.stored_article("a"), news.stored_article("b")["sentimentBy"]) == (before, "workers-ai")
    await news.run_until_idle()
    assert news.stored_article("a")["sentimentBy"] == "workers-ai"


async def test_second_look_that_crashes():
    """An article that crashes the run is not looked at forever."""
    news = NewsHarness()
    bind_ai(news, FakeAi(FAILURES["removed"]))
    await news.put_pending("a")
    await news.run_until_idle()
    news.clock.advance(PERMANENT_OPEN_MS / 1000)

    def crash() -> Any:
        raise Crash

    ai = FakeAi(crash)
    bind_ai(news, ai)
    outcomes = [await news.run_minute() for _ in range(MAX_ATTEMPTS + 2)]
    assert outcomes == ["crashed"] * MAX_ATTEMPTS + ["idle"] * 2
    assert ai.calls == MAX_ATTEMPTS


async def test_second_look_without_the_state_object(monkeypatch: pytest.MonkeyPatch):
    """A run without work stays one when the state object cannot be reached."""
    news = NewsHarness()
    bind_ai(news, FakeAi(say("good")))

    async def refuse(*_args: object, **_named: object) -> str:
        raise Unavailable("not now")

    monkeypatch.setattr(type(news.state), "claim_second_look", refuse)
    assert await news.run_minute() == "idle"
    assert "second_look.unclaimed" in [name for name, _ in news.log.events]


async def test_second_look_keeps_to_the_budget():
    """What is left of the day's neurons is for it too, and no more."""
    news = NewsHarness()
    bind_ai(news, FakeAi(FAILURES["removed"]))
    await news.put_pending("a")
    await news.run_until_idle()
    news.clock.advance(PERMANENT_OPEN_MS / 1000)
    ai = FakeAi(say("good"))
    bind_ai(news, ai, ai_daily_neurons=0)
    assert await news.run_minute() == "idle"
    assert ai.calls == 0


def test_breaker():
    """Three passing failures in a row open it; a success closes it; a failure of the one try opens it again."""
    breaker = AiBreaker()
    for _ in range(2):
        breaker = breaker.after_failure(AiFault.PASSING, "busy", 1000)
        assert not breaker.is_tripped
    breaker = breaker.after_failure(AiFault.PASSING, "busy", 1000)
    assert breaker.is_open(1000 + PASSING_OPEN_MS - 1)
    assert not breaker.is_open(1000 + PASSING_OPEN_MS)
    again = breaker.after_failure(AiFault.PASSING, "busy", 1000 + PASSING_OPEN_MS)
    assert again.is_open(1001 + PASSING_OPEN_MS)
    assert again.after_success() == AiBreaker()
    assert AiBreaker().after_failure(AiFault.REQUEST, "too long", 0) == AiBreaker()


def test_quota_lasts_until_midnight():
    """The allowance of the day returns at 00:00 UTC."""
    noon_ms = 20_000 * 24 * 3_600_000 + 12 * 3_600_000
    breaker = AiBreaker().after_failure(AiFault.QUOTA, "used up", noon_ms)
    assert breaker.open_until_ms == 20_001 * 24 * 3_600_000


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (5028, AiFault.PERMANENT),
        (5035, AiFault.PERMANENT),
        (4006, AiFault.QUOTA),
        (3036, AiFault.QUOTA),
        (3040, AiFault.PASSING),
        (3006, AiFault.REQUEST),
        (7009, AiFault.PASSING),
        (None, AiFault.PASSING),
    ],
)
def test_faults(code: int | None, fault: AiFault):
    """Failures are told apart by their code; an unknown one may pass."""
    assert find_fault(ModelFailed("x", code)) is fault


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("AiError: 5028: This model was deprecated", 5028),
        ("3040: Capacity temporarily exceeded", 3040),
        ("PythonError: Traceback\n  File 'x', line 12\nRuntimeError: 4006: daily free allocation", 4006),
        ("Network connection lost.", None),
    ],
)
async def test_code_of_an_error(message: str, code: int | None):
    """The code is read wherever the platform puts it."""
    with pytest.raises(ModelFailed) as failure:
        await AI(FakeAi(fail(message)), timeout_s=1).run("model", {})
    assert failure.value.code == code


@pytest.mark.parametrize("wrap", [lambda a: {"response": a}, lambda a: {"choices": [{"message": {"content": a}}]}])
def test_both_shapes_of_answers(wrap: Callable[[object], object]):
    """Older models answer with `response`, newer ones with `choices`; as an object or as its text."""
    assert parse_sentiment(wrap({"sentiment": "positive"})) == "positive"
    assert parse_sentiment(wrap('{"sentiment": "positive"}')) == "positive"
    assert parse_summary(wrap(SUMMARY)) == SUMMARY["summary"]
    with pytest.raises(UnusableAnswer):
        parse_sentiment(wrap(None))


def test_choice_of_the_speaker():
    """Without a binding the embedded analyst speaks; the model is that of AI_MODEL."""
    news = NewsHarness()
    news.analyst = EmbeddedAnalyst()
    assert news.processor_service().stages.answer_source == FixedAnalyst(news.analyst)
    bind_ai(news, FakeAi(say("good")))
    news.settings = ProcessorSettings.read(Variables({"AI_MODEL": "@cf/x", "AI_DAILY_NEURONS": "5"}.get))
    answer_source: Any = news.processor_service().stages.answer_source
    assert (answer_source.ai.model, answer_source.daily_neurons) == ("@cf/x", 5)
