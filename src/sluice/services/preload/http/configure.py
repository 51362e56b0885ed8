"""The registration of a zone, whose addresses and own key are looked at before the zone hears of them."""

from collections.abc import Callable
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field

from sluice.core.errors import BadField, Invalid, Refused
from sluice.core.json_text import encode_json
from sluice.core.preload.zone_config import ZoneConfig, parse_config
from sluice.core.variables import MIN_SECRET_CHARS
from sluice.services.preload.http.access import NO_STORE, AccessHandlers
from sluice.services.preload.http.operator_routes import describe_call
from sluice.services.preload.http.requests import MAX_BODY_BYTES
from sluice.services.preload.zone.operator_calls import RegisteredReply
from sluice.web import Reply, Request, Route, read_json
from sluice.web.operations import describe

# Raises Refused for a URL that must not be fetched.
CheckUrl = Callable[[str], object]


class ZoneBody(ZoneConfig):
    """A zone: its site, how its pages are preloaded and how they are cached."""

    signing_key: Annotated[
        str,
        Field(
            min_length=MIN_SECRET_CHARS,
            description="The zone's own key instead of SIGNING_KEY; it is never shown again.",
        ),
    ] = ""


CONFIGURE: Final = describe_call(
    "configureZone",
    "Register a zone, or change it",
    "The zone's new configuration, with all defaults filled in.",
    RegisteredReply,
)._replace(
    description="All keys except `site_url` have defaults. A key that is left out gets its default, whatever it was before.",
    body=ZoneBody,
    example={"site_url": "https://www.example.com", "hosts": ["example.com"], "preload_rps_limit": 5},
    problems=(),
)


def configure_route(access: AccessHandlers, check_url: CheckUrl) -> Route:
    @describe(CONFIGURE)
    async def configure(request: Request) -> Reply:
        zone = await access.admit(request)
        body = await read_json(request, max_bytes=MAX_BODY_BYTES)
        key = body.pop("signing_key", None) if isinstance(body, dict) else None
        if key is not None and (not isinstance(key, str) or len(key) < MIN_SECRET_CHARS):
            raise Invalid.from_fields([BadField("signing_key", f"is a text of at least {MIN_SECRET_CHARS} characters")])
        _check_urls(parse_config(body), check_url)
        return Reply.json(await zone.configure(encode_json(body), key), headers=NO_STORE)

    return Route("PUT", "/api/v1/zones/:zone/config", configure)


def _check_urls(config: ZoneConfig, check_url: CheckUrl) -> None:
    """Raise Invalid that names every URL and host that must not be fetched."""
    mistakes = []
    for field, url in _list_fetched_urls(config).items():
        try:
            check_url(url)
        except Refused as error:
            mistakes.append(BadField(field, str(error)))
    if mistakes:
        raise Invalid.from_fields(mistakes)


def _list_fetched_urls(config: ZoneConfig) -> dict[str, str]:
    """Return the addresses that are fetched, by field: with an origin_url it alone, whatever the site is called."""
    if config.origin_url is not None:
        return {"origin_url": config.origin_url}
    urls = {"site_url": config.site_url, "preload_sitemap_url": config.sitemap_url}
    port = urlsplit(config.site_url).port
    for position, host in enumerate(config.hosts):
        suffix = f":{port}" if port and ":" not in host else ""
        urls[f"hosts[{position}]"] = f"{config.scheme}://{host}{suffix}"
    return urls
