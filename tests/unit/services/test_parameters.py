"""Each parameter that a route declares is read by its handler, and each one that is read is declared by it."""

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

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NO_QUERY = Query()


def find_query(value: object) -> Query | None:
    if isinstance(value, Operation):
        return value.query or NO_QUERY
    return value if isinstance(value, Query) else None


@dataclass(frozen=True)
class Function:
    """What one function reads and looks up, by the names in its module."""

    name: str
    scope: Scope
    described: str | None
    nodes: list[ast.AST]

    @property
    def calls(self) -> Iterator[tuple[str, list[str]]]:
        """The functions that it calls, with the names that it passes."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield ast.unparse(node.func), [ast.unparse(each) for each in node.args]

    @property
    def read(self) -> set[str]:
        return {called.removesuffix(".read") for called, _ in self.calls if called.endswith(".read")}

    @property
    def looked_up(self) -> set[str]:
        return {ast.unparse(node.slice) for node in self.nodes if isinstance(node, ast.Subscript)}


def list_functions(tree: ast.Module) -> Iterator[Function]:
    """Return all functions, each with its own nodes alone; those of a class are named after it."""

    def visit(node: ast.AST, owner: str, own: list[ast.AST]) -> Iterator[Function]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Scope):
                name = "" if isinstance(child, ast.Lambda) else owner + child.name
                decorators = [] if isinstance(child, ast.Lambda) else map(ast.unparse, child.decorator_list)
                described = next((each[9:-1] for each in decorators if each.startswith("describe(")), None)
                function = Function(name, child, described, [])
                yield function
                yield from visit(child, "", function.nodes)
            else:
                own.append(child)
                yield from visit(child, f"{child.name}." if isinstance(child, ast.ClassDef) else owner, own)

    return visit(tree, "", [])


@dataclass(frozen=True)
class Module:
    """The functions of a module; each reads queries, or is given what another one has read."""

    names: dict[str, Any]
    functions: list[Function]

    @classmethod
    def parse(cls, module: ModuleType, source: str | None = None) -> Self:
        source = source or Path(str(module.__file__)).read_text(encoding="utf-8")
        return cls(vars(module), list(list_functions(ast.parse(source))))

    def find_queries(self, function: Function) -> dict[str, Query]:
        """Return what a function reads by name, or as an argument that its callers name."""
        names = set(function.read)
        arguments = [each.arg for each in function.scope.args.args]
        for at in (at for at, name in enumerate(arguments) if name in function.read):
            callers = [passed for each in self.functions for called, passed in each.calls if called == function.name]
            names |= {passed[at] for passed in callers}
        found = {name: find_query(self.names.get(name)) for name in names}
        return {name: query for name, query in found.items() if query}

    def find_parameters(self, function: Function) -> dict[str, Parameter[Any]]:
        """Return what a function looks up, also by those that it hands its values to."""
        called = {name for name, _ in function.calls}
        helpers = [each for each in self.functions if each.name in called and not self.find_queries(each)]
        names = function.looked_up.union(*(each.looked_up for each in helpers))
        return {name: self.names[name] for name in names if isinstance(self.names.get(name), Parameter)}

    @property
    def queries(self) -> list[Query]:
        return [query for function in self.functions for query in self.find_queries(function).values()]

    def list_mistakes(self) -> Iterator[str]:
        for function in self.functions:
            parameters, queries = self.find_parameters(function), self.find_queries(function)
            for name, query in queries.items():
                unread = [each.name for each in query.parameters if each not in parameters.values()]
                yield from (f"{name} declares {each}: unread" for each in unread)
                others = [each for each, value in parameters.items() if value not in query.parameters]
                yield from (f"{each} is read: undeclared" for each in others)
            yield from self._list_strangers(function)

    def _list_strangers(self, function: Function) -> Iterator[str]:
        """Name the operations and queries of others in a handler."""
        own = self.names.get(function.described or "")
        if own is None:
            return
        for name in {node.id for node in function.nodes if isinstance(node, ast.Name)}:
            value = self.names.get(name)
            if isinstance(value, Operation | Query) and value not in (own, own.query):
                yield f"{function.name} uses {name}: it is another operation's"


def load_modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(services.__path__, f"{services.__name__}.")
    return [import_module(each.name) for each in found if not each.ispkg]


MODULES = {module.__name__: module for module in load_modules()}


def test_every_parameter_is_read_and_declared():
    """In each function the queries that are read and the parameters that are looked up are the same."""
    mistakes = {name: list(Module.parse(module).list_mistakes()) for name, module in MODULES.items()}
    assert {name: found for name, found in mistakes.items() if found} == {}


def test_every_query_is_read():
    """No operation declares a query that no handler reads."""
    read = {id(query) for module in MODULES.values() for query in Module.parse(module).queries}
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
    ("name", "old", "new", "mistake"),
    [
        ("compiler.http.lists", "query[FROM], query[TO]", "query[FROM], 0", "COMPARE_VERSIONS declares to: unread"),
        ("compiler.http.lists", "COMPARE_VERSIONS.read(request)", "PUT_LIST.read(request)", "FROM is read: undeclared"),
        (
            "compiler.http.lists",
            "is_preview = PUT_LIST",
            "is_preview = REBUILD_LIST",
            "DRY_RUN is read: undeclared",
        ),
        (
            "preload.http.listings",
            'load(LIST_LOG, request, "preload_log"',
            'load(LIST_PAGES, request, "preload_log"',
            "list_log uses LIST_PAGES: it is another operation's",
        ),
        ("news.serve.query", "tag=given[TAG]", "tag=()", "LISTING declares tag: unread"),
    ],
)
def test_a_forgotten_side_is_found(name: str, old: str, new: str, mistake: str):
    """The check sees a declared parameter that is not read, and one that is read of another query."""
    module = MODULES[f"sluice.services.{name}"]
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert source.count(old) == 1
    assert mistake in Module.parse(module, source.replace(old, new)).list_mistakes()


# What a page links to has the parameters of the request, whatever they are; without any it is a stored reply.
READS_ALL = {"sluice.services.news.http.api"}


def test_no_handler_reads_around_its_declaration():
    """The query of a request is read by what the document shows, and nowhere else."""
    reading = {
        name
        for name, module in MODULES.items()
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node).endswith("request.query")
    }
    readers = {name for name, module in MODULES.items() if "QueryReader" in vars(module)}
    assert (reading, readers) == (READS_ALL, set())
