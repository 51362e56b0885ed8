"""Forwards a visitor's request to an origin without reading its body in Python."""

from typing import Any

import js
from pyodide.ffi import to_js

from sluice.core.net.addresses import AllowedHosts, check_url
from sluice.core.ports import HeaderPairs
from sluice.platform.failures import translate_errors
from sluice.web import Reply


async def forward_request(request: Any, url: str, headers: HeaderPairs, allowed: AllowedHosts) -> Reply:
    """Return the origin's response; the visitor follows redirects."""
    target = check_url(url, allowed)
    options = to_js({"redirect": "manual", "cache": "no-store"}, dict_converter=js.Object.fromEntries)
    with translate_errors(f"request to {target.redacted_url}"):
        outgoing = js.Request.new(js.Request.new(target.url, request.js_object), options)
        for name, value in headers:
            outgoing.headers.set(name, value)
        response = await js.fetch(outgoing)
    return Reply.passthrough(response, response.status)
