"""A server that speaks Bedrock's Converse API, refuses what that would refuse, and misbehaves.

As `openai_server.py`: ``python converse_server.py`` prints its port; `POST /admin/program` and
`GET /admin/report` are the same. `uses` is the call that it answers an offer of tools with.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from aiohttp import web
from converse_rules import calls_and_results, signature, wrong
from openai_server import Server, serve

CODES = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=\w+/\d{8}/([a-z0-9-]+)/bedrock/aws4_request, SignedHeaders=.*"
    r"Signature=[0-9a-f]{64}"
)


class ConverseServer(Server):
    """The handlers and their counts."""

    def load(self, settings: dict[str, Any]) -> None:
        self.uses = settings.pop("uses", None)
        super().load(settings)

    async def converse(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        model = request.match_info["model"]
        async with self.counted(request, body):
            signed = request.headers.get("Authorization", "")
            if not SIGNED.fullmatch(signed) and not signed.startswith("Bearer "):
                return self.error(403, "not signed", code="MissingAuthenticationTokenException")
            if problem := wrong(model, body):
                self.outcomes["refused"] += 1
                return self.error(400, problem)
            if self.program.blind is not None and '"image"' in json.dumps(body["messages"]):
                return await self.misbehave(request, self.program.blind, None)
            prompt = last_text(body["messages"])
            return await self.respond(request, prompt, self.answer(model, body, prompt))

    def answer(self, model: str, body: dict[str, Any], prompt: str) -> Any:
        if self.program.body is not None:
            return self.program.body
        content: list[dict[str, Any]] = []
        fields = body.get("additionalModelRequestFields") or {}
        if fields.get("thinking", {}).get("type") in {"adaptive", "enabled"}:
            thought = f"Let me see: {prompt}"
            told = {"text": thought, "signature": signature(thought)}
            content.append({"reasoningContent": {"reasoningText": told}})
        stop_reason = "end_turn"
        if self.uses and self._may_call(body):
            content.append({"toolUse": {"toolUseId": f"tooluse_{self.requests}", **self.uses}})
            stop_reason = "tool_use"
        else:
            text = self.program.says.get(model, f"echo: {prompt}")
            if "textFormat" in body.get("outputConfig", {}):
                text = json.dumps({"answer": text})
            content.append({"text": text})
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": stop_reason,
            "usage": {
                "inputTokens": 10,
                "outputTokens": 5,
                "totalTokens": 22,
                "cacheReadInputTokens": 4,
                "cacheWriteInputTokens": 3,
            },
            "metrics": {"latencyMs": 1},
            **self.program.reply,
        }

    def _may_call(self, body: dict[str, Any]) -> bool:
        called = any(calls_and_results(message)[1] for message in body["messages"])
        return "toolConfig" in body and not called

    def error(self, status: int, message: str, **details: Any) -> web.Response:
        code = details.get("code") or CODES.get(status, "UnknownException")
        headers = {"x-amzn-ErrorType": f"{code}:http://internal.amazon.com/"}
        if (wait := details.get("retry_after")) is not None:
            headers["Retry-After"] = wait
        return web.json_response({"message": message}, status=status, headers=headers)


def last_text(messages: list[dict[str, Any]]) -> str:
    """Return the text of the last message, results of tools included."""
    blocks = messages[-1]["content"]
    inner = [part for block in blocks for part in block.get("toolResult", {}).get("content", ())]
    return "".join(block.get("text", "") for block in (*blocks, *inner))


async def main() -> None:
    server = ConverseServer()
    app = web.Application(client_max_size=64 * 2**20)
    app.add_routes(
        [
            web.post("/model/{model:.+}/converse", server.converse),
            web.post("/admin/program", server.set_program),
            web.get("/admin/report", server.report),
        ]
    )
    await serve(app)


if __name__ == "__main__":
    asyncio.run(main())
