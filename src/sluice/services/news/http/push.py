"""The routes of worker-api that push: the WebSub hub, and the operator's webhooks."""

import json
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from sluice.core.errors import BadField, Invalid, NotFound
from sluice.core.net.addresses import AllowedHosts
from sluice.services.news.push.hub_request import HubRequest, encode_request, find_callback_mistakes
from sluice.services.news.push.topics import HUB_PATH, list_topics
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.web import Reply, Request, Route, read_bytes, read_json
from sluice.web.admin import require_admin

_MAX_BODY_BYTES: Final = 16 * 1024
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class PushApi:
    """Takes subscriptions from everybody, and webhooks from the operator."""

    state: RemoteNewsState
    allowed: AllowedHosts
    admin_token: str
    public_url: str

    def routes(self) -> list[Route]:
        return [
            Route("POST", HUB_PATH, self._handle_hub_request),
            Route("GET", "/api/v1/webhooks", self._list_webhooks),
            Route("POST", "/api/v1/webhooks", self._add_webhook),
            Route("DELETE", "/api/v1/webhooks/:id", self._remove_webhook),
        ]

    async def _handle_hub_request(self, request: Request) -> Reply:
        """Answers before the callback is asked, as the standard demands."""
        form, home = await _read_form(request), find_home(request, self.public_url)
        if form.get("hub.topic", "").startswith("/"):
            form["hub.topic"] = home + form["hub.topic"]
        hub_request = HubRequest.parse(form, topics=list_topics(home), allowed=self.allowed)
        await self.state.accept_hub_request(encode_request(hub_request))
        return Reply.text("The callback will be asked to confirm this.\n", 202)

    async def _list_webhooks(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        return Reply.json({"webhooks": json.loads(await self.state.list_webhooks())})

    async def _add_webhook(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        url = _read_url(await read_json(request, max_bytes=_MAX_BODY_BYTES))
        if mistakes := find_callback_mistakes("url", url, self.allowed):
            raise Invalid.from_fields(mistakes)
        return Reply.json(json.loads(await self.state.add_webhook(url)), 201)

    async def _remove_webhook(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        if not await self.state.remove_webhook(request.params["id"]):
            raise NotFound(f"no webhook has the id {request.params['id']!r}")
        return Reply.empty()


def find_home(request: Request, public_url: str) -> str:
    """Returns the address of this service without a path."""
    scheme, _, rest = request.url.partition("://")
    return public_url.rstrip("/") or f"{scheme}://{rest.partition('/')[0]}"


async def _read_form(request: Request) -> dict[str, str]:
    """Reads a form, as the standard has it, or an object of JSON with the same names."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == _FORM:
        body = await read_bytes(request, max_bytes=_MAX_BODY_BYTES)
        return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
    value = await read_json(request, max_bytes=_MAX_BODY_BYTES)
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise Invalid("the body must be a form, or a JSON object whose values are texts")
    return value


def _read_url(body: Any) -> str:
    if not isinstance(body, dict) or not isinstance(body.get("url"), str):
        raise Invalid.from_fields([BadField("url", "is required: the address that receives new stories")])
    if unknown := [name for name in body if name != "url"]:
        raise Invalid.from_fields([BadField(name, "is not a known field") for name in unknown])
    return str(body["url"])
