"""Builds the OpenAPI document of each Worker into a folder, from what its routes declare.

./scripts/setup runs it after every change of the sources. `uploads.py` puts each of them beside the pages of its Worker.
"""

import ast
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Self, cast

from sluice import __version__
from sluice.core.json_text import encode_json
from sluice.core.variables import Variables
from sluice.services.compiler.ports import CompilerPorts
from sluice.services.compiler.service import CompilerService
from sluice.services.news.collect.service import NewsUpdaterService
from sluice.services.news.ports import RunPorts
from sluice.services.news.process.service import NewsProcessorPorts, NewsProcessorService
from sluice.services.news.serve.service import NewsApiPorts, NewsApiService
from sluice.services.preload.service import PreloadPorts, PreloadService
from sluice.services.tail.service import TailPorts, TailService
from sluice.web import Route
from sluice.web.api_document.document import build_document
from sluice.web.common_routes import add_common_routes

ROOT: Final = Path(__file__).parents[2]


class NullPort:
    """Stands for every port: a service is put together to look at its routes, and none of them is called."""

    def __getattr__(self, _name: str) -> Self:
        return self

    def __call__(self, *_arguments: object) -> Self:
        return self


NOTHING: Final[Any] = NullPort()
NO_VARIABLES: Final = Variables(lambda _name: None)


ROUTES: Final[dict[str, Callable[[], Sequence[Route]]]] = {
    "edge-preload": lambda: PreloadService(build_null_ports(PreloadPorts)).routes,
    "adblock-compiler": lambda: CompilerService(build_null_ports(CompilerPorts)).routes,
    "sluice-tail": lambda: TailService(build_null_ports(TailPorts)).routes,
    "worker-api": lambda: NewsApiService(build_null_ports(NewsApiPorts)).routes,
    "worker-news-processor": lambda: NewsProcessorService(build_null_ports(NewsProcessorPorts)).routes,
    "worker-news-updater": lambda: NewsUpdaterService(build_null_ports(RunPorts)).routes,
}
WORKERS: Final = tuple(ROUTES)


def build_null_ports(ports: Callable[..., Any]) -> Any:
    """Return the ports of a service without adapters behind them; no variable is set."""
    names = cast("Any", ports).__dataclass_fields__
    return ports(**(dict.fromkeys(names, NOTHING) | {"variables": NO_VARIABLES}))


def build_worker_document(worker: str) -> dict[str, Any]:
    """Return the document of a Worker."""
    return build_document(worker, __version__, list_routes(worker), about=describe_worker(worker))


def list_routes(worker: str) -> list[Route]:
    """Return all routes of a Worker."""
    return add_common_routes(
        ROUTES[worker](),
        name=worker,
        version=__version__,
        check_bindings=NOTHING,
        read_document=NOTHING,
        limit_reads=lambda handler: handler,
    )


def describe_worker(worker: str) -> str:
    """Return the docstring of the Worker's entry module without the Worker's name."""
    configs = (tomllib.loads(path.read_text()) for path in ROOT.glob("wrangler*.toml"))
    [main] = [config["main"] for config in configs if config["name"] == worker]
    text = (ast.get_docstring(ast.parse((ROOT / "src" / Path(main).name).read_text())) or "").partition(": ")[2]
    return text[:1].upper() + text[1:]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for worker in WORKERS:
        part = folder / f"{worker}.part"
        part.write_text(encode_json(build_worker_document(worker)), encoding="utf-8")
        part.replace(folder / f"{worker}.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
