"""Hands compiled lists from one step of a workflow to the next, through R2."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Bucket, Clock
from sluice.services.compiler.cache.compiled_list import CompressedList
from sluice.services.compiler.cache.list_cache import HANDOVER_PREFIX

TTL_S: Final = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class StepHandover:
    """Hands lists over in R2: a step result may hold 1 MiB, which is too small for one."""

    bucket: Bucket
    clock: Clock

    async def put(self, name: str, compiled: CompressedList) -> None:
        expiry = {"expires_at": str(round(self.clock.now()) + TTL_S)}
        await self.bucket.put(HANDOVER_PREFIX + name, compiled.to_bytes(), custom_metadata=expiry)

    async def get(self, name: str) -> CompressedList:
        content = await self.bucket.get_bytes(HANDOVER_PREFIX + name)
        if content is None:
            raise SluiceError(f"the compiled list of {name} is no longer stored; start the workflow again")
        return CompressedList.from_bytes(content)

    async def delete(self, name: str) -> None:
        await self.bucket.delete(HANDOVER_PREFIX + name)
