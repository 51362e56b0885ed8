"""The configuration of a zone: one site, its hosts, and how it is preloaded and cached."""

import re
from functools import cached_property, lru_cache
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urljoin, urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sluice.core.doc import Doc
from sluice.core.errors import Invalid
from sluice.core.models import parse_model

ZONE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HOST: Final = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::[0-9]{1,5})?")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_PARAM: Final = re.compile(r"[A-Za-z0-9_.\[\]-]{1,64}\*?")
_SITE_PATH: Final = re.compile(r"/(?!/)[!$-;=?-\[\]_a-z~]*")  # ASCII without spaces, quotes, backslashes and fragments
_ENCODED_DOT: Final = re.compile("%2e", re.IGNORECASE)
_ANY_SITE: Final = "https://site.invalid"
_COOKIE: Final = re.compile(r"[!#$%&'+.^_`|~0-9A-Za-z-]{1,128}\*?")
_PATH: Final = re.compile(r"/[^\s?#\\]{0,511}")
_HEADER: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_UNFIT_HEADERS: Final = frozenset(
    {"accept", "accept-encoding", "authorization", "cf-connecting-ip", "cf-ray", "connection", "cookie", "host", "lang"}
    | {"device", "range", "referer", "user-agent", "x-forwarded-for", "x-real-ip"}
)
# Parameters that show one visitor's view, or change something.
BYPASS_PARAMS: Final = (
    "add-to-cart",
    "moderation-hash",
    "nocache",
    "preview",
    "remove_item",
    "unapproved",
    "wc-ajax",
    "wc-api",
)
# Cookies of visitors who are logged in, have a cart, or have a session.
BYPASS_COOKIES: Final = (
    *("wordpress_logged_in_*", "wordpress_sec_*", "wp-postpass_*", "comment_author_*", "woocommerce_items_in_cart"),
    *("woocommerce_cart_hash", "wp_woocommerce_session_*", "edd_items_in_cart", "laravel_session", "sessionid"),
    *("X-Magento-Vary", "PHPSESSID", "JSESSIONID", "ASP.NET_SessionId", "ASPSESSIONID*", "connect.sid", "_session_id"),
    *("session", "session_id", "sid", "SESS*", "SSESS*", "PrestaShop-*", "CFID", "CFTOKEN", "remember_web_*"),
)
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8})?")

Tier = Literal["aggressive", "standard", "conservative", "minimal"]


