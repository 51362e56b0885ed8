"""Problems as pages: who follows a link in a browser reads a sentence and finds a way back, not JSON."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from sluice.web.messages import Reply, Request
from sluice.web.negotiate import choose_media_type
from sluice.web.problems import PROBLEM_TYPE

_PAGE_TYPE: Final = "text/html"
# A program that takes either gets JSON, as it always did.
_OFFERED: Final = (PROBLEM_TYPE, "application/json", _PAGE_TYPE)
_NAVIGATIONS: Final = frozenset({"GET", "HEAD"})
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'none'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS: Final = (
    ("Content-Security-Policy", _POLICY),
    ("Referrer-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)
_HOME: Final = '<a class="button" href="/">Start page</a>'
_API: Final = '<a class="button" href="/docs">API</a>'
# The style and the header's script are files of every Worker.
_PAGE: Final = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>{title} · Sluice</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/style.css">
    <script type="module" src="/ui/problem.js"></script>
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top" id="top"><a class="brand" href="/">Sluice</a></header>
    <main id="main" tabindex="-1">
      <div class="card narrow">
        <h1>{title}</h1>
        <p>{detail}</p>
        <p class="hint">Status {status}</p>
        <div class="row">{ways}</div>
      </div>
    </main>
  </body>
</html>
"""


def negotiate_problem(reply: Reply, request: Request, *, has_home: bool) -> Reply:
    """Return a problem as a page if the caller prefers one, any other reply as it is; `has_home` says that GET / has a page."""
    if request.method not in _NAVIGATIONS or reply.header("Content-Type") != PROBLEM_TYPE:
        return reply
    varied = reply.with_vary("Accept")
    if not _prefers_page(request.headers.get("accept", "")) or not isinstance(reply.body, bytes):
        return varied
    others = [(name, value) for name, value in varied.headers if name.lower() != "content-type"]
    return Reply.html(_render(json.loads(reply.body), has_home=has_home), reply.status, (*others, *_HEADERS))


def _prefers_page(accept: str) -> bool:
    """Return whether a caller names HTML, as browsers do; programs say text/* and */*."""
    return _PAGE_TYPE in accept.lower() and choose_media_type(accept, _OFFERED) == _PAGE_TYPE


def _render(problem: Mapping[str, Any], *, has_home: bool) -> str:
    return _PAGE.format(
        title=escape(problem["title"]),
        detail=escape(_to_sentence(problem)),
        status=problem["status"],
        ways=(_HOME if has_home else "") + _API,
    )


def _to_sentence(problem: Mapping[str, Any]) -> str:
    """Begin with a capital letter, unless it begins with the name of a field."""
    text: str = problem["detail"].rstrip(".")
    return f"{text}." if "errors" in problem else f"{text[:1].upper()}{text[1:]}."
