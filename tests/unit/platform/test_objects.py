"""Durable Objects called by name."""

import pytest

from fakes.objects import FakeObjects
from sluice.core.errors import ConfigError, Conflict
from sluice.platform.durable_objects import DurableObjects


class Counter:
    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0

    async def add(self, by: int) -> dict[str, object]:
        self.count += by
        return {"name": self.name, "count": self.count}

    async def refuse(self) -> None:
        raise Conflict("taken: already")


async def test_one_object_per_name():
    """The same name is the same object, another name another."""
    objects = DurableObjects(FakeObjects(Counter))
    await objects.get("a").add(1)
    assert await objects.get("a").add(2) == {"name": "a", "count": 3}
    assert await objects.get("b").add(2) == {"name": "b", "count": 2}


async def test_error_keeps_its_kind():
    """A SluiceError raised in the object is raised at the caller with its type and message."""
    with pytest.raises(Conflict, match=r"^taken: already$"):
        await DurableObjects(FakeObjects(Counter)).get("a").refuse()


async def test_missing_method_is_a_mistake_of_the_operator():
    """A method the object does not have means another version is deployed, not an outage."""
    with pytest.raises(ConfigError, match="nothing of object 'a'"):
        await DurableObjects(FakeObjects(Counter)).get("a").nothing()


async def test_tuple_cannot_cross():
    """An argument that cannot be sent fails at the caller."""
    with pytest.raises(TypeError, match="tuple"):
        await DurableObjects(FakeObjects(Counter)).get("a").add((1,))
