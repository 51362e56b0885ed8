"""Builds the schemas of all models, and puts a pydantic that only loads them in place of the Worker's pydantic.

./scripts/setup runs it on the folders of the vendored packages after every change of the sources. See
`worker_pydantic`.

Half of the start of a Worker was pydantic turning models into schemas. Here pydantic does it when the Worker is built,
and 140 lines load the stored schemas into pydantic's own validator, `pydantic_core`. The models stay ordinary pydantic
models. The price is that they may use only what `worker_pydantic` offers; anything else fails at import. The unit tests
run with it in Pyodide, and so does everything in workerd; in CPython they run with pydantic itself.
"""

import importlib
import json
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

import sluice

PARTS: Final = {"pydantic": "worker_pydantic", "pydantic_core": "worker_pydantic_core"}
# No Worker imports these, or they need a platform that is not here.
_LEFT_OUT: Final = {"__main__", "api_document", "cli", "platform", "workers"}
# Needed only to make JSON Schemas, which is done by then.
_DROPPED: Final = {"metadata", "generic_origin"}


def build_schemas() -> dict[str, Any]:
    """Return the schema of each model by its module and name, with references in place of classes and functions."""
    for module in list_modules():
        importlib.import_module(module)
    models = [model for model in walk_subclasses(BaseModel) if model.__module__.startswith("sluice.")]
    schemas = {name_of(model): encode(model.__pydantic_core_schema__) for model in models}
    return {name: schemas[name] for name in sorted(schemas) if "[" not in name}


def list_modules() -> list[str]:
    walked = pkgutil.walk_packages(sluice.__path__, "sluice.", onerror=None)
    return [module.name for module in walked if not _LEFT_OUT & set(module.name.split("."))]


def walk_subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for subclass in model.__subclasses__():
        yield subclass
        yield from walk_subclasses(subclass)


def encode(schema: Any) -> Any:
    """Return a schema as plain values."""
    if isinstance(schema, dict):
        return {key: encode(part) for key, part in schema.items() if key not in _DROPPED}
    if isinstance(schema, list | tuple):
        return [encode(part) for part in schema]
    if schema is None or isinstance(schema, str | int | float):
        return schema
    return {"$reference": name_of(schema)}


def name_of(target: type | Callable[..., Any]) -> str:
    """Return module and name of a class or function that can be found by them; of a class method with its class."""
    owner = getattr(target, "__self__", None)
    if isinstance(owner, type):
        return f"{name_of(owner)}.{target.__name__}"
    if "<" in target.__qualname__:
        raise SystemExit(
            f"{target.__module__}: {target.__qualname__} has no name that a schema could refer to: use a plain function"
        )
    return f"{target.__module__}:{target.__qualname__}"


def replace_package(folder: Path, name: str, schemas: str) -> None:
    """Leave of the package what is compiled, and add what stands in its place."""
    package = folder / name
    for path in sorted(package.rglob("*"), reverse=True):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".so":
            path.unlink()
    shutil.copytree(
        Path(__file__).with_name(PARTS[name]), package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    if name == "pydantic":
        (package / "schemas.json").write_text(schemas, encoding="utf-8")


def main(folder: Path) -> None:
    schemas = json.dumps(build_schemas(), separators=(",", ":"))
    for name in PARTS:
        replace_package(folder, name, schemas)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
