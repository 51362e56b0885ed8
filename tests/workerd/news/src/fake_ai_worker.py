"""A fake of Workers AI that answers by the words of its input."""

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from workers import Response, WorkerEntrypoint, fetch

__all__ = ["Default", "FakeAi"]
# By a word of the question: the error that Workers AI answers with.
ERRORS = {
    "outage": "3040: Capacity temporarily exceeded",
    "removal": "5028: This model was deprecated on 2026-05-30.",
    "quota": "4006: you have used up your daily free allocation of 10,000 neurons",
}


class FakeAi(WorkerEntrypoint):  # type: ignore[misc]
    async def run(self, model: str, inputs: dict[str, Any]) -> dict[str, Any]:
        question = inputs["messages"][1]["content"]
        is_summary = "matches" in inputs["response_format"]["json_schema"]["properties"]
        if gate := getattr(self.env, "AI_GATE_URL", ""):
            # The test holds the answer, or counts the question.
            await fetch(f"{gate}/{'summary' if is_summary else 'sentiment'}")
        for word, error in ERRORS.items():
            if word in question:
                raise RuntimeError(error)
        if "silence" in question:
            await asyncio.sleep(3600)
        if "nonsense" in question:
            return {"response": "I am a language model."}
        if not is_summary:
            return {"response": {"sentiment": "negative"}}
        if "cookies" in question:
            return {"response": '{"matches": false, "summary": ""}'}
        return {"response": {"matches": True, "summary": f"A summary of the article, by {model}."}}


class Default(WorkerEntrypoint):  # type: ignore[misc]
    """Reads and writes one key of the namespace, or writes many."""

    async def fetch(self, request: Any) -> Response:
        key = urlsplit(request.url).path[1:]
        if str(request.method.value) == "PUT":
            await self.env.KV.put(key, await request.text())
            return Response("")
        if str(request.method.value) == "POST":
            for name, value in json.loads(await request.text()).items():
                await self.env.KV.put(name, json.dumps(value))
            return Response("")
        return Response(await self.env.KV.get(key) or "null")
