"""Durable Objects whose calls go through the same messages as in the Worker."""

from collections.abc import Callable
from typing import Generic, TypeVar

from fakes.objects import FakeObjects
from sluice.core.remote import Message, answer_calls, connect
from sluice.platform.durable_objects import DurableObjects

Calls = TypeVar("Calls")


class Answering(Generic[Calls]):
    """An object that answers the calls of a class, as its entry module does."""

    def __init__(self, calls: type[Calls], handlers: Calls) -> None:
        self.calls = calls
        self.handlers = handlers

    async def call(self, name: str, message: Message) -> Message:
        return await answer_calls(self.calls)(self.handlers, name, message)


def connect_named(calls: type[Calls], objects: FakeObjects) -> Callable[[str], Calls]:
    """Return what returns the caller's side of the object with a name."""
    return lambda name: connect(calls, DurableObjects(objects).send_to(name))
