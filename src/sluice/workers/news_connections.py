"""How the three news Workers reach their namespaces and objects, and worker-api."""

from typing import Any, Final, TypeVar

from sluice.core.remote import connect
from sluice.platform.bindings import LazyBinding, require_binding
from sluice.platform.durable_objects import DurableObjects, ObjectStub

Calls = TypeVar("Calls")

ARTICLES: Final = "CRYPTO_NEWS_CACHE"
SNAPSHOTS: Final = "NEWS_SNAPSHOT"
# Of each class there is one object.
OBJECT: Final = "news"


def connect_object(env: Any, binding: str, calls: type[Calls]) -> Calls:
    return connect(calls, DurableObjects(LazyBinding(env, binding)).send_to(OBJECT))


def connect_news_api(env: Any) -> ObjectStub:
    """Return the calls of worker-api itself: the cache before it can be purged only from there."""
    return ObjectStub(lambda: require_binding(env, "NEWS_API"), "worker-api")
