"""The static files that are deployed with a Worker."""

from dataclasses import dataclass
from typing import Any

from sluice.core.errors import NotFound
from sluice.platform.failures import translate_errors
from sluice.web.messages import Reply

# The binding reads only the path of the URL.
_HOST = "https://assets.invalid"


@dataclass(frozen=True, slots=True)
class Assets:
    env: Any

    async def fetch(self, path: str) -> Reply | None:
        """Return the file as it is served, or None if there is none."""
        response = await self._get(path)
        return None if response.status == 404 else Reply.passthrough(response)

    async def read(self, path: str) -> bytes:
        """Return the content of a file."""
        response = await self._get(path)
        if response.status == 404:
            raise NotFound(f"the file {path} was not built: run ./scripts/setup and deploy again")
        content: bytes = await response.bytes()
        return content

    async def _get(self, path: str) -> Any:
        with translate_errors(f"file {path!r}"):
            return await self.env.ASSETS.fetch(f"{_HOST}{path}")
