"""A server that speaks Anthropic's Messages API, refuses what that would refuse, and misbehaves.

As `openai_server.py`: ``python messages_server.py`` prints its port; `POST /admin/program` and
`GET /admin/report` are the same. Its cache of prompts works as the published one: marks write, and
later requests with an equal prefix and a mark read.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web
from servers.messages_rules import blocks_of, signature, wrong
from servers.openai_server import Server, serve

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class MessagesServer(Server):
    """The handlers, their counts and the cache of prompts."""

    def load(self, settings: dict[str, Any]) -> None:
        self.uses = settings.pop("uses", None)
        self.smallest = settings.pop("smallest", 100)
        super().load(settings)
        self.cached: set[str] = set()

    async def messages(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        async with self.counted(request, body):
            if not request.headers.get("Authorization", "").startswith("Bearer "):
                return self.error(401, "Authorization header is required")
            if problem := wrong(body, request.headers.get("anthropic-version", "")):
                self.outcomes["refused"] += 1
                return self.error(400, problem)
            if self.program.blind is not None and '"image"' in json.dumps(body["messages"]):
                return await self.misbehave(request, self.program.blind, None)
            prompt = last_text(body["messages"])
            return await self.respond(request, prompt, self.message(body, prompt))

    def message(self, body: dict[str, Any], prompt: str) -> Any:
        if self.program.body is not None:
            return self.program.body
        content: list[dict[str, Any]] = []
        if body.get("thinking", {}).get("type") in {"adaptive", "enabled"}:
            thought = f"Let me see: {prompt}"
            content.append(
                {"type": "thinking", "thinking": thought, "signature": signature(thought)}
            )
        stop_reason = "end_turn"
        if self.uses and self._may_call(body):
            content.append({"type": "tool_use", "id": f"toolu_{self.requests}", **self.uses})
            stop_reason = "tool_use"
        else:
            text = self.program.says.get(body["model"], f"echo: {prompt}")
            if "format" in body.get("output_config", {}):
                text = json.dumps({"answer": text})
            content.append({"type": "text", "text": text, "citations": None})
        return {
            "id": f"msg_{self.requests}",
            "type": "message",
            "role": "assistant",
            "model": f"{body['model']}-20260101",
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": self.usage(body),
            **self.program.reply,
        }

    def usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """Count tokens, a quarter of the characters, as fresh, read and written ones."""
        read = written = 0
        text, ends = "", []
        for block in all_blocks(body):
            marked = block.pop("cache_control", None) is not None
            text += json.dumps(block)
            ends.append(text)
            if marked and len(text) // 4 >= self.smallest:
                # Of a mark, the API looks back over twenty blocks for what was written before.
                found = next((end for end in ends[:-21:-1] if end in self.cached), "")
                read = max(read, len(found) // 4)
                written = len(text) // 4 - read
                self.cached.add(text)
        total = len(text) // 4
        return {
            "input_tokens": total - read - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 2},
        }

    def _may_call(self, body: dict[str, Any]) -> bool:
        forbidden = body.get("tool_choice", {}).get("type") == "none"
        called = '"tool_result"' in json.dumps(body["messages"])
        return bool(body.get("tools")) and not forbidden and not called

    def error(self, status: int, message: str, **details: Any) -> web.Response:
        kind = details.get("type") or KINDS.get(status, "api_error")
        body: dict[str, Any] = {"type": kind, "message": message}
        if "code" in details:
            body["details"] = {"error_code": details["code"]}
        headers = {"request-id": "req_1"}
        if (wait := details.get("retry_after")) is not None:
            headers["retry-after"] = wait
        # As the published API does in streams, and gateways in whole replies.
        shown = details.get("shown_as", status)
        return web.json_response({"type": "error", "error": body}, status=shown, headers=headers)


def all_blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return copies of all blocks, in the order in which prompts are cached."""
    blocks = [dict(tool) for tool in body.get("tools", ())]
    blocks += [dict(block) for block in blocks_of(body.get("system", ""))]
    for message in body["messages"]:
        blocks += [{"role": message["role"], **block} for block in blocks_of(message["content"])]
    return blocks


def last_text(messages: list[dict[str, Any]]) -> str:
    """Return the text of the last message, results of tools included."""
    blocks = blocks_of(messages[-1]["content"])
    inner = [part for block in blocks for part in blocks_of(block.get("content"))]
    return "".join(block.get("text", "") for block in (*blocks, *inner))


async def main() -> None:
    wrong({}, "")  # reads the types, which takes a while, before the first request
    server = MessagesServer()
    app = web.Application(client_max_size=64 * 2**20)
    app.add_routes(
        [
            web.post("/v1/messages", server.messages),
            web.post("/admin/program", server.set_program),
            web.get("/admin/report", server.report),
        ]
    )
    await serve(app)


if __name__ == "__main__":
    asyncio.run(main())
