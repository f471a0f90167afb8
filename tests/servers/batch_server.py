"""A server of batch APIs as OpenAI, Azure and Anthropic have them; its batches are on disk.

``python batch_server.py FOLDER [PORT]`` prints its port and serves on loopback until its standard
input closes. All that it knows of files and batches is in the folder, so that it may be killed and
started again. `POST /admin/program` empties it and sets what the server does (the keys of `Faults`,
and ``answers``, a `Program` of `openai_server.py`); `GET /admin/report` is the ledger: how often
each request was paid.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import random
import re
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any

from aiohttp import web
from servers.messages_rules import wrong
from servers.messages_server import MessagesServer
from servers.messages_server import last_text as said_last
from servers.openai_server import Server, error, last_text, serve


@dataclasses.dataclass(kw_only=True)
class Faults:
    """What goes wrong.

    `delay` is how long a batch takes (s), `slow` how long the answer to its creation does, after it
    was made. Of the first `expiring` batches every second request expires; `cancelled` batches are
    as if someone had cancelled them half-way. `fails` gives successive errors of a request, by the
    text of its last message. `lines` are kinds of damage to every file of results: ``shuffle``,
    ``duplicate``, ``garbage``, ``foreign``, ``long`` and ``missing`` (of the first batch, every
    third line). `create`, `poll`, `read` and `list` are faults of successive calls: a status, None,
    ``reset``, ``lost`` (made, and the connection breaks), ``exit`` (made, and the server dies),
    ``refused`` (made, and its file is found invalid) or ``crowded``. `most` is how many requests
    may wait in batches.
    """

    delay: float = 0.0
    slow: float = 0.0
    expiring: int = 0
    cancelled: int = 0
    fails: dict[str, list[dict[str, Any]]] = dataclasses.field(default_factory=dict)
    lines: list[str] = dataclasses.field(default_factory=list)
    create: list[Any] = dataclasses.field(default_factory=list)
    poll: list[Any] = dataclasses.field(default_factory=list)
    read: list[Any] = dataclasses.field(default_factory=list)
    list: list[Any] = dataclasses.field(default_factory=list)
    most: int = 10**9


class BatchServer:
    """The handlers of all three dialects; the state is in the files of a folder."""

    def __init__(self, folder: Path) -> None:
        """Go on with what is in the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.faults = folder, Faults()
        self.chats, self.messages = Server(), MessagesServer()
        self.calls: Counter[str] = Counter()
        self.online: Counter[str] = Counter()
        stored = folder / "program.json"
        if stored.exists():
            self.load(json.loads(stored.read_text()))

    def load(self, settings: dict[str, Any]) -> None:
        answers = settings.pop("answers", {})
        self.faults = Faults(**settings)
        self.chats.load(dict(answers))
        self.messages.load(dict(answers))

    async def program(self, request: web.Request) -> web.Response:
        settings = await request.json()
        for file in self.folder.iterdir():
            file.unlink()
        self.calls.clear()
        self.online.clear()
        (self.folder / "program.json").write_text(json.dumps(settings))
        self.load(settings)
        return web.json_response({})

    async def report(self, _: web.Request) -> web.Response:
        batches = list(self.batches())
        paid = Counter(key for batch in batches for key in batch["paid"])
        said = Counter(text for batch in batches for text in batch["texts"])
        counts = {
            "paid": dict(paid),
            "texts": dict(said),
            "online": dict(self.online),
            "calls": dict(self.calls),
            "sizes": [len(batch["keys"]) for batch in batches],
            "files": len(list(self.folder.glob("file-*.jsonl"))),
        }
        return web.json_response(counts)

    def batches(self) -> Iterator[dict[str, Any]]:
        """Yield all batches, the oldest first."""
        found = (json.loads(file.read_text()) for file in self.folder.glob("batch-*.json"))
        yield from sorted(found, key=lambda batch: (batch["created"], batch["id"]))

    def save(self, batch: dict[str, Any]) -> None:
        file = self.folder / f"batch-{batch['id']}.json"
        new = file.with_suffix(".new")
        new.write_text(json.dumps(batch))
        new.replace(file)

    def load_batch(self, name: str) -> dict[str, Any] | None:
        file = self.folder / f"batch-{name}.json"
        return json.loads(file.read_text()) if file.exists() else None

    def fault(self, kind: str) -> Any:
        """Return the fault of this call, None if it goes well."""
        faults = getattr(self.faults, kind)
        number = self.calls[kind]
        self.calls[kind] += 1
        return faults[number] if number < len(faults) else None

    # OpenAI and Azure

    async def upload(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        if form.get("purpose") != "batch":
            return error(400, "purpose must be batch")
        file = form["file"]
        assert isinstance(file, web.FileField)
        name = uuid.uuid4().hex[:12]
        (self.folder / f"file-{name}.jsonl").write_bytes(file.file.read())
        azure = request.path.startswith("/openai/")
        return web.json_response({"id": name, "status": "pending" if azure else "processed"})

    async def file(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"id": request.match_info["id"], "status": "processed"})

    async def create(self, request: web.Request) -> web.StreamResponse:
        fields = await request.json()
        content = (self.folder / f"file-{fields['input_file_id']}.jsonl").read_bytes()
        lines = [json.loads(line) for line in content.splitlines()]
        prefix = "" if request.path.startswith("/openai/") else "/v1"
        expected = {f"{prefix}/chat/completions", f"{prefix}/responses"}
        endpoint = fields["endpoint"]
        if endpoint not in expected or any(line["url"] != endpoint for line in lines):
            return error(400, f"endpoint {endpoint!r} is none of {sorted(expected)}")
        asked = [(line["custom_id"], line["body"]) for line in lines]
        extra = {"endpoint": endpoint, "metadata": fields.get("metadata", {})}
        return await self.make(request, asked, extra)

    async def state(self, request: web.Request) -> web.StreamResponse:
        if (fault := self.fault("poll")) is not None:
            return await self.failing(request, fault)
        batch = self.load_batch(request.match_info["id"])
        if batch is None:
            return error(404, "no such batch")
        return web.json_response(self.shown(batch))

    async def listed(self, request: web.Request) -> web.StreamResponse:
        if (fault := self.fault("list")) is not None:
            return await self.failing(request, fault)
        own = "anthropic" if "/messages/" in request.path else "openai"
        found = [b for b in reversed(list(self.batches())) if b["dialect"] == own]
        after = request.query.get("after") or request.query.get("after_id")
        if after:
            found = found[[b["id"] for b in found].index(after) + 1 :]
        page = found[: int(request.query["limit"])]
        shown = [self.shown(batch) for batch in page]
        return web.json_response({"data": shown, "has_more": len(found) > len(page)})

    async def content(self, request: web.Request) -> web.StreamResponse:
        if (fault := self.fault("read")) is not None:
            return await self.failing(request, fault)
        return web.FileResponse(self.folder / f"file-{request.match_info['id']}.jsonl")

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        batch = self.load_batch(request.match_info["id"])
        assert batch is not None
        if batch["ends"] > time():
            answered = batch["keys"][: len(batch["keys"]) // 2]
            self.cut(batch, answered)
        return web.json_response(self.shown(batch))

    def cut(self, batch: dict[str, Any], answered: list[str]) -> None:
        """End a batch as cancelled, with the results of some requests."""
        batch.update(status="cancelled", ends=0.0)
        batch["paid"] = [key for key in batch["paid"] if key in set(answered)]
        batch["texts"] = [
            t for k, t in zip(batch["keys"], batch["texts"], strict=False) if k in set(answered)
        ]
        self.save(batch)
        for kind in ("out", "err"):
            file = self.folder / f"file-{kind}{batch['id']}.jsonl"
            lines = file.read_text().splitlines()
            kept = [line for line in lines if any(key in line for key in answered)]
            file.write_text("".join(f"{line}\n" for line in kept))

    def shown(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return a batch as its API shows it."""
        ended = time() >= batch["ends"]
        if batch["dialect"] == "anthropic":
            stamp = datetime.fromtimestamp(batch["created"], UTC).isoformat()
            cancelled = stamp if batch["status"] == "cancelled" else None
            return {
                "id": batch["id"],
                "type": "message_batch",
                "processing_status": "ended" if ended else "in_progress",
                "created_at": stamp.replace("+00:00", "Z"),
                "cancel_initiated_at": cancelled,
                "request_counts": {"processing": len(batch["keys"]), "succeeded": 0},
                "results_url": "/results" if ended else None,
            }
        status = batch["status"] if ended else "in_progress"
        has_files = ended and status != "failed"
        return {
            "id": batch["id"],
            "object": "batch",
            "endpoint": batch["endpoint"],
            "status": status,
            "created_at": int(batch["created"]),
            "metadata": batch["metadata"],
            "output_file_id": f"out{batch['id']}" if has_files else None,
            "error_file_id": f"err{batch['id']}" if has_files else None,
            "errors": {"data": batch["errors"]} if batch["errors"] else None,
        }

    # Anthropic

    async def create_messages(self, request: web.Request) -> web.StreamResponse:
        fields = await request.json()
        version = request.headers.get("anthropic-version", "")
        for one in fields["requests"]:
            if problem := wrong(one["params"], version):
                return self.messages.error(400, problem)
        asked = [(one["custom_id"], one["params"]) for one in fields["requests"]]
        return await self.make(request, asked, {})

    async def results(self, request: web.Request) -> web.StreamResponse:
        if (fault := self.fault("read")) is not None:
            return await self.failing(request, fault)
        return web.FileResponse(self.folder / f"file-out{request.match_info['id']}.jsonl")

    # Both

    async def make(
        self, request: web.Request, asked: list[tuple[str, dict[str, Any]]], extra: dict[str, Any]
    ) -> web.StreamResponse:
        """Make a batch, unless a fault is due; it is on disk before the answer is sent."""
        fault = self.fault("create")
        if isinstance(fault, int) or fault == "reset":
            return await self.failing(request, fault)
        dialect = "openai" if extra else "anthropic"
        batch = {
            "id": uuid.uuid4().hex[:12],
            "dialect": dialect,
            "created": time(),
            "ends": time() + self.faults.delay,
            "status": "completed",
            "errors": [],
            "keys": [key for key, _ in asked],
            "paid": [],
            "texts": [],
            "attempts": [],
            **extra,
        }
        waiting = sum(len(b["keys"]) for b in self.batches() if b["ends"] > time())
        if fault == "crowded" or waiting + len(asked) > self.faults.most:
            told = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}
            batch.update(status="failed", errors=[told], ends=0.0)
        elif fault == "refused":
            invalid = {"code": "invalid_json_line", "message": "This line is no JSON", "line": 3}
            batch.update(status="failed", errors=[invalid], ends=0.0)
        else:
            self.answer(batch, asked)
        self.save(batch)
        if fault == "exit":
            os._exit(9)
        if fault == "lost":
            return await self.failing(request, "reset")
        await asyncio.sleep(self.faults.slow)
        return web.json_response(self.shown(batch))

    def answer(self, batch: dict[str, Any], asked: list[tuple[str, dict[str, Any]]]) -> None:
        """Write the results of a batch, and note what of it is paid."""
        number = len(list(self.folder.glob("batch-*.json")))
        seen = Counter(text for one in self.batches() for text in one["attempts"])
        out, err = [], []
        for position, (key, body) in enumerate(asked):
            text = (
                said_last(body["messages"])
                if "messages" in body and self.is_messages(batch)
                else (last_text(body.get("messages") or body["input"]))
            )
            batch["attempts"].append(text)
            faults = self.faults.fails.get(text, [])
            if number < self.faults.expiring and position % 2:
                err.append(self.line(batch, key, None, "expired"))
                batch["status"] = "expired"
            elif seen[text] < len(faults):
                err.append(self.line(batch, key, faults[seen[text]], "errored"))
            else:
                out.append(self.line(batch, key, self.reply(batch, body, text), "succeeded"))
                batch["paid"].append(key)
                batch["texts"].append(text)
        if self.is_messages(batch):
            out, err = out + err, []
        out = list(self.damaged(out, first=number == 0))
        (self.folder / f"file-out{batch['id']}.jsonl").write_bytes(b"\n".join(out) + b"\n")
        (self.folder / f"file-err{batch['id']}.jsonl").write_bytes(b"\n".join(err) + b"\n")
        if number < self.faults.cancelled:
            self.cut(batch, batch["keys"][: len(asked) // 2])

    def is_messages(self, batch: dict[str, Any]) -> bool:
        return bool(batch["dialect"] == "anthropic")

    def reply(self, batch: dict[str, Any], body: dict[str, Any], text: str) -> Any:
        """Return the body of a reply: of sums the right one, else an echo."""
        server = self.messages if self.is_messages(batch) else self.chats
        found = re.search(r"what is (\d+)\+1", text)
        before = server.program.says
        if found and body["model"] not in before:
            server.program.says = {**before, body["model"]: str(int(found[1]) + 1)}
        try:
            if self.is_messages(batch):
                return self.messages.message(body, text)
            make = self.chats.response if "input" in body else self.chats.completion
            return make(body, text)
        finally:
            server.program.says = before

    def line(self, batch: dict[str, Any], key: str, body: Any, kind: str) -> bytes:
        """Return one line of results."""
        if self.is_messages(batch):
            result: dict[str, Any] = {"type": kind}
            if kind == "succeeded":
                result["message"] = body
            elif kind == "errored":
                told = {"type": "invalid_request_error", "message": "scripted", **body}
                result["error"] = {"type": "error", "error": told}
            return json.dumps({"custom_id": key, "result": result}).encode()
        response, failure = None, None
        if kind == "succeeded":
            response = {"status_code": 200, "request_id": "r", "body": body}
        elif kind == "errored":
            told = {"message": "scripted", "code": None, **body}
            status = told.pop("status", 400)
            response = {"status_code": status, "request_id": "r", "body": {"error": told}}
        else:
            failure = {"code": "batch_expired", "message": "This request was not run in time."}
        fields = {"id": "b", "custom_id": key, "response": response, "error": failure}
        return json.dumps(fields).encode()

    def damaged(self, lines: list[bytes], *, first: bool) -> Iterator[bytes]:
        """Yield lines of results with the program's damage."""
        kinds = self.faults.lines
        if "shuffle" in kinds:
            random.Random(7).shuffle(lines)
        if "missing" in kinds and first:
            lines = [line for number, line in enumerate(lines) if number % 3 != 1]
        for line in lines:
            yield line
            if "duplicate" in kinds:
                yield line
            if "garbage" in kinds:
                yield from (b"", b"{", b"\xff\xfe", b"[1]", b'{"custom_id": 7}', b"null")
            if "foreign" in kinds:
                key = uuid.uuid4().hex * 2
                yield re.sub(rb'"custom_id": "\w+"', b'"custom_id": "%s"' % key.encode(), line)
        if "long" in kinds:
            yield b'{"custom_id": "' + b"x" * (65 * 2**20)

    async def failing(self, request: web.Request, fault: Any) -> web.StreamResponse:
        if fault == "reset":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if "/messages/" in request.path:
            return self.messages.error(int(fault), f"scripted {fault}")
        return error(int(fault), f"scripted {fault}")

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer one request alone."""
        body = await request.json()
        text = last_text(body["messages"])
        self.online[text] += 1
        return web.json_response(self.reply({"dialect": "openai"}, body, text))


@web.middleware
async def signed_in(request: web.Request, handler: Any) -> web.StreamResponse:
    """Refuse what is not signed in as the API wants it."""
    sent = request.headers
    if request.path.startswith("/openai/"):
        if "api-version" not in request.query:
            return error(404, "api-version is missing")
        if sent.get("api-key") != "azure-key" and sent.get("Authorization") != "Bearer entra-token":
            return error(401, "wrong key")
    if request.path.startswith("/v1/messages") and not sent.get("anthropic-version"):
        return error(400, "anthropic-version is missing")
    answer: web.StreamResponse = await handler(request)
    return answer


async def main() -> None:
    wrong({}, "")  # reads the types, which takes a while, before the first request
    server = BatchServer(Path(sys.argv[1]))
    app = web.Application(client_max_size=2**30, middlewares=[signed_in])
    for prefix in ("/v1", "/openai"):
        app.add_routes(
            [
                web.post(f"{prefix}/files", server.upload),
                web.get(f"{prefix}/files/{{id}}", server.file),
                web.get(f"{prefix}/files/{{id}}/content", server.content),
                web.post(f"{prefix}/batches", server.create),
                web.get(f"{prefix}/batches", server.listed),
                web.get(f"{prefix}/batches/{{id}}", server.state),
                web.post(f"{prefix}/batches/{{id}}/cancel", server.cancel),
            ]
        )
    messages = "/v1/messages/batches"
    app.add_routes(
        [
            web.post(messages, server.create_messages),
            web.get(messages, server.listed),
            web.get(f"{messages}/{{id}}", server.state),
            web.get(f"{messages}/{{id}}/results", server.results),
            web.post(f"{messages}/{{id}}/cancel", server.cancel),
            web.post("/v1/chat/completions", server.chat),
            web.post("/admin/program", server.program),
            web.get("/admin/report", server.report),
        ]
    )
    await serve(app, int(sys.argv[2]) if len(sys.argv) > 2 else 0)


if __name__ == "__main__":
    asyncio.run(main())
