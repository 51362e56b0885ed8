"""The ports of adblock-compiler over fakes; a port that a test does not give fails when it is used."""

from dataclasses import fields
from typing import Any, NoReturn

from fakes.objects import FakeObjects
from sluice.core.variables import Variables
from sluice.platform.durable_objects import DurableObjects
from sluice.services.compiler.ports import CompilerPorts, SendTo


class Missing:
    """Stands for a port that was not given."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        raise AssertionError(f"the port {self._name} was not given, and {attribute} of it is used")

    def __call__(self, *_arguments: object, **_named: object) -> NoReturn:
        raise AssertionError(f"the port {self._name} was not given, and it is called")


def make_ports(variables: dict[str, str] | None = None, **given: Any) -> CompilerPorts:
    missing = {field.name: Missing(field.name) for field in fields(CompilerPorts)}
    return CompilerPorts(**{**missing, "variables": Variables((variables or {}).get), "draw": lambda: 0.0, **given})


def send_to(objects: FakeObjects) -> SendTo:
    return DurableObjects(objects).send_to
