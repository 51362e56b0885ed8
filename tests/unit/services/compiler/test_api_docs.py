"""The API documentation of adblock-compiler, checked without a runtime."""

import pytest
from pydantic import BaseModel

from sluice.core.models import parse_model
from sluice.services.compiler.health.workflow import HealthRequest
from sluice.services.compiler.http.docs import bodies as api_bodies
from sluice.services.compiler.http.docs.endpoints import ROUTES
from sluice.services.compiler.http.routes import compiler_routes
from sluice.services.compiler.requests import AsyncBatchRequest, BatchRequest, CompileRequest
from sluice.services.compiler.workflows.warming import WarmRequest
from sluice.web.openapi.docs import Doc
from unit.services.compiler.test_routes import SETTINGS, Apis

SERVING: dict[type[BaseModel], type[BaseModel]] = {
    api_bodies.CompileBody: CompileRequest,
    api_bodies.BatchBody: BatchRequest,
    api_bodies.AsyncBatchBody: AsyncBatchRequest,
    api_bodies.WarmBody: WarmRequest,
    api_bodies.HealthBody: HealthRequest,
}


@pytest.mark.parametrize("doc", ROUTES.values(), ids=map(" ".join, ROUTES))
def test_example_is_valid(doc: Doc):
    """Every documented body has an example that the model of the handler accepts."""
    assert doc.summary
    assert (doc.body is None) == (doc.example is None)
    if doc.body:
        parse_model(SERVING.get(doc.body, doc.body), doc.example)


@pytest.mark.parametrize(("documented", "handled"), SERVING.items(), ids=lambda model: model.__name__)
def test_body_matches_the_handler(documented: type[BaseModel], handled: type[BaseModel]):
    """The documented body has the fields of the model of the handler, and the Turnstile token."""
    assert documented.model_fields.keys() - handled.model_fields.keys() == {"turnstileToken"}
    assert issubclass(documented, handled)
    names = [name for name in handled.model_fields if name != "priority"]
    assert all(documented.model_fields[name].annotation == handled.model_fields[name].annotation for name in names)


def test_every_route_is_documented():
    """Every route has a documentation, every documentation has a route, and no route is listed twice."""
    routes = [(route.method, route.pattern) for route in compiler_routes(Apis(), SETTINGS)]
    assert sorted(routes) == sorted(ROUTES)
