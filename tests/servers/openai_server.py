"""A server that speaks OpenAI's protocol and misbehaves on demand; runs as a process of its own.

``python openai_server.py [PORT]`` prints its port and serves on loopback until its standard input
closes. `POST /admin/program` sets what it does (the keys of `Program`) and forgets what it counted;
`GET /admin/report` tells what it counted.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import json
import random
import struct
import sys
import zlib
from collections import Counter
from collections.abc import AsyncIterator
from email.utils import formatdate
from time import time
from typing import Any

from aiohttp import web


@dataclasses.dataclass(kw_only=True)
class Program:
    """What the server does. A fault is ``{"kind": ...}`` as `Server.misbehave` knows them.

    `lost` gives the fault of every request to a model (with `after`, of those that come after so
    many), `blind` that of messages with pictures.
    `script` gives those of successive attempts at a prompt, by the text of its last message,
    `poison` that of every attempt at it; `sequence` those of successive requests, whatever they
    ask; `share` of all other (prompt, attempt) pairs get one of `kinds`, drawn with `seed`.
    `ceiling` is how many requests it bears in flight before it answers 429. `reply` overrides
    members of the answer's message (of a response: of the answer itself), `body` the whole answer,
    `drawn` that to a request for a picture. `says` gives the text of a model's every reply.
    `latency` is in seconds, one number or a range. No reply is sent before `gather` requests have
    been in flight at once.
    """

    latency: float | list[float] = 0.0
    gather: int = 0
    lost: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    script: dict[str, list[dict[str, Any] | None]] = dataclasses.field(default_factory=dict)
    sequence: list[dict[str, Any] | None] = dataclasses.field(default_factory=list)
    poison: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    always: dict[str, Any] | None = None
    share: float = 0.0
    kinds: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    seed: int = 0
    ceiling: int | None = None
    blind: dict[str, Any] | None = None
    reply: dict[str, Any] = dataclasses.field(default_factory=dict)
    says: dict[str, str] = dataclasses.field(default_factory=dict)
    finish_reason: str | None = "stop"
    body: Any = None
    drawn: Any = None
    keep: int = 20


GARBAGE = base64.b64encode(b"<html>\xff\xfe not JSON")


def png(width: int = 8, height: int = 8) -> bytes:
    """Return a small grey PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def check_images(messages: list[dict[str, Any]]) -> str | None:
    """Return what is wrong with the image parts, if anything."""
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else []:
            if part["type"] == "text":
                continue
            if part["type"] != "image_url":
                return f"unknown part type {part['type']}"
            head, _, data = part["image_url"]["url"].partition(",")
            if head not in {"data:image/png;base64", "data:image/jpeg;base64"}:
                return f"unsupported image {head!r}"
            if not base64.b64decode(data, validate=True):
                return "empty image"
    return None


def check_input(items: list[dict[str, Any]]) -> str | None:
    """Return what is wrong with the items of a Responses request, if anything."""
    for item in items:
        if item.get("type") in {"function_call", "function_call_output"}:
            if not item.get("call_id"):
                return "a function call without its id"
            continue
        content = item["content"]
        for part in content if isinstance(content, list) else []:
            if part["type"] not in {"input_text", "input_image"}:
                return f"unknown part type {part['type']}"
            if part["type"] == "input_image":
                head, _, data = part["image_url"].partition(",")
                if head != "data:image/png;base64" or not base64.b64decode(data, validate=True):
                    return f"unsupported image {head!r}"
    return None


def last_text(messages: list[dict[str, Any]]) -> str:
    content = messages[-1].get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


