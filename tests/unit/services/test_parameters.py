"""Each parameter that a route declares is read by its handler, and each one that is read is declared."""

import ast
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest

from sluice import services
from sluice.web.operations import Operation
from sluice.web.parameters import Parameter, Query


def find_query(value: object) -> Query | None:
    if isinstance(value, Operation):
        return value.query
    return value if isinstance(value, Query) else None


@dataclass(frozen=True)
class Module:
    """The queries that a module reads, and the parameters that it looks up in them; all by their names in the module."""

    queries: dict[str, Query]
    parameters: dict[str, Parameter[Any]]

    @classmethod
    def parse(cls, module: ModuleType, source: str | None = None) -> Self:
        source = source or Path(str(module.__file__)).read_text(encoding="utf-8")
        names = vars(module)
        queries, parameters = {}, {}
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="read")) if name in names:
                    if query := find_query(names[name]):
                        queries[name] = query
                case ast.Subscript(slice=ast.Name(id=name)) if isinstance(names.get(name), Parameter):
                    parameters[name] = names[name]
        return cls(queries, parameters)

    def list_mistakes(self) -> Iterator[str]:
        looked_up = list(self.parameters.values())
        declared = [parameter for query in self.queries.values() for parameter in query.parameters]
        for name, query in self.queries.items():
            yield from (f"{name} declares {each.name}: unread" for each in query.parameters if each not in looked_up)
        yield from (f"{name} is read: undeclared" for name, each in self.parameters.items() if each not in declared)


def load_modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(services.__path__, f"{services.__name__}.")
    return [import_module(each.name) for each in found if not each.ispkg]


MODULES = {module.__name__: module for module in load_modules()}


def test_every_parameter_is_read_and_declared():
    """In each module the queries that are read and the parameters that are looked up are the same."""
    mistakes = {name: list(Module.parse(module).list_mistakes()) for name, module in MODULES.items()}
    assert {name: found for name, found in mistakes.items() if found} == {}


def test_every_query_is_read():
    """No operation declares a query that no handler reads."""
    read = {id(query) for module in MODULES.values() for query in Module.parse(module).queries.values()}
    operations = {
        value.name: value
        for module in MODULES.values()
        for value in vars(module).values()
        if isinstance(value, Operation)
    }
    with_query = [each for each in operations.values() if each.query]
    assert len(with_query) > 10
    assert [each.name for each in with_query if id(each.query) not in read] == []


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [
        ("query[FROM], query[TO]", "query[FROM], 0", "COMPARE_VERSIONS declares to: unread"),
        ("COMPARE_VERSIONS.read(request)", "PUT_LIST.read(request)", "FROM is read: undeclared"),
    ],
)
def test_a_forgotten_side_is_found(old: str, new: str, mistake: str):
    """The check sees a declared parameter that is not read, and one that is read of another query."""
    module = MODULES["sluice.services.compiler.http.lists"]
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert source.count(old) == 1
    assert mistake in Module.parse(module, source.replace(old, new)).list_mistakes()
