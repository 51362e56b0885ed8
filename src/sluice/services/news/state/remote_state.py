"""The state object as its callers see it: what it is asked and what it answers, in the form in which that travels and is stored."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, Protocol, TypedDict

from sluice.core.doc import Doc
from sluice.core.news.article import Article, Marks, Milliseconds
from sluice.services.news.storage.article_index import ArticleIndex

Outcome = Literal["read", "unchanged", "postponed", "failed"]


class StoredFeed(TypedDict):
    """What the last response of a feed said."""

    etag: str
    lastModified: str
    retryAtMs: int


class PastUpdates(NamedTuple):
    """What earlier runs of the updater have left: the feeds, what is known, and the list before checkpoints, if any."""

    feeds: Mapping[str, StoredFeed]
    remembered: Sequence[Marks]
    legacy: str


class SourceReport(TypedDict):
    """How a run has read a source; the error is empty unless it failed."""

    name: str
    outcome: Outcome
    items: int
    error: str


class UpdateReport(NamedTuple):
    """What a run of the updater has found: how each source was read, and what it lists, by its name."""

    sources: Sequence[SourceReport]
    feeds: Mapping[str, StoredFeed]
    listed: Mapping[str, Sequence[Marks]] = {}


class SourceState(TypedDict):
    name: str
    lastSuccess: Milliseconds | None
    lastError: str | None
    lastErrorAt: Milliseconds | None
    items: Annotated[int, Doc("Articles when it was last read.")]
    conditionalHits: Annotated[int, Doc("How often it answered that nothing has changed.")]
    failures: Annotated[int, Doc("Failed runs in a row.")]


class UpdaterState(TypedDict):
    startedAt: Milliseconds
    finishedAt: Milliseconds
    sources: list[SourceState]


class AiDay(TypedDict):
    neurons: float
    answers: int
    failures: int


class AiState(TypedDict):
    isOpen: Annotated[bool, Doc("Whether the embedded analyst serves because Workers AI keeps failing.")]
    reason: str | None
    today: AiDay


class StateReport(TypedDict):
    """What the status of the service needs."""

    updater: UpdaterState
    ai: AiState
    waitingDeliveries: int
    secondLooks: int


class HubRequest(TypedDict):
    """What a subscriber asks for; it counts only after its callback has confirmed it."""

    mode: Literal["subscribe", "unsubscribe"]
    topic: str
    callback: str
    lease_s: int
    secret: str


class ListedWebhook(TypedDict):
    id: str
    url: str
    created_ms: Milliseconds


class CreatedWebhook(ListedWebhook):
    secret: Annotated[str, Doc("Signs each message (Standard Webhooks); it is shown only here.")]


class RemoteNewsState(Protocol):
    """The calls of the state object. `NewsState` answers these calls."""

    async def publish(self, article: Article, index: ArticleIndex) -> None:
        """Store an article as it is now, and the index that it belongs to."""

    async def refresh(self) -> bool:
        """Write the snapshot if anything has changed; return whether it did."""

    async def read_snapshot(self) -> str:
        """Return the snapshot itself, for readers whose KV does not show it yet."""

    async def find_legacy(self) -> str:
        """Identify the list of the architecture before checkpoints; "" if there is none."""

    async def explain_ai_refusal(self, daily_neurons: int) -> str:
        """Return why Workers AI must not be asked now; "" if it may be."""

    async def record_ai_answer(self, neurons: float) -> None:
        """Count an answer and its cost."""

    async def record_ai_failure(self, fault: str, reason: str) -> bool:
        """Count a failure, an AiFault; return whether to use the embedded analyst at once."""

    async def claim_second_look(self, daily_neurons: int) -> str:
        """Return the id of an article that waits for Workers AI; "" if there is none, or AI must not be asked now."""

    async def give_back_second_look(self, article_id: str) -> None:
        """Take back the claim, because Workers AI did not answer: the attempt does not count."""

    async def begin_update(self) -> PastUpdates:
        """Note that a run of the updater starts; return what it needs to know."""

    async def finish_update(self, report: UpdateReport) -> None:
        """Store the report of a run that ends, alert, and read what was missed."""

    async def describe(self) -> StateReport:
        """Return what the status of the service needs."""

    async def accept_hub_request(self, request: HubRequest) -> None:
        """Plan to ask the callback; raise TooManyRequests."""

    async def add_webhook(self, url: str) -> CreatedWebhook:
        """Add a webhook with a secret of its own; raise TooManyRequests."""

    async def list_webhooks(self) -> list[ListedWebhook]:
        """Return the webhooks without their secrets, which are shown once."""

    async def remove_webhook(self, webhook_id: str) -> bool:
        """Return whether there was one."""
