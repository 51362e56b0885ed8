"""What every test shares; nothing here needs a plugin, because the unit tests also run inside Pyodide."""

import asyncio
import inspect

import pytest
from hypothesis import settings

# A deadline would be a timing assertion.
settings.register_profile("sluice", deadline=None, print_blob=True)
settings.load_profile("sluice")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def` tests."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
