"""The parameters of workflows. Those that are too large for the engine are stored in R2.

So is what callers have sent as content of their own: the engine would keep it for weeks, and here it is deleted when the
workflow ends.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.ports import Bucket, Clock
from sluice.services.compiler.cache.list_cache import HANDOVER_PREFIX

# The engine takes 1 MiB in its own encoding, in which a text may need twice its bytes.
MAX_INLINE_BYTES: Final = 400_000
TTL_S: Final = 7 * 24 * 3600
KEY_FIELD: Final = "parcel"  # in the parameters of the engine
_INLINE_FIELDS: Final = ("requestId", "batchId", "runId", "queuedAt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamsStore:
    """Stores parameters in R2, under the prefix of handed-over lists, whose expired objects are deleted."""

    bucket: Bucket
    clock: Clock

    async def store(self, workflow_id: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return what to start the workflow with: the parameters, or the key under which they are stored."""
        content = encode_utf8(encode_json(params))
        if len(content) <= MAX_INLINE_BYTES and not _has_content(params):
            return dict(params)
        key = f"{HANDOVER_PREFIX}params/{workflow_id}"
        expiry = {"expires_at": str(round(self.clock.now()) + TTL_S)}
        await self.bucket.put(key, content, custom_metadata=expiry)
        return {name: params[name] for name in _INLINE_FIELDS if name in params} | {KEY_FIELD: key}

    async def load(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the parameters that a workflow was started with. It reads, so call it inside a step."""
        if KEY_FIELD not in params:
            return params
        content = await self.bucket.get_bytes(params[KEY_FIELD])
        if content is None:
            raise SluiceError(f"the parameters {params[KEY_FIELD]} are no longer stored; start the workflow again")
        stored: Mapping[str, Any] = json.loads(content)
        return stored

    async def delete(self, params: Mapping[str, Any]) -> None:
        """Delete stored parameters after the workflow."""
        if KEY_FIELD in params:
            await self.bucket.delete(params[KEY_FIELD])


def _has_content(params: Mapping[str, Any]) -> bool:
    return any(part.get("preFetchedContent") for part in (params, *params.get("requests", ())))
