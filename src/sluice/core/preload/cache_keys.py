"""One spelling for each page, so that it is fetched, stored and found under one key."""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final
from urllib.parse import quote, unquote_plus, urlsplit

from sluice.core.errors import Invalid
from sluice.core.preload.zone_config import ZoneConfig, netloc_of

MAX_URL_CHARS: Final = 2048
MAX_CANONICAL_CHARS: Final = 4096  # escapes lengthen it; it must fit the metadata of its copy
# They tell where a visitor came from, not which page is meant.
IGNORED_PARAMS: Final = (
    *("utm_*", "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "_ga", "_gl", "ref", "source"),
    *("mc_cid", "mc_eid"),
)
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f\\]")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE: Final = "/:@!$&'()*+,;=-._~%"
_QUERY_SAFE: Final = _PATH_SAFE + "?[]"


def canonical_url(url: str, zone: ZoneConfig) -> str:
    """The page's one spelling; Invalid for what is not a page of the zone."""
    if len(url) > MAX_URL_CHARS:
        raise Invalid(f"the URL is longer than {MAX_URL_CHARS} characters")
    if _FORBIDDEN.search(url):
        raise Invalid("the URL holds a space, a backslash or a control character")
    host = netloc_of(url)
    if not zone.covers(host):
        raise Invalid(f"{host} is not a host of this zone")
    parts = urlsplit(url)
    path = _path(parts.path, zone.cache_trailing_slash)
    query = "&".join(_kept(parts.query, (*IGNORED_PARAMS, *zone.cache_ignored_params)))
    canonical = f"{zone.scheme}://{host}{path}" + (f"?{query}" if query else "")
    if len(canonical) > MAX_CANONICAL_CHARS:
        raise Invalid(f"the URL is longer than {MAX_CANONICAL_CHARS} characters once it is escaped")
    return canonical


def variants_of(zone: ZoneConfig) -> list[str]:
    """Every form in which a page of the zone is kept; "" is the plain one."""
    languages = [f"lang:{language}" for language in zone.cache_languages] or [""]
    devices = ["", "device:mobile"] if zone.cache_device_variants else [""]
    return ["|".join(filter(None, (language, device))) for language in languages for device in devices]


def variant_for(zone: ZoneConfig, *, user_agent: str, accept_language: str) -> str:
    """The form that a visitor gets."""
    language = _language(zone.cache_languages, accept_language)
    mobile = zone.cache_device_variants and "mobi" in user_agent.lower()
    return "|".join(filter(None, (f"lang:{language}" if language else "", "device:mobile" if mobile else "")))


def variant_headers(variant: str, agent: str) -> tuple[tuple[str, str], ...]:
    """What asks an origin for this form."""
    parts = dict(part.split(":", 1) for part in variant.split("|") if part)
    mobile = "Mozilla/5.0 (Linux; Android 15; Mobile) " if "device" in parts else ""
    language = (("accept-language", parts["lang"]),) if "lang" in parts else ()
    return (("user-agent", mobile + agent), *language)


def cache_key(url: str, variant: str) -> str:
    """The text that names one form of one page; bodies are kept plain, the platform encodes them for each visitor."""
    return "|".join(filter(None, (url, "enc:identity", variant)))


def key_hash(url: str, variant: str) -> str:
    return sha256(cache_key(url, variant).encode()).hexdigest()


def bucket_key(zone_id: str, hashed: str) -> str:
    return f"cache/{zone_id}/{hashed[:2]}/{hashed[2:4]}/{hashed}"


def edge_url(url: str, variant: str) -> str:
    """The address under which the edge keeps a form: the page's own for the plain one."""
    if not variant:
        return url
    return f"{url}{'&' if '?' in url else '?'}sluice-variant={quote(variant, safe='')}"


def _path(path: str, trailing_slash: str) -> str:
    segments: list[str] = []
    for segment in _escaped(path, _PATH_SAFE).split("/"):
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


def _kept(query: str, ignored: Iterable[str]) -> Iterator[str]:
    """The parameters that count, by name and then by value."""
    names = {name.lower() for name in ignored if not name.endswith("*")}
    prefixes = tuple(name[:-1].lower() for name in ignored if name.endswith("*"))
    pairs = [_escaped(pair, _QUERY_SAFE) for pair in query.split("&") if pair]
    for pair in sorted(pairs, key=lambda pair: tuple(pair.partition("=")[::2])):
        name = unquote_plus(pair.partition("=")[0]).lower()
        if name not in names and not (prefixes and name.startswith(prefixes)):
            yield pair


def _escaped(text: str, safe: str) -> str:
    """Escapes in capitals, none for a letter or digit, and one for all that must have it."""
    plain = _ESCAPE.sub(_shortest, _STRAY_PERCENT.sub("%25", text))
    return quote(plain, safe=safe)


def _shortest(found: re.Match[str]) -> str:
    character = chr(int(found[1], 16))
    return character if character in _UNRESERVED else f"%{found[1].upper()}"


def _language(known: list[str], accept: str) -> str:
    if not known:
        return ""
    wanted = [item.partition(";")[0].strip().lower() for item in accept.split(",")]
    spoken = [each for language in wanted for each in (language, language.partition("-")[0])]
    return next((language for language in spoken if language in known), known[0])
