"""Parameters of workflows, in R2 by their key where they are too large for the engine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.ports import Bucket, Clock
from sluice.services.compiler.cache.cache import HANDOVER

# The engine takes 1 MiB in its own encoding, in which a text may need twice its bytes.
MAX_INLINE_BYTES: Final = 400_000
TTL_S: Final = 7 * 24 * 3600
FIELD: Final = "parcel"
_KEPT: Final = ("requestId", "batchId", "runId", "queuedAt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcels:
    """Objects below the prefix of handed-over results, and deleted with those when their time is over."""

    bucket: Bucket
    clock: Clock

    async def packed(self, workflow_id: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """What to start the workflow with: the parameters, or where they are."""
        content = encode_utf8(encode_json(params))
        if len(content) <= MAX_INLINE_BYTES:
            return dict(params)
        key = f"{HANDOVER}params/{workflow_id}"
        ends = {"expires_at": str(round(self.clock.now()) + TTL_S)}
        await self.bucket.put(key, content, custom_metadata=ends)
        return {name: params[name] for name in _KEPT if name in params} | {FIELD: key}

    async def opened(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The parameters a workflow was started with; called inside its steps, since it reads."""
        if FIELD not in params:
            return params
        content = await self.bucket.get_bytes(params[FIELD])
        if content is None:
            raise SluiceError(f"the parameters {params[FIELD]} are not there any more")
        found: Mapping[str, Any] = json.loads(content)
        return found

    async def discard(self, params: Mapping[str, Any]) -> None:
        """Nobody needs them any more."""
        if FIELD in params:
            await self.bucket.delete(params[FIELD])
