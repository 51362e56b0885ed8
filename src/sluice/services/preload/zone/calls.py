"""The calls to a zone's object: one typed protocol for callers, and how a call travels as JSON text.

One RPC method carries all of them: the name of the call and its arguments go there, a result or an error comes back.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from sluice.core.errors import NotFound, SluiceError
from sluice.core.ports import Database, Kv
from sluice.core.preload.request_signing import SignedRequest
from sluice.core.remote_errors import decode_error, encode_error

Json = dict[str, Any]
# What a site may ask for with its signature.
Shown = Literal["batch", "purge", "status"]


@dataclass(frozen=True, slots=True)
class SignedReply:
    """The reply to a signed request; `replayed` when it is the stored reply to the same request before."""

    reply: Json
    replayed: bool


class ZoneCalls(Protocol):
    """What a caller may ask of one zone's object."""

    async def preload(self, signed: SignedRequest, body: Any) -> SignedReply: ...
    async def purge(self, signed: SignedRequest, body: Any) -> SignedReply: ...
    async def crawl_for_site(self, signed: SignedRequest, body: Any) -> SignedReply: ...
    async def learn_from_site(self, signed: SignedRequest, body: Any) -> SignedReply: ...
    async def set_agent(self, signed: SignedRequest, body: Any) -> SignedReply: ...
    async def show_to_site(self, signed: SignedRequest, what: Shown, item_id: str) -> Json: ...
    async def configure(self, config: Any, signing_key: str | None = None) -> Json: ...
    async def show_config(self) -> Json: ...
    async def unregister(self) -> Json: ...
    async def list_versions(self) -> Json: ...
    async def restore_version(self, version: int) -> Json: ...
    async def show_status(self) -> Json: ...
    async def show_queue(self) -> Json: ...
    async def show_batch(self, batch_id: str) -> Json: ...
    async def show_purge(self, purge_id: str) -> Json: ...
    async def purge_by_hand(self, body: Any) -> Json: ...
    async def cancel_batch(self, batch_id: str) -> Json: ...
    async def list_failed(self, limit: int) -> Json: ...
    async def replay_failed(self, body: Any) -> Json: ...
    async def delete_failed(self, body: Any) -> Json: ...
    async def enqueue(self, body: Any) -> Json: ...
    async def crawl_sitemap(self, body: Any) -> Json: ...
    async def learn_pages(self, body: Any) -> Json: ...
    async def check_origin(self) -> Json: ...
    async def pause(self) -> Json: ...
    async def resume(self) -> Json: ...
    async def claim_refresh(self, url: str, variant: str) -> Json: ...
    async def suggest_page(self, url: str) -> Json: ...
    async def report_unreachable(self, reason: str) -> Json: ...
    async def report_circle(self, url: str) -> Json: ...
    async def show_breaker(self) -> Json: ...
    async def show_purges(self) -> Json: ...
    async def show_proxy_key(self) -> Json: ...
    async def observe(self, url: str, variant: str, digest: str, lifetime_s: int) -> Json: ...
    async def count_visits(self, layers: Json, pages: Json) -> Json: ...
    async def show_traffic(self) -> Json: ...
    async def list_observed(self) -> Json: ...
    async def test_rules(self, body: Any) -> Json: ...
    async def settle(self) -> None: ...
    async def tick(self) -> None: ...


CALLS: Final = frozenset(name for name in vars(ZoneCalls) if not name.startswith("_"))

# Sends the zone's id, the name of a call and its arguments to the zone's object; returns the result.
Send = Callable[[str, str, str], Awaitable[str]]


def encode_arguments(arguments: Json) -> str:
    return json.dumps(
        {name: each.as_json() if isinstance(each, SignedRequest) else each for name, each in arguments.items()}
    )


def decode_arguments(text: str) -> Json:
    arguments: Json = json.loads(text)
    if "signed" in arguments:
        arguments["signed"] = SignedRequest.from_json(arguments["signed"])
    return arguments


def encode_result(result: SignedReply | Json | None) -> str:
    if isinstance(result, SignedReply):
        return json.dumps({"reply": result.reply, "replayed": result.replayed})
    return json.dumps({"reply": result})


def decode_result(text: str) -> Json:
    """The encoded result; raises the error that the object raised."""
    result: Json = json.loads(text)
    if "error" in result:
        raise decode_error(result["error"])
    return result


async def answer_call(calls: ZoneCalls, name: str, arguments: str) -> str:
    """The object's side: makes the call; an expected error travels back as a value."""
    try:
        if name not in CALLS:
            raise NotFound(f"a zone has no call {name!r}")
        return encode_result(await getattr(calls, name)(**decode_arguments(arguments)))
    except SluiceError as error:
        return json.dumps({"error": encode_error(error)})


