"""Descriptions of the routes that every Worker has."""

from typing import Annotated, Final, Literal

from pydantic import Field

from sluice.web.openapi.docs import SERVICE, Absent, Doc, Documentation, Media, Param, ReplyDoc, ReplyModel


class BindingHealth(ReplyModel):
    kind: Annotated[str, Field(description="The type of the binding: kv, d1, r2, queue and so on.")]
    ok: bool
    error: Annotated[str, Field(description="Why the binding does not answer.")] | Absent = None
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
        200: ReplyDoc("All bindings answer.", Health),
        503: ReplyDoc("A binding does not answer; the reply says which one and why.", Health),
    },
)
OPENAPI: Final = Doc(
    summary="This document",
    tag=SERVICE,
    replies={
        200: ReplyDoc("The OpenAPI 3.1 document.", Media("application/json"), {"ETag": "The version of the document."}),
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

FOLDER_FILE: Final = Doc(
    summary="A file of the pages, in a folder",
    tag=SERVICE,
    params={"folder": Param("Its folder.", "ui"), "file": Param("Its name.", "api.js")},
    replies={200: ReplyDoc("The file.", Media("*/*"))},
    problems=(404,),
)


def describe_page(summary: str) -> Doc:
    """Return the description of an HTML page."""
    return Doc(summary=summary, tag=SERVICE, replies={200: ReplyDoc("The page.", Media("text/html"))})


COMMON: Final[Documentation] = {("GET", "/health"): HEALTH, ("GET", "/openapi.json"): OPENAPI}
