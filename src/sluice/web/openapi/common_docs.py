"""What the routes that every Worker has say of themselves."""

from typing import Annotated, Final, Literal

from pydantic import Field

from sluice.web.openapi.docs import SERVICE, Absent, Answer, Doc, Media, Param, Told


class BindingHealth(Told):
    kind: Annotated[str, Field(description="What it is: kv, d1, r2, queue and so on.")]
    ok: bool
    error: Annotated[str, Field(description="Why it does not answer.")] | Absent = None
    detail: str | Absent = None


class Health(Told):
    name: str
    version: str
    status: Literal["ok", "degraded"]
    bindings: dict[str, BindingHealth]


HEALTH: Final = Doc(
    summary="Whether every binding answers",
    tag=SERVICE,
    replies={
        200: Answer("All is well.", Health),
        503: Answer("One of the bindings does not answer; the reply says which, and why.", Health),
    },
)
OPENAPI: Final = Doc(
    summary="This document",
    tag=SERVICE,
    replies={
        200: Answer("The OpenAPI 3.1 document.", Media("application/json"), {"ETag": "The name of this version."}),
        304: Answer("The copy named in If-None-Match is current."),
    },
    problems=(412,),
)
FILE: Final = Doc(
    summary="A file of the pages",
    tag=SERVICE,
    params={"file": Param("Its name.", "style.css")},
    replies={200: Answer("The file.", Media("*/*"))},
    problems=(404,),
)


def page_doc(summary: str) -> Doc:
    """A page for people."""
    return Doc(summary=summary, tag=SERVICE, replies={200: Answer("The page.", Media("text/html"))})
