"""A scripted model for the public Geometry3K test set.

It reads no picture, but checks every byte it is sent.

``python vision_server.py ROWS.json`` prints its port and serves on loopback until its standard
input closes. Which problem a request is about it tells from the diagram's sha256; that the right
diagram came with the right text, in the right place, it checks against the file. `GET
/admin/report` tells how many requests of each kind came, and what was wrong with them.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from aiohttp import web
from servers.openai_server import serve

PICTURE = (Path(__file__).parents[2] / "fixtures/geometry3k/images/001_hypotenuse.png").read_bytes()
"""What the model returns where it is asked for a picture."""

DRAWING = json.dumps({"lines": [{"from": [5, 5], "to": [20, 20]}]})
VERDICT = json.dumps({"answer_correct": 1, "reason": "the same value"})


class Server:
    """The handlers and their counts."""

    def __init__(self, rows: Path) -> None:
        """Know each problem by its diagram's digest."""
        self.known: dict[str, list[dict[str, str]]] = {}
        for row in json.loads(rows.read_text("utf-8")):
            digest = sha256((rows.parent / row["images"][0]).read_bytes())
            self.known.setdefault(digest, []).append(row)
        self.kinds: Counter[str] = Counter()
        self.wrong: list[str] = []

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        content = body["messages"][-1]["content"]
        if isinstance(content, str):
            self.kinds["judge"] += 1
            return self.reply(
                VERDICT if "CANDIDATE-" in content else self.complain("a text without a picture")
            )
        pictures = [picture(part) for part in content if part["type"] == "image_url"]
        text = "".join(part.get("text", "") for part in content)
        if (
            content[0]["type"] != "image_url"
            and "TWO images" not in text
            and not text.startswith("You are given")
        ):
            self.complain(f"text before the diagram: {text[:40]!r}")
        row = self.row(pictures[0], text)
        if "enhanced version of the SAME diagram" in text:
            drawing = '"points": [{"label": "M"' in text
            self.kinds["draw" if drawing else "chat"] += 1
            return (
                self.reply(DRAWING)
                if drawing
                else self.reply("Here it is.", images=[as_part(PICTURE)])
            )
        if "TWO images" in text:
            self.kinds["question"] += 1
            if (
                len(pictures) != 2
                or pictures[1] == pictures[0]
                or not pictures[1].startswith(b"\x89PNG")
            ):
                self.complain(f"{len(pictures)} pictures, or not the diagram and another")
        else:
            self.kinds["direct"] += 1
            if len(pictures) != 1:
                self.complain(f"{len(pictures)} pictures in the direct task")
        return self.reply(f"The final answer is \\boxed{{{row['answer']}}}")

    async def edit(self, request: web.Request) -> web.Response:
        form = await request.post()
        self.kinds["edit"] += 1
        sent = form["image"]
        assert isinstance(sent, web.FileField)
        self.row(sent.file.read(), str(form["prompt"]))
        return web.json_response(
            {"created": 1, "data": [{"b64_json": base64.b64encode(PICTURE).decode()}]}
        )

    def row(self, diagram: bytes, text: str) -> dict[str, str]:
        """Return the problem that a diagram belongs to; of several, the text decides."""
        rows = self.known.get(sha256(diagram), [])
        named = [row for row in rows if row["problem"].removeprefix("<image>") in text]
        if not named:
            self.complain(
                f"{len(rows)} problems with this diagram, none with the text {text[:60]!r}"
            )
            return {"answer": "unknown"}
        return named[0]

    def complain(self, problem: str) -> str:
        self.wrong.append(problem)
        return problem

    def reply(self, text: str, **message: Any) -> web.Response:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text, **message},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320}
        return web.json_response(
            {
                "id": "c",
                "object": "chat.completion",
                "model": "eye-1",
                "choices": [choice],
                "usage": usage,
            }
        )

    async def report(self, _: web.Request) -> web.Response:
        told = {"kinds": dict(self.kinds), "wrong": self.wrong}
        self.kinds, self.wrong = Counter(), []
        return web.json_response(told)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def picture(part: dict[str, Any]) -> bytes:
    return base64.b64decode(part["image_url"]["url"].partition("base64,")[2], validate=True)


def as_part(data: bytes) -> dict[str, Any]:
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


async def main() -> None:
    server = Server(Path(sys.argv[1]))
    app = web.Application(client_max_size=64 * 2**20)
    app.add_routes(
        [
            web.post("/v1/chat/completions", server.chat),
            web.post("/v1/images/edits", server.edit),
            web.get("/admin/report", server.report),
        ]
    )
    await serve(app)


if __name__ == "__main__":
    asyncio.run(main())
