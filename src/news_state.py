"""The Durable Object of the news service. worker-api owns it; all three Workers are bound to it."""

from typing import Any

from workers import DurableObject

from sluice.core.remote import Message, answer_calls
from sluice.services.news.state.remote_state import RemoteNewsState

__all__ = ["NewsState"]


class NewsState(DurableObject):  # type: ignore[misc]  # the SDK has no types
    """The one state object of the news service: what is served, and what must be exact."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        # Requests of readers need none of it.
        from sluice.workers.news_state import open_news_state  # noqa: PLC0415 - rare

        self.state = open_news_state(ctx, env)

    async def call(self, name: str, message: Message) -> Message:
        return await answer_calls(RemoteNewsState)(self.state, name, message)

    async def alarm(self) -> None:
        await self.state.handle_alarm()

    async def ping(self) -> bool:
        """Return whether the object's database answers."""
        return self.state.rows.changes >= 0
