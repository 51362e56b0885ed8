"""How the three news Workers reach the state object and worker-api."""

from typing import Any, Final

from sluice.platform.bindings import require_binding
from sluice.platform.durable_objects import ObjectStub
from sluice.services.news.state.calls import StateCalls

STATE_OBJECT: Final = "news"
SNAPSHOT_BINDING: Final = "NEWS_SNAPSHOT"


def connect_news_state(env: Any) -> StateCalls:
    return StateCalls(ObjectStub(lambda: require_binding(env, "NEWS_STATE").getByName(STATE_OBJECT), STATE_OBJECT))


def connect_news_api(env: Any) -> ObjectStub:
    """worker-api itself: the cache before it can be purged only from there."""
    return ObjectStub(lambda: require_binding(env, "NEWS_API"), "worker-api")
