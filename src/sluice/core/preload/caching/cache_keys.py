"""The canonical URL and the cache key of each page, so that it is fetched, stored and found under one name."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Final
from urllib.parse import quote, unquote, unquote_plus, urlsplit

from sluice.core.errors import Invalid
from sluice.core.preload.zone_config import ZoneConfig, netloc_of

MAX_URL_CHARS: Final = 2048
MAX_CANONICAL_CHARS: Final = 4096  # escapes lengthen it; it must fit the metadata of its copy
# They say where a visitor came from, not which page is meant.
IGNORED_PARAMS: Final = (*("utm_*", "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "_ga", "_gl", "mc_cid", "mc_eid"),)
VARIANT_PARAM: Final = "sluice-variant"  # tells variants apart at the edge; no visitor's URL may have it
MAX_VARIANT_CHARS: Final = 64  # of the value of one header
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f\\]")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE: Final = "/:@!$&'()*+,;=-._~%"
_QUERY_SAFE: Final = _PATH_SAFE + "?[]"


def canonical_url(url: str, config: ZoneConfig) -> str:
    """Return the one spelling of a page's URL; raise Invalid for what is not a page of the zone."""
    if len(url) > MAX_URL_CHARS:
        raise Invalid(f"the URL is longer than {MAX_URL_CHARS} characters")
    if _FORBIDDEN.search(url):
        raise Invalid("the URL contains a space, a backslash or a control character")
    host = netloc_of(url)
    if not config.covers(host):
        raise Invalid(f"{host} is not a host of this zone")
    parts = urlsplit(url)
    path = _normalize_path(parts.path, config.cache_trailing_slash)
    query = "&".join(_sort_params(parts.query, config))
    canonical = f"{config.scheme}://{host}{path}" + (f"?{query}" if query else "")
    if len(canonical) > MAX_CANONICAL_CHARS:
        raise Invalid(f"the URL is longer than {MAX_CANONICAL_CHARS} characters when it is escaped")
    return canonical


def normalise_address(url: str) -> str:
    """Return host, path and query in one spelling, which no proxy on the way changes; raise Invalid for what is no address."""
    host, parts = netloc_of(url), urlsplit(url)
    query = f"?{_normalize_escapes(parts.query, _QUERY_SAFE)}" if parts.query else ""
    return host + _normalize_path(parts.path, "keep") + query


def list_variants(config: ZoneConfig) -> list[str]:
    """Return every variant in which a page of the zone is stored; "" is the plain one."""
    languages = [f"lang:{language}" for language in config.cache_languages] or [""]
    devices = ["", "device:mobile"] if config.cache_device_variants else [""]
    return ["|".join(filter(None, (language, device))) for language in languages for device in devices]


def choose_variant(config: ZoneConfig, headers: Mapping[str, str]) -> str:
    """Return the variant that a visitor gets; raise Invalid when a header is too long to be part of a key."""
    language = _choose_language(config.cache_languages, headers.get("accept-language", ""))
    mobile = config.cache_device_variants and "mobi" in headers.get("user-agent", "").lower()
    parts = [f"lang:{language}" if language else "", "device:mobile" if mobile else ""]
    for name in config.cache_vary_headers:
        if value := headers.get(name, ""):
            if len(value) > MAX_VARIANT_CHARS:
                raise Invalid(f"the header {name} is longer than {MAX_VARIANT_CHARS} characters")
            parts.append(f"{name}:{quote(value, safe='')}")
    return "|".join(filter(None, parts))


def variant_headers(variant: str, agent: str) -> tuple[tuple[str, str], ...]:
    """Return the request headers that ask an origin for this variant."""
    parts = dict(part.split(":", 1) for part in variant.split("|") if part)
    mobile = "Mozilla/5.0 (Linux; Android 15; Mobile) " if "device" in parts else ""
    language = (("accept-language", parts["lang"]),) if "lang" in parts else ()
    others = tuple((name, unquote(value)) for name, value in parts.items() if name not in {"lang", "device"})
    return (("user-agent", mobile + agent), *language, *others)


def cache_key(url: str, variant: str) -> str:
    """Return the text that names one variant of one page; bodies are stored unencoded, the platform encodes them for each visitor."""
    return "|".join(filter(None, (url, "enc:identity", variant)))


@lru_cache(maxsize=1024)
def key_hash(url: str, variant: str) -> str:
    """Return the cache key as it stands in R2 and in the X-Cache-Key-Hash header."""
    return sha256(cache_key(url, variant).encode()).hexdigest()


def bucket_key(zone_id: str, hashed: str) -> str:
    return f"cache/{zone_id}/{hashed[:2]}/{hashed[2:4]}/{hashed}"


def edge_url(url: str, variant: str) -> str:
    """Return the URL under which the edge stores a variant: the page's own for the plain one."""
    if not variant:
        return url
    return f"{url}{'&' if '?' in url else '?'}{VARIANT_PARAM}={quote(variant, safe='')}"


def _normalize_path(path: str, trailing_slash: str) -> str:
    segments: list[str] = []
    for segment in _normalize_escapes(path, _PATH_SAFE).split("/"):
        if segment == "..":
            segments[-1:] = []
        elif segment not in {"", "."}:
            segments.append(segment)
    joined = "/" + "/".join(segments)
    is_folder = path.endswith(("/", "/.", "/.."))
    if joined == "/":
        return joined
    if trailing_slash == "add" and "." not in segments[-1]:
        is_folder = True
    elif trailing_slash == "strip":
        is_folder = False
    return joined + ("/" if is_folder else "")


def _sort_params(query: str, config: ZoneConfig) -> Iterator[str]:
    """Yield the parameters that are part of the key, sorted by name; the order of equal names may have a meaning."""
    if not query:
        return
    ignored = (*IGNORED_PARAMS, *config.cache_ignored_params)
    kept = {name.lower() for name in config.cache_kept_params}
    names = {name.lower() for name in ignored if not name.endswith("*")}
    prefixes = tuple(name[:-1].lower() for name in ignored if name.endswith("*"))
    pairs = [_normalize_escapes(pair, _QUERY_SAFE) for pair in query.split("&") if pair]
    for pair in sorted(pairs, key=lambda pair: pair.partition("=")[0]):
        name = unquote_plus(pair.partition("=")[0]).lower()
        if (not kept or name in kept) and name not in names and not (prefixes and name.startswith(prefixes)):
            yield pair


def _normalize_escapes(text: str, safe: str) -> str:
    """Escape in capitals, none for a letter or digit, and one for every character that needs it."""
    plain = _ESCAPE.sub(_shorten_escape, _STRAY_PERCENT.sub("%25", text))
    return quote(plain, safe=safe)


def _shorten_escape(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else f"%{match[1].upper()}"


def _choose_language(known: list[str], accept: str) -> str:
    if not known:
        return ""
    preferred = [item.partition(";")[0].strip().lower() for item in accept.split(",")]
    candidates = [each for language in preferred for each in (language, language.partition("-")[0])]
    return next((language for language in candidates if language in known), known[0])