class RemoteZone:
    """The caller's side of ZoneCalls."""

    def __init__(self, zone_id: str, send: Send, on_config_change: Callable[[], None]) -> None:
        self._zone_id = zone_id
        self._send = send
        self._on_config_change = on_config_change

    async def preload(self, signed: SignedRequest, body: Any) -> SignedReply:
        return SignedReply(**await self._call("preload", signed=signed, body=body))

    async def purge(self, signed: SignedRequest, body: Any) -> SignedReply:
        return SignedReply(**await self._call("purge", signed=signed, body=body))

    async def crawl_for_site(self, signed: SignedRequest, body: Any) -> SignedReply:
        return SignedReply(**await self._call("crawl_for_site", signed=signed, body=body))

    async def learn_from_site(self, signed: SignedRequest, body: Any) -> SignedReply:
        return SignedReply(**await self._call("learn_from_site", signed=signed, body=body))

    async def set_agent(self, signed: SignedRequest, body: Any) -> SignedReply:
        reply = SignedReply(**await self._call("set_agent", signed=signed, body=body))
        self._on_config_change()
        return reply

    async def show_to_site(self, signed: SignedRequest, what: Shown, item_id: str) -> Json:
        return await self._ask("show_to_site", signed=signed, what=what, item_id=item_id)

    async def configure(self, config: Any, signing_key: str | None = None) -> Json:
        return await self._change_config("configure", config=config, signing_key=signing_key)

    async def show_config(self) -> Json:
        return await self._ask("show_config")

    async def unregister(self) -> Json:
        return await self._change_config("unregister")

    async def list_versions(self) -> Json:
        return await self._ask("list_versions")

    async def restore_version(self, version: int) -> Json:
        return await self._change_config("restore_version", version=version)

    async def show_status(self) -> Json:
        return await self._ask("show_status")

    async def show_queue(self) -> Json:
        return await self._ask("show_queue")

    async def show_batch(self, batch_id: str) -> Json:
        return await self._ask("show_batch", batch_id=batch_id)

    async def show_purge(self, purge_id: str) -> Json:
        return await self._ask("show_purge", purge_id=purge_id)

    async def purge_by_hand(self, body: Any) -> Json:
        return await self._ask("purge_by_hand", body=body)

    async def cancel_batch(self, batch_id: str) -> Json:
        return await self._ask("cancel_batch", batch_id=batch_id)

    async def list_failed(self, limit: int) -> Json:
        return await self._ask("list_failed", limit=limit)

    async def replay_failed(self, body: Any) -> Json:
        return await self._ask("replay_failed", body=body)

    async def delete_failed(self, body: Any) -> Json:
        return await self._ask("delete_failed", body=body)

    async def enqueue(self, body: Any) -> Json:
        return await self._ask("enqueue", body=body)

    async def crawl_sitemap(self, body: Any) -> Json:
        return await self._ask("crawl_sitemap", body=body)

    async def learn_pages(self, body: Any) -> Json:
        return await self._ask("learn_pages", body=body)

    async def check_origin(self) -> Json:
        return await self._ask("check_origin")

    async def pause(self) -> Json:
        return await self._ask("pause")

    async def resume(self) -> Json:
        return await self._ask("resume")

    async def claim_refresh(self, url: str, variant: str) -> Json:
        return await self._ask("claim_refresh", url=url, variant=variant)

    async def suggest_page(self, url: str) -> Json:
        return await self._ask("suggest_page", url=url)

    async def report_unreachable(self, reason: str) -> Json:
        return await self._ask("report_unreachable", reason=reason)

    async def report_circle(self, url: str) -> Json:
        return await self._ask("report_circle", url=url)

    async def show_purges(self) -> Json:
        return await self._ask("show_purges")

    async def show_proxy_key(self) -> Json:
        return await self._ask("show_proxy_key")

    async def show_breaker(self) -> Json:
        return await self._ask("show_breaker")

    async def observe(self, url: str, variant: str, digest: str, lifetime_s: int) -> Json:
        return await self._ask("observe", url=url, variant=variant, digest=digest, lifetime_s=lifetime_s)

    async def count_visits(self, layers: Json, pages: Json) -> Json:
        return await self._ask("count_visits", layers=layers, pages=pages)

    async def show_traffic(self) -> Json:
        return await self._ask("show_traffic")

    async def list_observed(self) -> Json:
        return await self._ask("list_observed")

    async def test_rules(self, body: Any) -> Json:
        return await self._ask("test_rules", body=body)

    async def settle(self) -> None:
        await self._call("settle")

    async def tick(self) -> None:
        await self._call("tick")

    async def _call(self, name: str, /, **arguments: Any) -> Json:
        return decode_result(await self._send(self._zone_id, name, encode_arguments(arguments)))

    async def _ask(self, name: str, /, **arguments: Any) -> Json:
        reply: Json = (await self._call(name, **arguments))["reply"]
        return reply

    async def _change_config(self, name: str, /, **arguments: Any) -> Json:
        reply = await self._ask(name, **arguments)
        self._on_config_change()
        return reply


class Zones(Protocol):
    """All zones, as the API and the cron reach them."""

    def get(self, zone_id: str) -> ZoneCalls: ...
    async def list_ids(self) -> list[str]: ...
    async def is_registered(self, zone_id: str) -> bool: ...
    async def forget(self, zone_id: str) -> None: ...


@dataclass(frozen=True, slots=True)
class RemoteZones:
    """The zones, each behind its object. Its configuration is in KV, the list of all in D1."""

    kv: Kv
    database: Database
    send: Send
    on_config_change: Callable[[], None]

    def get(self, zone_id: str) -> ZoneCalls:
        return RemoteZone(zone_id, self.send, self.on_config_change)

    async def list_ids(self) -> list[str]:
        return [str(row["zone_id"]) for row in await self.database.all("SELECT zone_id FROM zones ORDER BY zone_id")]

    async def is_registered(self, zone_id: str) -> bool:
        return await self.kv.get_text(f"config:{zone_id}") is not None

    async def forget(self, zone_id: str) -> None:
        """Takes a zone off the list, because its object has no configuration."""
        await self.database.run("DELETE FROM zones WHERE zone_id = ?", zone_id)
