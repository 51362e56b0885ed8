"""Builds the OpenAPI document of each Worker into a folder, from the documentation of its routes.

./scripts/setup runs it after every change of the sources. `uploads.py` puts each of them beside the pages of its Worker.
"""

import ast
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

from sluice import __version__
from sluice.core.json_text import encode_json
from sluice.services.compiler.http.docs import endpoints as compiler
from sluice.services.news.http.docs import endpoints as news
from sluice.services.preload.http.docs import endpoints as preload
from sluice.services.tail.http.docs import endpoints as tail
from sluice.web.openapi.common_docs import COMMON
from sluice.web.openapi.docs import Documentation
from sluice.web.openapi.document import build_document

ROOT: Final = Path(__file__).parents[2]
ROUTES: Final[dict[str, Documentation]] = {
    "adblock-compiler": compiler.ROUTES,
    "edge-preload": preload.ROUTES,
    "sluice-tail": tail.ROUTES,
    "worker-api": news.API,
    "worker-news-processor": news.PROCESSOR,
    "worker-news-updater": news.UPDATER,
}


def build_worker_document(worker: str) -> dict[str, Any]:
    """Return the document of a Worker."""
    return build_document(worker, __version__, {**COMMON, **ROUTES[worker]}, about=describe_worker(worker))


def describe_worker(worker: str) -> str:
    """Return the docstring of the Worker's entry module without the Worker's name."""
    configs = (tomllib.loads(path.read_text()) for path in ROOT.glob("wrangler*.toml"))
    [main] = [config["main"] for config in configs if config["name"] == worker]
    text = (ast.get_docstring(ast.parse((ROOT / "src" / Path(main).name).read_text())) or "").partition(": ")[2]
    return text[:1].upper() + text[1:]


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for worker in ROUTES:
        part = folder / f"{worker}.part"
        part.write_text(encode_json(build_worker_document(worker)), encoding="utf-8")
        part.replace(folder / f"{worker}.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
