"""The composition: parts are made when they are used, of ports that are looked at when they are used."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest

from sluice.core.variables import Variables
from sluice.services.compiler.ports import CompilerPorts
from sluice.services.compiler.published.published_lists import PublishedListParts
from sluice.services.compiler.service import CompilerService
from sluice.services.compiler.workflows.workflow_assembly import CompilerWorkflows
from unit.services.compiler.service_ports import make_ports

OWNERS = {"": CompilerService, "published_lists": PublishedListParts, "workflows": CompilerWorkflows}


def list_parts() -> Iterator[tuple[str, str]]:
    for owner, kind in OWNERS.items():
        for one in kind.mro():
            yield from ((owner, name) for name, value in vars(one).items() if isinstance(value, cached_property))


@pytest.mark.parametrize(("owner", "name"), sorted(list_parts()))
def test_parts_need_no_port_to_be_made(owner: str, name: str):
    """Every part can be made without one port behind it; so the routes can be listed and described anywhere."""
    nothing: dict[str, Any] = dict.fromkeys(CompilerPorts.__dataclass_fields__)
    service = CompilerService(CompilerPorts(**{**nothing, "variables": Variables(lambda _name: None)}))
    assert getattr(getattr(service, owner) if owner else service, name) is not None


async def test_missing_port():
    """A test that uses a port that it did not give fails, and names it."""
    with pytest.raises(AssertionError, match="the port database was not given"):
        await CompilerService(make_ports()).spent_fetches.load("j1")


def test_one_graph():
    """Requests, crons and workflows share their parts."""
    service = CompilerService(make_ports())
    assert service.lists_api is service.published_lists.api
    assert service.workflows.published_list.builds is service.published_lists.builds
    assert service.workflows.batch.items is service.items
