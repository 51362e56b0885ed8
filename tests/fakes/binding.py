"""What all fake bindings share: JavaScript errors, a record of operations, and a crash at any operation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class JsError(Exception):
    """Looks like Pyodide's JsException to the adapters."""

    def __init__(self, message: str, name: str = "Error") -> None:
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


class Crash(BaseException):
    """The isolate has crashed; no `except Exception` catches this."""


@dataclass(frozen=True, slots=True)
class _CrashPoint:
    operation: int
    before: bool


class Fake:
    """Records every operation as (name, subject). While there is a `failure`, every operation raises it."""

    def __init__(self) -> None:
        self.operations: list[tuple[str, str]] = []
        self.failure: JsError | None = None
        self._crash: _CrashPoint | None = None

    def fail_at(self, n: int, *, before: bool) -> None:
        """Crash at the n-th operation from now, before it has any effect or after it has taken effect."""
        self._crash = _CrashPoint(len(self.operations) + n, before)

    @contextmanager
    def operation(self, name: str, subject: str = "") -> Iterator[None]:
        self.operations.append((name, subject))
        if self.failure:
            raise self.failure
        crash = self._crash
        is_due = crash is not None and crash.operation == len(self.operations)
        if is_due:
            self._crash = None
        if crash and is_due and crash.before:
            raise Crash(f"before operation {crash.operation}: {name} {subject}")
        yield
        if crash and is_due:
            raise Crash(f"after operation {crash.operation}: {name} {subject}")


def check_sendable(value: object) -> None:
    """Raise as the SDK does for a value that cannot be converted to JavaScript, at any depth."""
    if isinstance(value, tuple | bytearray):
        raise TypeError(f"{type(value)} cannot be sent over RPC.")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53 - 1:
        raise JsError("Do not know how to serialize a BigInt", "TypeError")
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        check_sendable(item)