class ZoneConfig(BaseModel):
    """The value at KV `config:{zone_id}`: the documented `preload_*` keys, and how the zone's pages are cached."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    site_url: Annotated[str, Field(max_length=512)]
    hosts: Annotated[list[str], Field(max_length=50)] = []
    # Where the origin is reached, if not at the page's own URL.
    origin_url: Annotated[str, Field(max_length=512)] | None = None

    preload_enabled: bool = True
    preload_post_purge: bool = True
    preload_schedule_interval_s: Annotated[int, Field(ge=60, le=2_592_000)] = 1800
    preload_max_concurrency: Annotated[int, Field(ge=1, le=32)] = 6
    preload_rps_limit: Annotated[int, Field(ge=1, le=1000)] = 10
    preload_rpm_limit: Annotated[int, Field(ge=1, le=60_000)] = 120
    preload_queue_max_depth: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    preload_queue_backend: Literal["kv", "durable-object"] = "kv"
    preload_retry_max: Annotated[int, Field(ge=0, le=10)] = 3
    preload_circuit_breaker_threshold: Annotated[int, Field(ge=1, le=100)] = 3
    preload_circuit_breaker_max_backoff_s: Annotated[int, Field(ge=30, le=86_400)] = 1800
    preload_sitemap_crawl_enabled: bool = False
    preload_sitemap_url: Annotated[str, Field(max_length=2048)] = "{site_url}/sitemap.xml"
    preload_on_deployment: bool = False
    # Asked for by the minute's cron, because a site that is served from copies never runs its own timers.
    origin_cron_path: Annotated[str, Field(max_length=512)] | None = None

    # False: the origin answers everything. "observe": it does, and its replies to visitors are compared.
    cache_enabled: bool | Literal["observe"] = True
    cache_tier: Tier = "standard"
    cache_ttl_by_path: Annotated[dict[str, Annotated[int, Field(ge=0, le=31_536_000)]], Field(max_length=100)] = {}
    cache_include_paths: Annotated[list[str], Field(max_length=100)] = []
    cache_exclude_paths: Annotated[list[str], Field(max_length=100)] = []
    cache_stale_while_revalidate_s: Annotated[int, Field(ge=0, le=2_592_000)] = 86_400
    cache_stale_if_error_s: Annotated[int, Field(ge=0, le=2_592_000)] = 604_800
    # So long after a purge is accepted, or the configuration changes, no data centre serves by the old state.
    cache_purge_delay_s: Annotated[int, Field(ge=1, le=300)] = 2
    # How many different queries of one path are stored: anybody can invent more.
    cache_max_query_variants: Annotated[int, Field(ge=0, le=10_000)] = 50
    cache_trailing_slash: Literal["keep", "add", "strip"] = "keep"
    # Parameters that are part of the key (all, if none is named), that are not, and that only the origin may answer.
    cache_kept_params: Annotated[list[str], Field(max_length=100)] = []
    cache_ignored_params: Annotated[list[str], Field(max_length=100)] = []
    cache_bypass_params: Annotated[list[str], Field(max_length=100)] = list(BYPASS_PARAMS)
    cache_bypass_cookies: Annotated[list[str], Field(max_length=100)] = list(BYPASS_COOKIES)
    cache_device_variants: bool = False
    cache_languages: Annotated[list[str], Field(max_length=20)] = []
    cache_vary_headers: Annotated[list[str], Field(max_length=5)] = []
    # How long a visitor waits for the origin's headers, if there is no copy.
    origin_timeout_s: Annotated[int, Field(ge=1, le=600)] = 100

    @field_validator("site_url", "origin_url")
    @classmethod
    def _check_origin(cls, url: str | None) -> str | None:
        return None if url is None else _parse_origin(url)

    @field_validator("hosts")
    @classmethod
    def _check_hosts(cls, hosts: list[str]) -> list[str]:
        return [_parse_host(host) for host in hosts]

    @field_validator("origin_cron_path")
    @classmethod
    def _check_cron_path(cls, path: str | None) -> str | None:
        return path if path is None else check_site_path(path)

    @field_validator("cache_kept_params", "cache_ignored_params", "cache_bypass_params")
    @classmethod
    def _check_params(cls, params: list[str]) -> list[str]:
        return _require_matches(params, _PARAM, "names of query parameters, a * at the end matches any ending")

    @field_validator("cache_bypass_cookies")
    @classmethod
    def _check_cookies(cls, cookies: list[str]) -> list[str]:
        return _require_matches(cookies, _COOKIE, "names of cookies, a * at the end matches any ending")

    @field_validator("cache_include_paths", "cache_exclude_paths")
    @classmethod
    def _check_paths(cls, paths: list[str]) -> list[str]:
        return _require_matches(paths, _PATH, "paths such as /blog/*, in which * matches anything")

    @field_validator("cache_ttl_by_path")
    @classmethod
    def _check_rules(cls, rules: dict[str, int]) -> dict[str, int]:
        _require_matches(list(rules), _PATH, "paths such as /blog/*, in which * matches anything")
        return rules

    @field_validator("cache_vary_headers")
    @classmethod
    def _check_vary_headers(cls, names: list[str]) -> list[str]:
        lowered = [name.lower() for name in names]
        _require_matches(
            lowered, _HEADER, "names of request headers, but neither cookies nor those that change with each request"
        )
        if bad := next((name for name in lowered if name in _UNFIT_HEADERS), None):
            raise ValueError(f"{bad} cannot make variants: its value is different for nearly every visitor")
        return lowered

    @field_validator("cache_languages")
    @classmethod
    def _check_languages(cls, languages: list[str]) -> list[str]:
        return _require_matches(languages, _LANGUAGE, "languages such as de or pt-br")

    @model_validator(mode="after")
    def _check_sitemap_host(self) -> Self:
        if not self.covers_url(self.sitemap_url):
            raise ValueError("preload_sitemap_url is not on one of the zone's hosts")
        return self

    @property
    def scheme(self) -> str:
        return urlsplit(self.site_url).scheme

    @property
    def sitemap_url(self) -> str:
        return self.preload_sitemap_url.replace("{site_url}", self.site_url)

    @cached_property
    def own_hosts(self) -> frozenset[str]:
        """Every host of the zone as it is written in a URL, with its port if that is not the default."""
        site = urlsplit(self.site_url)
        port = f":{site.port}" if site.port else ""
        with_port = (host if ":" in host else f"{host}{port}" for host in self.hosts)
        return frozenset({site.netloc, *self.hosts, *with_port})

    def covers(self, host: str) -> bool:
        """Return whether a host, with its port if that is not the default, is one of the zone's own."""
        return host in self.own_hosts

    def covers_url(self, url: str) -> bool:
        """Return whether a URL is on one of the zone's hosts."""
        try:
            return self.covers(netloc_of(url))
        except Invalid:
            return False


