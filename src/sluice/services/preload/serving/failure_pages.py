"""What a visitor sees when the site cannot be reached: a small page for browsers, problem+json for programs."""

from html import escape
from typing import Final

from sluice.core.errors import RedirectsToItself, SluiceError, TimedOut
from sluice.core.preload.caching.proxy_headers import describe_forward
from sluice.web import Reply, Request, build_problem

# Title and sentence for people, by status; none names the origin or this product.
_TEXTS: Final = {
    502: ("Bad gateway", "The server of this site cannot be reached at the moment. Please try again in a minute."),
    503: ("Service unavailable", "This site cannot answer at the moment. Please try again in a minute."),
    504: ("Gateway timeout", "The server of this site took too long to answer. Please try again in a minute."),
    508: ("Loop detected", "The address of this site leads back to itself, so no server can answer."),
}
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>{title} | {host}</title>
<style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1.5rem;color:#222}}
h1{{font-size:1.4rem}}p{{color:#555}}</style></head>
<body><h1>{host}</h1><p>{text}</p><p>{status} {title}</p></body></html>
"""


def status_of(error: Exception) -> int:
    """Return the status with which a visitor is told of an error: his request is never at fault."""
    if isinstance(error, TimedOut | RedirectsToItself):
        return error.status
    return 502 if isinstance(error, SluiceError) else 503


def build_failure_reply(request: Request, status: int, host: str) -> Reply:
    """Return the reply in the form that the visitor accepts, with what this cache did."""
    cache_status = describe_forward("bypass", detail=f"error-{status}")
    return _build_reply(request, status, host).with_header("Cache-Status", cache_status)


def _build_reply(request: Request, status: int, host: str) -> Reply:
    title, text = _TEXTS[status]
    headers = {"Retry-After": "60"} if status == 503 else {}
    if "text/html" not in request.headers.get("accept", ""):
        return build_problem(status, title, text, instance=request.path, headers=headers)
    page = _PAGE.format(title=escape(title), host=escape(host), text=escape(text), status=status)
    return Reply.html(page, status, {"Cache-Control": "no-store", **headers})
