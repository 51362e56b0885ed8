"""Places of a source where one small edit changes what the code does.

Left out are annotations, decorators, docstrings and what is only logged.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

COMPARISONS: Final = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
WRITES: Final = re.compile(
    r"_?(put|run|execute|delete|set|add|insert|update|remove|discard|clear|write|store|record|release|settle|mark|send|"
    r"ack|retry|append|pop|forget|purge|drop|fail|arm|wake)(_|$)"
)
LOGS: Final = re.compile(r"_?log(ger)?")
SQL: Final = re.compile(
    r"\b(select\s.+\sfrom|insert\s+(or\s+\w+\s+)?into|update\s+\w+\s+set|delete\s+from|where\s.+[=<>]|order\s+by)\b",
    re.IGNORECASE | re.DOTALL,
)
SQL_EDITS: Final = (
    ("sql comparison", re.compile(r"(?i)(?<= )<=?(?= )"), lambda found: "<" if found == "<=" else "<="),
    ("sql comparison", re.compile(r"(?i)(?<= )>=?(?= )"), lambda found: ">" if found == ">=" else ">="),
    (
        "sql comparison",
        re.compile(r"(?i)(?:\b(?:where|and|or|on|when|having)\s+\(?[\w.]+ )=(?= )"),
        lambda found: found[:-1] + "!=",
    ),
    ("sql and/or", re.compile(r"(?i)\band\b"), lambda _: "or"),
    ("sql and/or", re.compile(r"(?i)(?<!insert )(?<!update )(?<!replace )\bor\b"), lambda _: "and"),
    (
        "sql condition",
        re.compile(r"(?i)\b(?:where|and) (?!not\b)[\w.]+ (?:=|<|>|<=|>=|is|is not|!=|<>) [\w.?]+"),
        lambda found: f"{found.partition(' ')[0]} ({found.partition(' ')[2]} or 1)",
    ),
    ("sql order", re.compile(r"(?i)\bdesc\b"), lambda _: "asc"),
    ("sql order", re.compile(r"(?i)\border by [\w.]+(?! desc| asc|[\w.(])"), lambda found: f"{found} desc"),
)
BLOCKS: Final = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the characters from `start` to `end` of a source by `text`."""

    kind: str
    start: int
    end: int
    text: str

    def apply(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]

    def find_line(self, source: str) -> int:
        return source.count("\n", 0, self.start) + 1

    def describe(self, source: str) -> str:
        """Return the changed lines, before and after."""
        start = source.rfind("\n", 0, self.start) + 1
        end = source.find("\n", self.end)
        end = len(source) if end < 0 else end
        changed = source[start : self.start] + self.text + source[self.end : end]
        return f"{_join(source[start:end])} → {_join(changed)}"


def _join(lines: str) -> str:
    return " ".join(lines.split())


def find_edits(source: str) -> list[Edit]:
    """Return all edits of a source, in its order. Few are none after all: `makes_other_program` tells."""
    return _Finder(source).find(ast.parse(source))


