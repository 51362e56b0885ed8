"""What the routes that every Worker has say of themselves."""

from typing import Annotated, Final, Literal

from pydantic import Field

from sluice.web.openapi.docs import SERVICE, Absent, Doc, Media, Param, ReplyDoc, ReplyModel


class BindingHealth(ReplyModel):
    kind: Annotated[str, Field(description="What it is: kv, d1, r2, queue and so on.")]
    ok: bool
    error: Annotated[str, Field(description="Why it does not answer.")] | Absent = None
    detail: str | Absent = None


class Health(ReplyModel):
    name: str
    version: str
    status: Literal["ok", "degraded"]
    bindings: dict[str, BindingHealth]


HEALTH: Final = Doc(
    summary="Whether every binding answers",
    tag=SERVICE,
    replies={
        200: ReplyDoc("All is well.", Health),
        503: ReplyDoc("One of the bindings does not answer; the reply says which, and why.", Health),
    },
)
OPENAPI: Final = Doc(
    summary="This document",
    tag=SERVICE,
    replies={
        200: ReplyDoc("The OpenAPI 3.1 document.", Media("application/json"), {"ETag": "The name of this version."}),
        304: ReplyDoc("The copy named in If-None-Match is current."),
    },
    problems=(412,),
)
FILE: Final = Doc(
    summary="A file of the pages",
    tag=SERVICE,
    params={"file": Param("Its name.", "style.css")},
    replies={200: ReplyDoc("The file.", Media("*/*"))},
    problems=(404,),
)


def describe_page(summary: str) -> Doc:
    """A page for people."""
    return Doc(summary=summary, tag=SERVICE, replies={200: ReplyDoc("The page.", Media("text/html"))})