@lru_cache(maxsize=256)  # each request asks several times; a URL may have 16 KB
def netloc_of(url: str) -> str:
    """Return host and port of a URL in one spelling: lower case, ASCII, without the default port."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Invalid("the URL cannot be parsed") from None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        raise Invalid("the URL does not start with http:// or https:// and a host")
    if parts.username is not None or parts.password is not None:
        raise Invalid("the URL contains a user name or password")
    ascii_host = _to_ascii(host)
    literal = f"[{ascii_host}]" if ":" in ascii_host else ascii_host
    return literal if port in {None, _DEFAULT_PORTS[parts.scheme]} else f"{literal}:{port}"


def parse_config(value: object) -> ZoneConfig:
    """Parse a configuration; raise Invalid that names every bad field."""
    return parse_model(ZoneConfig, value)


# A configuration as plain values.
ConfigJson = Annotated[dict[str, Any], Doc(model=ZoneConfig)]


def config_as_json(config: ZoneConfig) -> ConfigJson:
    """Return the configuration with all defaults filled in."""
    return config.model_dump(mode="json")


def check_site_path(path: str) -> str:
    """Return a path of a site; raise ValueError if anybody could read it as an address elsewhere, appended or joined to the site's."""
    address = _ANY_SITE + _ENCODED_DOT.sub(".", path.partition("?")[0])
    # Joining takes dot segments away: `/..//10.0.0.1` would begin with two slashes, and so name a host.
    if not _SITE_PATH.fullmatch(path) or urljoin(_ANY_SITE, address.removeprefix(_ANY_SITE)) != address:
        raise ValueError("must be a path without . and .. in it, such as /wp-cron.php?doing_wp_cron")
    return path


def check_zone_id(zone_id: str) -> str:
    if not ZONE_ID.fullmatch(zone_id):
        raise Invalid("a zone id has 1 to 64 letters, digits, - and _")
    return zone_id


def _parse_origin(url: str) -> str:
    try:
        netloc = netloc_of(url)
    except Invalid as error:
        raise ValueError(str(error)) from None
    parts = urlsplit(url)
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise ValueError("must be a scheme and a host only, such as https://www.example.com")
    return f"{parts.scheme}://{netloc}"


def _parse_host(text: str) -> str:
    host = text.strip().lower() if text.isascii() else _to_ascii(text.strip())
    if not _HOST.fullmatch(host):
        raise ValueError(f"{text[:80]!r} is not a host such as www.example.com")
    return host


def _to_ascii(host: str) -> str:
    if host.isascii():
        return host.lower().removesuffix(".")
    import idna  # noqa: PLC0415 - few names are not ASCII, and it delays the start of a Worker

    try:
        return idna.encode(host, uts46=True).decode()
    except (UnicodeError, OverflowError):
        raise Invalid("the host name is not valid") from None


def _require_matches(values: list[str], pattern: re.Pattern[str], what: str) -> list[str]:
    for value in values:
        if not pattern.fullmatch(value):
            raise ValueError(f"{value[:80]!r} is not allowed here: use {what}")
    return values