def makes_other_program(edit: Edit, source: str) -> bool:
    """Return whether an edit leaves valid Python that is not the same program."""
    try:
        return ast.dump(ast.parse(edit.apply(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


class _Finder:
    """Walks a tree and knows where each of its nodes stands in the text."""

    def __init__(self, source: str) -> None:
        self._source = source
        lines = source.splitlines(keepends=True)
        self._lines = [line.encode() for line in lines]
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))

    def find(self, tree: ast.Module) -> list[Edit]:
        """Return the edits without those that are found twice, in the order of the text."""
        return sorted(set(self._visit(tree)), key=lambda edit: (edit.start, edit.end, edit.kind, edit.text))

    def _visit(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.Expr) and (_is_text(node.value) or _is_log(node.value)):
            return
        if isinstance(node, ast.Constant | ast.JoinedStr) and _is_text(node):
            yield from self._edit_sql(node)
            return
        yield from self._edit_expression(node)
        yield from self._edit_statement(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "type_params", "decorator_list"):
                continue
            children = value if isinstance(value, list) else [value]
            if name in BLOCKS and isinstance(value, list):
                yield from self._edit_block(value)
            for child in children:
                if isinstance(child, ast.AST):
                    yield from self._visit(child)

    def _edit_expression(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Compare():
                yield from self._edit_comparison(node)
            case ast.BoolOp(op=op, values=values):
                old, new = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                for left, right in pairwise(values):
                    yield from self._edit_between("and/or", left, right, old, new)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield self._replace("not", node, f"({self._read(operand)})")
            case ast.Constant(value=bool(value)):
                yield self._replace("constant", node, str(not value))
            case ast.Constant(value=int(value) | float(value)):
                yield self._replace("constant", node, str(value + 1))
                yield self._replace("constant", node, str(value - 1))

    def _edit_statement(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._edit_returns(node)
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                if isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Await):
                    yield self._replace("not", test, f"(not {self._read(test)})")
            case ast.Raise():
                yield self._replace("raise", node, "pass")
            case ast.Expr(value=value) if isinstance(value, ast.Await) or _is_write(value):
                yield self._replace("dropped call", node, "pass")

    def _edit_comparison(self, node: ast.Compare) -> Iterator[Edit]:
        operands = [node.left, *node.comparators]
        for operator, (left, right) in zip(node.ops, pairwise(operands), strict=True):
            yield from self._edit_between("comparison", left, right, *COMPARISONS[type(operator)])

    def _edit_returns(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
        """Exchange True and False, and return None where the signature admits it."""
        admitted = ast.unparse(function.returns) if function.returns else ""
        for node in _walk_function(function):
            match node:
                case ast.Return(value=None) if node is not function.body[-1]:
                    yield self._replace("return", node, "pass")
                case ast.Return(value=ast.Call() | ast.Await() | ast.Name() | ast.Attribute() as value):
                    if admitted == "bool":
                        yield self._replace("return", value, f"(not {self._read(value)})")
                    elif admitted.endswith("| None"):
                        yield self._replace("return", value, "None")

    def _edit_block(self, block: list[ast.stmt]) -> Iterator[Edit]:
        """Exchange two neighbouring awaits, unless the second one needs what the first one names."""
        for first, second in pairwise(block):
            if _is_await(first) and _is_await(second) and not _names_bound(first) & _names_read(second):
                gap = self._source[self._find_end(first) : self._find_start(second)]
                swapped = self._read(second) + gap + self._read(first)
                yield Edit("swapped awaits", self._find_start(first), self._find_end(second), swapped)

    def _edit_sql(self, node: ast.expr) -> Iterator[Edit]:
        start, text = self._find_start(node), self._read(node)
        if not SQL.search(text):
            return
        for kind, pattern, change in SQL_EDITS:
            for found in pattern.finditer(text):
                inside = text.count("{", 0, found.start()) > text.count("}", 0, found.start())
                if not inside and not (found[0].lower() == "and" and _ends_between(text[: found.start()])):
                    yield Edit(kind, start + found.start(), start + found.end(), change(found[0]))

    def _edit_between(self, kind: str, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Edit]:
        """Replace the operator, which has no place of its own, between its operands."""
        start, end = self._find_end(left), self._find_start(right)
        word = re.escape(old).replace(r"\ ", r"\s+")
        if found := re.search(rf"\b{word}\b" if old.isalpha() or " " in old else word, self._source[start:end]):
            yield Edit(kind, start + found.start(), start + found.end(), new)

    def _replace(self, kind: str, node: ast.expr | ast.stmt, text: str) -> Edit:
        return Edit(kind, self._find_start(node), self._find_end(node), text)

    def _read(self, node: ast.expr | ast.stmt) -> str:
        return self._source[self._find_start(node) : self._find_end(node)]

    def _find_start(self, node: ast.expr | ast.stmt) -> int:
        return self._find(node.lineno, node.col_offset)

    def _find_end(self, node: ast.expr | ast.stmt) -> int:
        return self._find(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _find(self, line: int, column: int) -> int:
        """Return the place in the text; the tree counts bytes of UTF-8."""
        return self._starts[line - 1] + len(self._lines[line - 1][:column].decode())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_log(node: ast.expr) -> bool:
    """Return whether this is `log.event(…)` or `self._log.error(…)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    return LOGS.fullmatch(_name(node.func.value)) is not None


def _is_write(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and WRITES.match(_name(node.func)) is not None


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_await(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Await)


def _names_bound(node: ast.stmt) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _names_read(node: ast.stmt) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def _walk_function(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of the functions in it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _walk_function(child)


def _ends_between(text: str) -> bool:
    """Return whether an `and` after this text belongs to a `between`."""
    return re.search(r"(?i)\bbetween\s+\S+\s+$", text) is not None
