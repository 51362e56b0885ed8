"""What adblock-compiler says of its routes, as far as it can be seen without a runtime."""

import pytest
from pydantic import BaseModel

from sluice.services.compiler.health.workflow import HealthRequest
from sluice.services.compiler.http.docs import bodies as api_bodies
from sluice.services.compiler.http.docs import endpoints as api_docs
from sluice.services.compiler.requests import AsyncBatchRequest, BatchRequest, CompileRequest
from sluice.services.compiler.workflows.warming import WarmRequest
from sluice.web import Doc, parse_model

DOCS = {name: value for name, value in vars(api_docs).items() if isinstance(value, Doc)}
SERVING: dict[type[BaseModel], type[BaseModel]] = {
    api_bodies.CompileBody: CompileRequest,
    api_bodies.BatchBody: BatchRequest,
    api_bodies.AsyncBatchBody: AsyncBatchRequest,
    api_bodies.WarmBody: WarmRequest,
    api_bodies.HealthBody: HealthRequest,
}


@pytest.mark.parametrize("doc", DOCS.values(), ids=DOCS)
def test_example_is_taken(doc: Doc):
    """Who takes a body has an example of one, which the model that serves takes as it stands."""
    assert doc.summary
    assert (doc.body is None) == (doc.example is None)
    if doc.body:
        parse_model(SERVING.get(doc.body, doc.body), doc.example)


@pytest.mark.parametrize(("told", "serves"), SERVING.items(), ids=lambda model: model.__name__)
def test_body_is_what_serves(told: type[BaseModel], serves: type[BaseModel]):
    """The described body has the fields of the one that serves, and the proof for the guard besides."""
    assert told.model_fields.keys() - serves.model_fields.keys() == {"turnstileToken"}
    assert issubclass(told, serves)
    kept = [name for name in serves.model_fields if name != "priority"]
    assert all(told.model_fields[name].annotation == serves.model_fields[name].annotation for name in kept)
