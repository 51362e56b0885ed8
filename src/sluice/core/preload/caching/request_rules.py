"""Which requests of visitors a stored copy may answer, and which replies to them may become one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from sluice.core.errors import Invalid
from sluice.core.preload.caching.cache_control import Directives
from sluice.core.preload.caching.cache_keys import VARIANT_PARAM, canonical_url, choose_variant
from sluice.core.preload.zone_config import ZoneConfig

_NEVER_CACHED: Final = re.compile(
    r"/(?:wp-admin|checkout|cart|my-account|wp-json)(?:/|$)|/wp-login\.php(?:/|$)|/wp-cron\.php(?:/|$)|/xmlrpc\.php(?:/|$)",
    re.IGNORECASE,
)
# They tell a statistics service who somebody is, and change no page.
_ANALYTICS: Final = (
    *("_ga", "_ga_*", "_gid", "_gat", "_gat_*", "_gcl_*", "_gac_*", "__utm*", "_dc_gtm_*", "_fbp", "_fbc", "_hj*"),
    *(
        "_pk_*",
        "_clck",
        "_clsk",
        "_uetsid",
        "_uetvid",
        "_ym_*",
        "_tt*",
        "_pin_unauth",
        "_scid*",
        "ajs_*",
        "mp_*",
        "amp_*",
    ),
    *(
        "_hp2_*",
        "__hs*",
        "hubspotutk",
        "_li*",
        "_rdt_uuid",
        "__cf_bm",
        "_cfuvid",
        "cf_clearance",
        "_vwo*",
        "optimizely*",
    ),
)
# A request with any other header may get a reply that is not for everybody.
_HARMLESS_HEADERS: Final = frozenset(
    {"host", "user-agent", "accept", "accept-language", "accept-encoding", "connection", "referer", "dnt", "priority"}
    | {"save-data", "upgrade-insecure-requests", "cache-control", "pragma", "if-none-match", "if-modified-since"}
    | {"cdn-loop", "x-real-ip", "x-forwarded-proto"}
)
_HARMLESS_PREFIXES: Final = ("sec-fetch-", "sec-ch-ua", "cf-")


@dataclass(frozen=True, slots=True)
class Pass:
    """A request that only the origin may answer: a token for programs, a reason for people."""

    detail: str
    reason: str


@dataclass(frozen=True, slots=True)
class Lookup:
    """A request that a copy may answer. `obstacle` is the token of what keeps the origin's reply from becoming one, "" for nothing."""

    url: str
    variant: str
    obstacle: str = ""


def decide_request(method: str, url: str, headers: Mapping[str, str], config: ZoneConfig) -> Pass | Lookup:
    """Return what may answer a visitor's request; header names are in lower case."""
    reason = _find_reason_to_pass(method, url, headers, config)
    if reason is not None:
        return reason
    try:
        canonical = canonical_url(url, config)
        variant = choose_variant(config, headers)
    except Invalid as error:
        return Pass("url", str(error))
    return Lookup(canonical, variant, _find_obstacle(method, url, canonical, headers, config))


def page_bypass_reason(url: str, config: ZoneConfig) -> str | None:
    """Return why a page is never stored, judged by its URL; None when it may be."""
    passed = _judge_url(url, config)
    return passed.reason if passed else None


def find_path_rule(url: str, config: ZoneConfig) -> int | None:
    """Return the seconds that the zone's first fitting rule sets for a path; None without such a rule."""
    if not config.cache_ttl_by_path:
        return None
    path = urlsplit(url).path
    return next((ttl_s for pattern, ttl_s in config.cache_ttl_by_path.items() if fits_path(path, pattern)), None)


def fits_path(path: str, pattern: str) -> bool:
    """Return whether a path fits a pattern, in which * stands for anything."""
    return fnmatchcase(path, pattern.replace("[", "[[]").replace("?", "[?]"))


def list_relevant_cookies(text: str) -> list[tuple[str, str]]:
    """Return name and values of the cookies of a request, without those of statistics services."""
    pairs = [part.strip().partition("=") for part in text.split(";") if part.strip()]
    return [(name, value.strip()) for name, _, value in pairs if not fits_name(name, _ANALYTICS)]


def fits_name(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name is among the patterns, in which a * at the end stands for any ending."""
    return any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in patterns)


def _find_reason_to_pass(method: str, url: str, headers: Mapping[str, str], config: ZoneConfig) -> Pass | None:
    if method not in {"GET", "HEAD"}:
        return Pass("method", f"{method} is not cached")
    if config.cache_enabled is False:
        return Pass("disabled", "cache_enabled is false")
    for name in ("authorization", "upgrade", "if-match", "if-unmodified-since"):
        if name in headers:
            return Pass(name, f"it has the header {name}")
    return _judge_url(url, config) or _judge_cookies(headers.get("cookie", ""), config)


def _judge_url(url: str, config: ZoneConfig) -> Pass | None:
    parts = urlsplit(url)
    if match := _NEVER_CACHED.search(parts.path):
        return Pass("path", f"{match[0].rstrip('/')} is never cached")
    if "//" in parts.path:
        return Pass("path", "its path has an empty segment, which only the origin understands")
    if pattern := next((each for each in config.cache_exclude_paths if fits_path(parts.path, each)), None):
        return Pass("excluded", f"cache_exclude_paths contains {pattern}")
    if config.cache_include_paths and not any(fits_path(parts.path, each) for each in config.cache_include_paths):
        return Pass("not-included", "no pattern of cache_include_paths fits its path")
    return _judge_query(parts.query, config) if parts.query else None


def _judge_query(query: str, config: ZoneConfig) -> Pass | None:
    for name, value in parse_qsl(query, keep_blank_values=True):
        lowered = name.lower()
        if lowered == VARIANT_PARAM:
            return Pass("parameter", f"the parameter {VARIANT_PARAM} is reserved")
        if fits_name(lowered, config.cache_bypass_params) and value.lower() != "false":
            return Pass("parameter", f"cache_bypass_params contains {lowered}")
    return None


def _judge_cookies(text: str, config: ZoneConfig) -> Pass | None:
    for name, value in list_relevant_cookies(text):
        # A shop sets its cookies to nothing when the cart is empty again.
        if value not in {"", "0"} and fits_name(name, config.cache_bypass_cookies):
            return Pass("cookie", f"cache_bypass_cookies contains {name}")
    return None


def _find_obstacle(method: str, url: str, canonical: str, headers: Mapping[str, str], config: ZoneConfig) -> str:
    if method != "GET":
        return "head"
    if "no-store" in Directives.parse(headers.get("cache-control", "")):
        return "no-store"
    if list_relevant_cookies(headers.get("cookie", "")):
        return "cookie"
    if odd := next((name for name in headers if not _is_harmless(name, headers, config)), None):
        return "range" if odd == "range" else "header"
    return "" if _after_host(url) == _after_host(canonical) else "spelling"


def _is_harmless(name: str, headers: Mapping[str, str], config: ZoneConfig) -> bool:
    if name == "x-forwarded-for":
        return headers[name].strip() == headers.get("cf-connecting-ip", "").strip()
    return (
        name in _HARMLESS_HEADERS
        or name == "cookie"
        or name.startswith(_HARMLESS_PREFIXES)
        or name in config.cache_vary_headers
    )


def _after_host(url: str) -> str:
    """Return path and query as they are written."""
    rest = url.partition("#")[0].partition("://")[2].partition("/")
    return rest[1] + rest[2]
