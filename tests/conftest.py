"""What every test shares; nothing here needs a plugin, because the unit tests also run inside Pyodide."""

import asyncio
import inspect
import sys

import pytest
from hypothesis import settings

# A deadline would be a timing assertion. The Worker's interpreter runs what CPython has searched already: fewer examples do.
EXAMPLES = 25 if sys.platform == "emscripten" else 100
settings.register_profile("sluice", deadline=None, print_blob=True, max_examples=EXAMPLES)
settings.load_profile("sluice")


# They take a minute or two each: begun last, they would be waited for.
LONG = (
    "test_compiler_service",
    "test_preload_failures",
    "test_compiler_fuzz",
    "test_news_pipeline",
    "test_preload_load",
    "test_openapi",
    "test_demo",
    "test_preload_api",
    "test_compiler_workflows",
    "test_news_crash",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take long; the order is random otherwise."""
    ranks = {name: rank for rank, name in enumerate(LONG)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(LONG)))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def` tests."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
