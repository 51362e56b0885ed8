"""A small HTTP layer for Workers, without a framework and independent of the platform."""

from sluice.core.headers import Headers, HeadersLike
from sluice.core.http_dates import format_http_date, parse_http_date
from sluice.core.json_text import encode_json
from sluice.web.app import App, OnError
from sluice.web.caching import CachePolicy, share_reply
from sluice.web.common_routes import Check, build_health_reply
from sluice.web.conditional import ETag, Validators, apply_conditions, check_preconditions, parse_etags
from sluice.web.cors import Cors
from sluice.web.messages import Native, Passthrough, ReadBody, Reply, Request, read_bytes, read_json
from sluice.web.parameters import QueryReader
from sluice.web.problems import build_error_reply, build_problem
from sluice.web.router import Handler, Route

__all__ = [
    "App",
    "CachePolicy",
    "Check",
    "Cors",
    "ETag",
    "Handler",
    "Headers",
    "HeadersLike",
    "Native",
    "OnError",
    "Passthrough",
    "QueryReader",
    "ReadBody",
    "Reply",
    "Request",
    "Route",
    "Validators",
    "apply_conditions",
    "build_error_reply",
    "build_health_reply",
    "build_problem",
    "check_preconditions",
    "encode_json",
    "format_http_date",
    "parse_etags",
    "parse_http_date",
    "read_bytes",
    "read_json",
    "share_reply",
]