class Server:
    """The handlers and their counts."""

    def __init__(self) -> None:
        """Begin well-behaved."""
        self.load({})

    def load(self, settings: dict[str, Any]) -> None:
        self.program = Program(**settings)
        self.requests = self.in_flight = self.peak = 0
        self.attempts: Counter[str] = Counter()
        self.models: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.seen: list[dict[str, Any]] = []

    async def set_program(self, request: web.Request) -> web.Response:
        self.load(await request.json())
        return web.json_response({})

    async def report(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "requests": self.requests,
                "peak": self.peak,
                "attempts": dict(self.attempts),
                "models": dict(self.models),
                "outcomes": dict(self.outcomes),
                "seen": self.seen,
            }
        )

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        async with self.counted(request, body):
            prompt = last_text(body["messages"])
            self.models[body["model"]] += 1
            lost = self.program.lost.get(body["model"])
            if lost is not None and self.models[body["model"]] > lost.get("after", 0):
                return await self.misbehave(request, lost, None)
            if self.program.blind is not None and "image_url" in json.dumps(body["messages"]):
                self.outcomes["blind"] += 1
                return await self.misbehave(request, self.program.blind, None)
            if wrong := check_images(body["messages"]):
                return error(400, wrong, code="invalid_image")
            return await self.respond(request, prompt, self.completion(body, prompt))

    async def responses(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        async with self.counted(request, body):
            items = body["input"]
            prompt = last_text(items) or str(items[-1].get("output", ""))
            unknown = body.keys() & {
                "max_tokens",
                "max_completion_tokens",
                "messages",
                "response_format",
                "seed",
            }
            if unknown:
                return error(400, f"Unknown parameter: {min(unknown)!r}.", code="unknown_parameter")
            if wrong := check_input(items):
                return error(400, wrong, code="invalid_value")
            return await self.respond(request, prompt, self.response(body, prompt))

    async def token(self, request: web.Request) -> web.Response:
        """Serve the tokens that a machine at Azure signs in with."""
        if request.headers.get("X-IDENTITY-HEADER") != "here-i-am":
            return web.json_response({"error": "invalid_request"}, status=400)
        self.attempts["token"] += 1
        resource = request.query["resource"]
        token = {
            "access_token": "entra-token",
            "expires_on": int(time()) + 3600,
            "resource": resource,
        }
        return web.json_response({**token, "token_type": "Bearer"})

    async def image(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        fields: dict[str, Any] = {}
        for key, value in form.items():
            if isinstance(value, web.FileField):
                fields[key] = {"type": value.content_type, "size": len(value.file.read())}
            else:
                assert isinstance(value, str)
                fields[key] = value
        async with self.counted(request, fields):
            answer = self.program.drawn or {
                "created": 1,
                "data": [{"b64_json": base64.b64encode(png()).decode()}],
                "usage": {"input_tokens": 50, "output_tokens": 100, "total_tokens": 150},
            }
            return await self.respond(request, str(fields.get("prompt", "")), answer)

    @contextlib.asynccontextmanager
    async def counted(self, request: web.Request, body: dict[str, Any]) -> AsyncIterator[None]:
        self.requests += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        if len(self.seen) < self.program.keep:
            headers = {key.lower(): value for key, value in request.headers.items()}
            self.seen.append({"path": request.path_qs, "headers": headers, "body": body})
        try:
            yield
        finally:
            self.in_flight -= 1

    async def respond(self, request: web.Request, prompt: str, answer: Any) -> web.StreamResponse:
        fault = self.fault(prompt)
        self.outcomes["ok" if fault is None else fault["kind"]] += 1
        if fault is not None:
            return await self.misbehave(request, fault, answer)
        await asyncio.sleep(self.latency())
        while self.peak < self.program.gather:  # noqa: ASYNC110 - `load` may change it
            await asyncio.sleep(0.01)
        return web.json_response(answer)

    def fault(self, prompt: str) -> dict[str, Any] | None:
        program, attempt = self.program, self.attempts[prompt]
        self.attempts[prompt] += 1
        if program.ceiling is not None and self.in_flight > program.ceiling:
            return {"kind": "429", "retry_after": "20ms"}
        if self.requests <= len(program.sequence):
            return program.sequence[self.requests - 1]
        if prompt in program.script:
            faults = program.script[prompt]
            return faults[attempt] if attempt < len(faults) else None
        if prompt in program.poison:
            return program.poison[prompt]
        draw = random.Random(f"{program.seed} {attempt} {prompt}")
        if draw.random() < program.share:
            return draw.choice(program.kinds)
        return program.always

    def latency(self) -> float:
        latency = self.program.latency
        return random.uniform(*latency) if isinstance(latency, list) else latency

    def completion(self, body: dict[str, Any], prompt: str) -> Any:
        if self.program.body is not None:
            return self.program.body
        text = self.program.says.get(body["model"], f"echo: {prompt}")
        message = {"role": "assistant", "content": text, **self.program.reply}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": f"{body['model']}-2026-01-01",
            "choices": [
                {"index": 0, "message": message, "finish_reason": self.program.finish_reason}
            ],
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 15,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
        }

    def response(self, body: dict[str, Any], prompt: str) -> Any:
        if self.program.body is not None:
            return self.program.body
        content = [{"type": "output_text", "text": f"echo: {prompt}", "annotations": []}]
        answer = {
            "id": "resp_1",
            "object": "response",
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "model": f"{body['model']}-2026-01-01",
            "output": [
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "Let me see."}],
                },
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                },
            ],
            "usage": {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 2},
                "total_tokens": 15,
            },
        }
        return answer | self.program.reply

    async def misbehave(  # noqa: PLR0911 - one for each kind
        self, request: web.Request, fault: dict[str, Any], answer: Any
    ) -> web.StreamResponse:
        transport = request.transport
        match fault["kind"]:
            case "reset":
                assert transport is not None
                transport.abort()
                return web.Response()
            case "stall":
                await asyncio.sleep(fault.get("seconds", 3600))
                return web.json_response(answer)
            case "truncated":
                # The status and half of the promised body, then the connection closes.
                data = json.dumps(answer).encode()
                response = web.StreamResponse(headers={"Content-Length": str(len(data))})
                await response.prepare(request)
                await response.write(data[: len(data) // 2])
                assert transport is not None
                transport.close()
                return response
            case "half":
                text = json.dumps(answer)
                return web.Response(text=text[: len(text) // 2], content_type="application/json")
            case "raw" | "garbage":
                data = base64.b64decode(fault.get("base64", GARBAGE))
                return web.Response(body=data, content_type="application/json")
            case "plain":
                data = fault["text"].encode("latin-1")
                kind = "application/json"
                return web.Response(body=data, status=fault["status"], content_type=kind)
            case "redirect":
                return web.Response(status=307, headers={"Location": fault["location"]})
            case "served":
                return web.json_response({"error": {"message": "upstream failed"}})
            case status:
                return self.error(int(status), **({"message": f"scripted {status}"} | fault))

    def error(self, status: int, message: str, **details: Any) -> web.Response:
        """Return an error in the form of this server's protocol."""
        return error(status, message, **details)


def error(
    status: int, message: str, *, code: str | None = None, retry_after: str | None = None, **_: Any
) -> web.Response:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    if retry_after == "date":
        headers = {"Retry-After": formatdate(time() + 30, usegmt=True)}
    if retry_after is not None and retry_after.endswith("ms"):
        headers = {"retry-after-ms": retry_after.removesuffix("ms")}
    body = {"error": {"message": message, "type": code or "scripted", "code": code}}
    return web.json_response(body, status=status, headers=headers)


async def main() -> None:
    server = Server()
    app = web.Application(client_max_size=64 * 2**20)
    app.add_routes(
        [
            web.post("/v1/chat/completions", server.chat),
            web.post("/v1/responses", server.responses),
            web.post("/openai/responses", server.responses),
            web.get("/msi/token", server.token),
            web.post("/v1/images/edits", server.image),
            web.post("/v1/images/generations", server.image),
            web.post("/openai/deployments/{deployment}/chat/completions", server.chat),
            web.post("/admin/program", server.set_program),
            web.get("/admin/report", server.report),
        ]
    )
    await serve(app, int(sys.argv[1]) if len(sys.argv) > 1 else 0)


async def serve(app: web.Application, port: int = 0) -> None:
    """Serve on loopback and print the port, until standard input closes."""
    # Stalled handlers end with their connection; nobody waits for them at the end.
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=2048, reuse_address=True)
    await site.start()
    print(json.dumps({"port": runner.addresses[0][1]}), flush=True)  # noqa: T201 - how the parent learns the port
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
