"""A server that speaks Google's Gemini API, refuses what that would refuse, and misbehaves.

As `openai_server.py`: ``python gemini_server.py`` prints its port; `POST /admin/program` and
`GET /admin/report` are the same. `uses` is the call that it answers an offer of tools with.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

from aiohttp import web
from gemini_rules import camel, parts_by_kind, signature, wrong
from openai_server import Server, png, serve

STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
TYPE = "type.googleapis.com/google.rpc."


class GeminiServer(Server):
    """The handlers and their counts."""

    def load(self, settings: dict[str, Any]) -> None:
        self.uses = settings.pop("uses", None)
        super().load(settings)

    async def generate(self, request: web.Request) -> web.StreamResponse:
        body = camel(await request.json())
        model = request.match_info["model"]
        async with self.counted(request, body):
            key = request.headers.get("x-goog-api-key") or request.headers.get("Authorization")
            if not key:
                return self.error(403, "Method doesn't allow unregistered callers")
            if problem := wrong(model, body):
                self.outcomes["refused"] += 1
                return self.error(400, problem)
            if self.program.blind is not None and "inlineData" in json.dumps(body["contents"]):
                return await self.misbehave(request, self.program.blind, None)
            prompt = last_text(body["contents"])
            return await self.respond(request, prompt, self.answer(model, body, prompt))

    def answer(self, model: str, body: dict[str, Any], prompt: str) -> Any:
        if self.program.body is not None:
            return self.program.body
        config = body.get("generationConfig", {})
        parts: list[dict[str, Any]] = []
        if config.get("thinkingConfig", {}).get("includeThoughts"):
            parts.append({"text": f"Let me see: {prompt}", "thought": True})
        if self.uses and self._may_call(body):
            call = {"functionCall": self.uses, "thoughtSignature": signature(self.uses["name"])}
            parts.append(call)
        else:
            text = self.program.says.get(model, f"echo: {prompt}")
            if config.get("responseMimeType") == "application/json":
                text = json.dumps({"answer": text})
            parts.append({"text": text})
        if "IMAGE" in config.get("responseModalities", ()):
            data = base64.b64encode(png()).decode()
            parts.append({"inlineData": {"mimeType": "image/png", "data": data}})
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        return {
            "candidates": [{**candidate, "index": 0}],
            "usageMetadata": {
                "promptTokenCount": 10,
                "cachedContentTokenCount": 4,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 2,
                "totalTokenCount": 17,
            },
            "modelVersion": f"{model}-001",
            "responseId": f"r{self.requests}",
            **self.program.reply,
        }

    def _may_call(self, body: dict[str, Any]) -> bool:
        calling = body.get("toolConfig", {}).get("functionCallingConfig", {})
        called = any(parts_by_kind(content)[1] for content in body["contents"])
        return bool(body.get("tools")) and calling.get("mode") != "NONE" and not called

    def error(self, status: int, message: str, **details: Any) -> web.Response:
        told: list[dict[str, Any]] = []
        if "reason" in details:
            told.append({"@type": f"{TYPE}ErrorInfo", "reason": details["reason"]})
        if "quota" in details:
            violations = [{"quotaId": details["quota"]}]
            told.append({"@type": f"{TYPE}QuotaFailure", "violations": violations})
        if (wait := details.get("retry_delay")) is not None:
            told.append({"@type": f"{TYPE}RetryInfo", "retryDelay": wait})
        state = details.get("state") or STATUSES.get(status, "UNKNOWN")
        body = {"code": status, "message": message, "status": state, "details": told}
        headers = {}
        if (asked := details.get("retry_after")) is not None:
            headers["Retry-After"] = asked
        return web.json_response({"error": body}, status=status, headers=headers)


def last_text(contents: list[dict[str, Any]]) -> str:
    """Return the text of the last content, results of tools included."""
    parts = contents[-1]["parts"]
    results = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    texts = [part.get("text", "") for part in parts] + [json.dumps(one) for one in results]
    return "".join(texts)


async def main() -> None:
    server = GeminiServer()
    app = web.Application(client_max_size=64 * 2**20)
    vertex = "/v1beta1/projects/{project}/locations/{location}/publishers/google/models/{model}"
    app.add_routes(
        [
            web.post("/{version:v1|v1beta}/models/{model}:generateContent", server.generate),
            web.post(f"{vertex}:generateContent", server.generate),
            web.post("/admin/program", server.set_program),
            web.get("/admin/report", server.report),
        ]
    )
    await serve(app)


if __name__ == "__main__":
    asyncio.run(main())
