"""A small HTTP layer for Workers, free of any framework and of the platform itself."""

from sluice.core.http_dates import format_http_date, parse_http_date
from sluice.core.json_text import encode_json
from sluice.core.models import parse_model
from sluice.web.app import App, OnError
from sluice.web.bodies import query_model, read_bytes, read_json, read_model
from sluice.web.conditional import ETag, Validators, check_preconditions, conditional, parse_etags
from sluice.web.cors import Cors
from sluice.web.headers import Headers, HeadersLike
from sluice.web.health import Check, health_reply
from sluice.web.messages import Native, Passthrough, ReadBody, Reply, Request
from sluice.web.negotiate import best_media_type
from sluice.web.openapi.docs import Absent, Answer, CamelTold, Doc, Media, Param, Told
from sluice.web.openapi.document import document, openapi_reply
from sluice.web.problems import problem, problem_of
from sluice.web.router import Handler, Route
from sluice.web.sse import SseComment, SseEvent, sse

__all__ = [
    "Absent",
    "Answer",
    "App",
    "CamelTold",
    "Check",
    "Cors",
    "Doc",
    "ETag",
    "Handler",
    "Headers",
    "HeadersLike",
    "Media",
    "Native",
    "OnError",
    "Param",
    "Passthrough",
    "ReadBody",
    "Reply",
    "Request",
    "Route",
    "SseComment",
    "SseEvent",
    "Told",
    "Validators",
    "best_media_type",
    "check_preconditions",
    "conditional",
    "document",
    "encode_json",
    "format_http_date",
    "health_reply",
    "openapi_reply",
    "parse_etags",
    "parse_http_date",
    "parse_model",
    "problem",
    "problem_of",
    "query_model",
    "read_bytes",
    "read_json",
    "read_model",
    "sse",
]
