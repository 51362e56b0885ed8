"""Pages and requests that no shared cache may handle: logged-in visitors, carts, administration, previews."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

_PATHS: Final = re.compile(
    r"/(?:wp-admin|checkout|cart|my-account|wp-json)(?:/|$)|/wp-login\.php(?:/|$)|/wp-cron\.php(?:/|$)|/xmlrpc\.php(?:/|$)",
    re.IGNORECASE,
)
_LOGGED_IN: Final = re.compile(r"wordpress_(?:logged_in|sec)_|wp-postpass_|comment_author_", re.IGNORECASE)


def page_bypass_reason(url: str) -> str | None:
    """Why a page must not be stored, judged by its URL; None when it may be."""
    parts = urlsplit(url)
    if match := _PATHS.search(parts.path):
        return f"{match[0].rstrip('/')} is never cached"
    query = {name.lower(): value.lower() for name, value in parse_qsl(parts.query, keep_blank_values=True)}
    if "nocache" in query:
        return "nocache is set"
    if query.get("preview") == "true":
        return "it is a preview"
    return None


def request_bypass_reason(method: str, headers: Mapping[str, str]) -> str | None:
    """Why only the origin may answer a request; None when a cache may."""
    if method not in {"GET", "HEAD"}:
        return f"{method} is not cached"
    if "authorization" in headers:
        return "it has an Authorization header"
    if "range" in headers:
        return "it is a range request"
    if "upgrade" in headers:
        return "it asks for a protocol upgrade"
    return _cookie_bypass_reason(headers.get("cookie", ""))


def _cookie_bypass_reason(cookies: str) -> str | None:
    for cookie in cookies.split(";"):
        name, _, value = cookie.strip().partition("=")
        if _LOGGED_IN.match(name):
            return "the visitor is logged in"
        if name == "woocommerce_cart_hash" and value:
            return "the visitor has a cart"
        if name == "woocommerce_items_in_cart" and value.strip() not in {"", "0"}:
            return "the visitor has a cart"
    return None
