"""The routes of worker-api that push: the WebSub hub, and the operator's webhooks."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, NotRequired, TypedDict
from urllib.parse import parse_qsl

from sluice.core.doc import Doc, other_members
from sluice.core.errors import BadField, Invalid, NotFound
from sluice.core.net.addresses import AllowedHosts
from sluice.services.news.http import ARTICLE_ID
from sluice.services.news.push.hub_request import (
    DEFAULT_LEASE_S,
    MAX_CALLBACK_CHARS,
    find_callback_mistakes,
    parse_hub_request,
)
from sluice.services.news.push.topics import HUB_PATH, list_topics
from sluice.services.news.state.remote_state import CreatedWebhook, ListedWebhook, RemoteNewsState
from sluice.web import Reply, Request, Route, read_bytes, read_json
from sluice.web.admin import OperatorGate
from sluice.web.operations import Media, Operation, ReplyDoc, describe
from sluice.web.parameters import PathParameter

_MAX_BODY_BYTES: Final = 16 * 1024
_FORM: Final = "application/x-www-form-urlencoded"

HubBody = TypedDict(
    "HubBody",
    {
        "hub.mode": Literal["subscribe", "unsubscribe"],
        "hub.topic": Annotated[str, Doc("The address or path of a feed, without a query.")],
        "hub.callback": Annotated[str, Doc("The https address that receives the feed.")],
        "hub.lease_seconds": NotRequired[
            Annotated[str, Doc("Ten days if it is not given.", more=(("default", str(DEFAULT_LEASE_S)),))]
        ],
        "hub.secret": NotRequired[Annotated[str, Doc("Signs what is sent.")]],
    },
)


@other_members(allowed=False)
class WebhookBody(TypedDict):
    url: Annotated[str, Doc("The https address that receives new stories.", more=(("maxLength", MAX_CALLBACK_CHARS),))]


class WebhookList(TypedDict):
    webhooks: list[ListedWebhook]


WEBHOOK: Final = PathParameter(
    "id", str, {"type": "string", "minLength": 1}, about="The id of a webhook.", example=ARTICLE_ID
)
ASK_HUB: Final = Operation(
    "subscribeToFeed",
    "Subscribe to a feed (WebSub)",
    {202: ReplyDoc("The callback will be asked.", Media("text/plain"))},
    (
        "Send a form (`application/x-www-form-urlencoded`), as the standard has it, or JSON. The callback is asked to confirm "
        "afterwards. Each change is then posted to it as the whole feed, signed if there is a secret."
    ),
    tag="Feeds",
    body=HubBody,
    example={
        "hub.mode": "subscribe",
        "hub.topic": "/api/v1/feed.atom",
        "hub.callback": "https://reader.example.com/news",
    },
    problems=(429,),
)
LIST_WEBHOOKS: Final = Operation(
    "listWebhooks",
    "The webhooks for new stories",
    {200: ReplyDoc("All of them, without their secrets.", WebhookList)},
    tag="Feeds",
    security=("admin",),
)
ADD_WEBHOOK: Final = Operation(
    "addWebhook",
    "Send new stories to an address",
    {201: ReplyDoc("The webhook and its secret.", CreatedWebhook)},
    "Each message is signed as in the Standard Webhooks specification.",
    tag="Feeds",
    body=WebhookBody,
    example={"url": "https://app.example.com/stories"},
    problems=(429,),
    security=("admin",),
)
REMOVE_WEBHOOK: Final = Operation(
    "removeWebhook",
    "Send no more stories to an address",
    {204: ReplyDoc("It is removed.")},
    tag="Feeds",
    path=(WEBHOOK,),
    problems=(404,),
    security=("admin",),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushApi:
    """Takes subscriptions from everybody, and webhooks from the operator."""

    state: RemoteNewsState
    allowed: AllowedHosts
    operators: OperatorGate
    public_url: str

    def routes(self) -> list[Route]:
        return [
            Route("POST", HUB_PATH, self._handle_hub_request),
            Route("GET", "/api/v1/webhooks", self._list_webhooks),
            Route("POST", "/api/v1/webhooks", self._add_webhook),
            Route("DELETE", "/api/v1/webhooks/:id", self._remove_webhook),
        ]

    @describe(ASK_HUB)
    async def _handle_hub_request(self, request: Request) -> Reply:
        """Answer before the callback is asked, as the standard demands."""
        form, home = await _read_form(request), find_base_url(request, self.public_url)
        if form.get("hub.topic", "").startswith("/"):
            form["hub.topic"] = home + form["hub.topic"]
        hub_request = parse_hub_request(form, topics=list_topics(home), allowed=self.allowed)
        await self.state.accept_hub_request(hub_request)
        return Reply.text("The callback will be asked to confirm this.\n", 202)

    @describe(LIST_WEBHOOKS)
    async def _list_webhooks(self, request: Request) -> Reply:
        await self.operators.admit(request)
        return Reply.json(WebhookList(webhooks=await self.state.list_webhooks()))

    @describe(ADD_WEBHOOK)
    async def _add_webhook(self, request: Request) -> Reply:
        await self.operators.admit(request)
        url = await _read_url(request)
        if mistakes := find_callback_mistakes("url", url, self.allowed):
            raise Invalid.from_fields(mistakes)
        return Reply.json(await self.state.add_webhook(url), 201)

    @describe(REMOVE_WEBHOOK)
    async def _remove_webhook(self, request: Request) -> Reply:
        await self.operators.admit(request)
        webhook_id = WEBHOOK.read(request)
        if not await self.state.remove_webhook(webhook_id):
            raise NotFound(f"no webhook has the id {webhook_id!r}")
        return Reply.empty()


def find_base_url(request: Request, public_url: str) -> str:
    """Return the address of this service without a path."""
    scheme, _, rest = request.url.partition("://")
    return public_url.rstrip("/") or f"{scheme}://{rest.partition('/')[0]}"


async def _read_form(request: Request) -> dict[str, str]:
    """Read a form, as the standard has it, or an object of JSON with the same names."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == _FORM:
        body = await read_bytes(request, max_bytes=_MAX_BODY_BYTES)
        return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
    value = await read_json(request, max_bytes=_MAX_BODY_BYTES)
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise Invalid("the body must be a form, or a JSON object whose values are texts")
    return value


async def _read_url(request: Request) -> str:
    body = await read_json(request, max_bytes=_MAX_BODY_BYTES)
    if not isinstance(body, dict) or not isinstance(body.get("url"), str):
        raise Invalid.from_fields([BadField("url", "is required: the address that receives new stories")])
    if unknown := [name for name in body if name != "url"]:
        raise Invalid.from_fields([BadField(name, "is not a known field") for name in unknown])
    return str(body["url"])
