"""Prints the shape of the code: its size, its longest parts, and the signatures that do not say what they take or return."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src/sluice"
# A value of one of these types may be anything.
LOOSE: Final = frozenset({"Any", "Json", "object"})
LONGEST: Final = 8

Function = ast.FunctionDef | ast.AsyncFunctionDef


def list_modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")


def list_functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, Function):
            yield node


def list_annotations(function: Function) -> Iterator[ast.expr]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    yield from (each.annotation for each in every if each and each.annotation)
    if function.returns:
        yield function.returns


def is_loose(function: Function) -> bool:
    """Return whether an annotation names a type that may be anything."""
    return any(name in LOOSE for annotation in list_annotations(function) for name in list_names(annotation))


def list_names(annotation: ast.expr) -> Iterator[str]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from list_quoted_names(node.value)


def list_quoted_names(text: str) -> Iterator[str]:
    """Yield the names in an annotation that stands in quotes; a text of a Literal is none."""
    try:
        quoted = ast.parse(text, mode="eval").body
    except SyntaxError:
        return
    yield from (node.id for node in ast.walk(quoted) if isinstance(node, ast.Name))


def count_loose(paths: Iterable[Path]) -> tuple[int, int]:
    """Return the loose signatures, and all."""
    functions = [function for path in paths for function in list_functions(path)]
    return sum(map(is_loose, functions)), len(functions)


def main() -> None:
    modules = list_modules()
    lines = {path: len(path.read_text().splitlines()) for path in modules}
    lengths = sorted((node.end_lineno or 0) - node.lineno + 1 for path in modules for node in list_functions(path))
    print(f"lines {sum(lines.values()):,}, modules {len(modules)} (without __init__.py)")
    print(
        f"functions {len(lengths):,}, nine of ten at most {lengths[len(lengths) * 9 // 10]} lines, longest {lengths[-1]}"
    )
    for service in sorted((SOURCE / "services").iterdir()):
        if service.is_dir() and service.name != "__pycache__":
            loose, every = count_loose(service.rglob("*.py"))
            print(f"services/{service.name}: {loose} of {every} signatures are loose")
    print("services: {} of {} signatures are loose".format(*count_loose((SOURCE / "services").rglob("*.py"))))
    print("longest files:")
    for path, count in sorted(lines.items(), key=lambda item: -item[1])[:LONGEST]:
        print(f"  {count} {path.relative_to(ROOT)}")
    print("fullest packages:")
    for folder, count in Counter(path.parent for path in modules).most_common(LONGEST):
        print(f"  {count} {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
