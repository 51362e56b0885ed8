"""A walk through an API by the paths of its own document."""

import secrets
import time
from typing import Any

import httpx

from runtime import until
from sluice.core.preload.request_signing import sign_request
from workerd.api_document import ApiDocument, Operation

TOKEN = "the-operators-token"
KEY = "the-key-that-signs"


def send(client: httpx.Client, operation: Operation, request: dict[str, Any]) -> httpx.Response:
    """Send the request, with the operator's token or a signature where it is needed and not given."""
    given = client.build_request(**request)
    if operation.is_for_admins:
        given.headers.setdefault("Authorization", f"Bearer {TOKEN}")
    if operation.is_signed and "X-Signature" not in given.headers:
        given.headers.update(signature(given.method, given.url.raw_path.decode(), given.read()))
    return health(client) if operation.path == "/health" else client.send(given)


def health(client: httpx.Client) -> httpx.Response:
    """Return the report of a Worker on itself; a binding that was given no time to answer is asked again."""
    found: httpx.Response = until(lambda: "no answer within" not in (reply := client.get("/health")).text and reply)
    return found


def signature(method: str, target: str, body: bytes = b"") -> dict[str, str]:
    """Return the headers of a site that knows the key."""
    return sign_request(KEY, method, target, body, now=time.time(), nonce=secrets.token_hex(16))


class Walk:
    """Calls by the document's own paths; each reply is held against it."""

    def __init__(self, client: httpx.Client, document: ApiDocument) -> None:
        self.client = client
        self.document = document

    def __call__(self, method: str, path: str, values: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        operation = self.document.operation(method, path)
        reply = send(self.client, operation, self.document.request(operation, **(values or {})) | more)
        self.document.check(operation, reply)
        return reply

    def until(self, path: str, values: dict[str, str], *states: str, member: str = "status") -> dict[str, Any]:
        """Return the reply as soon as its state is one of these."""

        def look() -> Any:
            found = self("GET", path, values).json()
            return found if found[member] in states else None

        found: dict[str, Any] = until(look)
        return found
