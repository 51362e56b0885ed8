"""The documentation of the routes, as far as it can be checked without a runtime."""

from typing import Any

import pytest

from sluice.core.models import parse_model
from sluice.core.preload.zone_config import ZoneConfig, parse_config
from sluice.services.preload.http.docs import endpoints as api_docs
from sluice.services.preload.http.requests import PreloadBody, PurgeBody
from sluice.web.openapi.docs import Doc
from unit.services.preload.test_api import NoZones, build_api

ROUTES = api_docs.ROUTES


@pytest.mark.parametrize("doc", ROUTES.values(), ids=map(" ".join, ROUTES))
def test_example_is_taken(doc: Doc):
    """A route with a body has an example, and the model that serves accepts it unchanged."""
    assert (doc.body is None) == (doc.example is None)
    if doc.body is api_docs.ZoneBody:
        parse_config(doc.example)
    elif doc.body:
        parse_model(doc.body, doc.example)


def test_examples_fit_together():
    """All examples use one zone, and pages on its hosts."""
    config = parse_config(api_docs.CONFIGURE.example)
    bodies: list[Any] = [api_docs.PRELOAD.example, api_docs.PURGE.example]
    assert {each["zone_id"] for each in bodies} == {api_docs.ZONE["zone"].example}
    pages = [*api_docs.PRELOAD.example["urls"], *api_docs.ENQUEUE.example["urls"], api_docs.SITEMAP.example["url"]]
    assert all(config.covers_url(url) for url in [*pages, api_docs.LEARN.example["pages"][0]["url"]])


def test_zone_is_what_serves():
    """The documented configuration has the fields of the real one, and the signing key, which is removed before parsing."""
    documented, served = api_docs.ZoneBody.model_fields, ZoneConfig.model_fields
    assert documented.keys() - served.keys() == {"signing_key"}
    assert all(documented[name].annotation == field.annotation for name, field in served.items())


@pytest.mark.parametrize("body", [PreloadBody, PurgeBody])
def test_names_are_described(body: type[PreloadBody | PurgeBody]):
    """The schema describes the form of a zone's id."""
    assert body.model_json_schema()["properties"]["zone_id"]["pattern"] == "^[A-Za-z0-9_-]{1,64}$"


def test_documented():
    """Every route of the API has a documentation, and every documentation but that of the pages has a route."""
    routes = [(route.method, route.pattern) for route in build_api(NoZones()).build_routes()]
    assert sorted([*routes, ("GET", "/"), ("GET", "/:file"), ("GET", "/:folder/:file")]) == sorted(ROUTES)
