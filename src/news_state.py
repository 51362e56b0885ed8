"""The Durable Object of the news service. worker-api owns it; all three Workers are bound to it."""

from typing import Any

from workers import DurableObject

from sluice.services.news.state.calls import answer_call

__all__ = ["NewsState"]


class NewsState(DurableObject):  # type: ignore[misc]  # the SDK has no types
    """What is served, and what must be exact; there is one."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        # Requests of readers need none of it.
        from sluice.workers.news_state import open_news_state  # noqa: PLC0415 - rare

        self.state = open_news_state(ctx, env)

    async def call(self, name: str, arguments: list[Any]) -> Any:
        return await answer_call(self.state, name, arguments)

    async def alarm(self) -> None:
        await self.state.handle_alarm()

    async def ping(self) -> bool:
        """Whether the object's database answers."""
        return self.state.rows.changes >= 0
