"""A fake of Workers AI that answers by the words of its input."""

from typing import Any
from urllib.parse import urlsplit

from workers import Response, WorkerEntrypoint, fetch

__all__ = ["Default", "FakeAi"]


class FakeAi(WorkerEntrypoint):  # type: ignore[misc]
    async def run(self, model: str, inputs: dict[str, Any]) -> dict[str, Any]:
        question = inputs["messages"][1]["content"]
        is_summary = "matches" in inputs["response_format"]["json_schema"]["properties"]
        if gate := getattr(self.env, "AI_GATE_URL", ""):
            # The test holds the answer, or counts the question.
            await fetch(f"{gate}/{'summary' if is_summary else 'sentiment'}")
        if "outage" in question:
            raise RuntimeError("3040: Capacity temporarily exceeded")
        if not is_summary:
            return {"response": {"sentiment": "negative"}}
        if "cookies" in question:
            return {"response": '{"matches": false, "summary": ""}'}
        return {"response": {"matches": True, "summary": f"A summary of the article, by {model}."}}


class Default(WorkerEntrypoint):  # type: ignore[misc]
    """Reads and writes one key of the namespace."""

    async def fetch(self, request: Any) -> Response:
        key = urlsplit(request.url).path[1:]
        if str(request.method.value) == "PUT":
            await self.env.KV.put(key, await request.text())
            return Response("")
        return Response(await self.env.KV.get(key) or "null")
