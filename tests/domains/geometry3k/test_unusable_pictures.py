"""What a provider sends in place of a usable picture is paid once, noted, and passed over.

A real server on loopback counts the attempts behind gateway and provider.
"""

from __future__ import annotations

import asyncio
import base64
import io
import struct
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from domains.geometry3k.sample_context import Context
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow
from servers.fixture import ModelServer
from servers.openai_server import png

from pytest_llmeval.domains.geometry3k.visual_cot import NO_AUXILIARY_DIAGRAM, VisualCotSolver
from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Completion, Json, Message, Operation, Reply, Request
from pytest_llmeval.records.message import MAX_PICTURE_BYTES
from pytest_llmeval.task import load_task
from pytest_llmeval.task.samples import read_samples

TASK = load_task(Path(__file__).parents[3] / "benchmarks/geometry3k/geometry3k_visual_cot.yaml")
SAMPLE = read_samples(TASK, limit=1)[0]
ORIGINAL = Path(SAMPLE.images[0]).read_bytes()
_HEADER = b"IHDR" + struct.pack(">IIBBBBB", 9_000, 9_000, 8, 0, 0, 0, 0)
BOMB = png().partition(b"\0\0\0\rIHDR")[0] + struct.pack(">I", 13) + _HEADER
BOMB += struct.pack(">I", zlib.crc32(_HEADER)) + png()[33:]
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><line x2="9" y2="9"/></svg>'
PAGE = b"<!doctype html><html><body>502 Bad Gateway</body></html>"

Mode = Literal["chat", "edit"]


class Asking(Context):
    """Asks a real server behind the gateway, which tries again what failed on the way."""

    def __init__(self, folder: Path, gateway: Gateway) -> None:
        """Send by a gateway."""
        super().__init__(TASK, SAMPLE, folder, lambda: Reply(text=""))
        self._gateway = gateway

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",
        draw: int = 0,
        parameters: dict[str, Json] | None = None,
    ) -> Reply:
        assert parameters is None
        self.asked[stage] = operation, tuple(messages)
        request = Request(
            provider="openai", model="m", operation=operation, messages=tuple(messages), draw=draw
        )
        reply, _ = await self._gateway.ask(request, Ticket(0))
        return reply


async def no_wait(_: float) -> None:
    """Spare the waits between attempts."""


def solved(server: ModelServer, mode: Mode, folder: Path) -> tuple[Completion, Context]:
    """Solve the sample with the server's model."""

    async def main() -> tuple[Completion, Context]:
        spec = parse_spec(f"openai/m,base_url={server.url}", folder=folder)
        context = Asking(folder, cast("Gateway", None))
        provider = open_provider(
            spec, folder=folder, image_store=context.folder, environ={"OPENAI_API_KEY": "none"}
        )
        statistics = CallStatistics()
        gateway = Gateway(
            provider,
            name="m",
            limits=Limiter(1, statistics=statistics, longest_pause=0.0),
            budget=Budget(),
            timeout=30.0,
            statistics=statistics,
            sleep=no_wait,
        )
        context = Asking(folder, gateway)
        try:
            solver = VisualCotSolver(image_mode=mode)
            return await solver(SAMPLE, cast("SolverContext", context)), context
        finally:
            await provider.close()

    return asyncio.run(main())


def serve(server: ModelServer, mode: Mode, parts: list[Any], **more: Any) -> None:
    """Have the server answer requests for a picture with these parts."""
    if mode == "edit":
        server.program(drawn={"created": 1, "data": parts}, **more)
    else:
        server.program(reply={"content": "Here it is.", "images": parts}, **more)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def other_picture() -> bytes:
    stream = io.BytesIO()
    Pillow.effect_noise((40, 30), 50).save(stream, "PNG")
    return stream.getvalue()


SOURCES = st.one_of(
    st.sampled_from([b"", SVG, PAGE, BOMB, ORIGINAL, b"\xff\xd8\xff", b"GIF89a"]).map(encoded),
    st.binary(max_size=60).map(encoded),
    st.integers(8, len(ORIGINAL) - 13).map(lambda end: encoded(ORIGINAL[:end])),
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.sampled_from(
        [
            "https://example.org/picture.png",
            "http://127.0.0.1:1/picture.png",
            "data:image/svg+xml," + SVG.decode(),
            "data:image/png;base64,",
            "%%%",
        ]
    ),
)
"""What stands where a picture's base64 should."""

PARTS = st.lists(
    st.one_of(
        SOURCES.map(lambda source: {"type": "image_url", "image_url": {"url": source}}),
        SOURCES.map(lambda source: {"b64_json": source}),
        st.sampled_from([{}, {"b64_json": None}, {"url": 3}, {"type": "image"}, None, 3, "x"]),
    ),
    max_size=3,
)


@pytest.mark.parametrize("mode", ["chat", "edit"])
def test_whatever_is_no_usable_picture_is_asked_for_once_and_noted(
    mode: Mode, model_server: ModelServer
) -> None:
    @settings(max_examples=15, deadline=None)
    @given(PARTS)
    def check(parts: list[Any]) -> None:
        serve(model_server, mode, parts)
        with tempfile.TemporaryDirectory() as folder:
            completion, context = solved(model_server, mode, Path(folder))
        assert model_server.report()["requests"] == 2
        assert completion.details["auxiliary_image"] is None
        ((stage, note),) = context.notes
        problem = completion.details["image_problem"]
        assert (stage, note) == ("image", f"no auxiliary diagram: {problem}")
        assert problem
        _, (question,) = context.asked["question"]
        assert [image.digest for image in question.images] == [context.images[0].digest]
        assert question.text.endswith(NO_AUXILIARY_DIAGRAM)

    check()


@pytest.mark.parametrize("mode", ["chat", "edit"])
@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"b64_json": encoded(PAGE)}, "not a PNG, JPEG, GIF or WebP image"),
        ({"b64_json": encoded(SVG)}, "not a PNG, JPEG, GIF or WebP image"),
        ({"b64_json": encoded(BOMB)}, "9000 x 9000 pixels is refused"),
        ({"b64_json": encoded(ORIGINAL[:-40])}, "damaged picture"),
        ({"b64_json": encoded(ORIGINAL)}, "the original, unchanged"),
        ({"b64_json": "abc"}, "no base64"),
        ({"url": "https://example.org/1.png", "type": "image"}, 'response_format: "b64_json"'),
        ({"b64_json": ""}, "neither b64_json nor a URL"),
    ],
)
def test_the_problem_is_named(
    mode: Mode, part: dict[str, Any], problem: str, model_server: ModelServer, tmp_path: Path
) -> None:
    serve(model_server, mode, [part])
    completion, _ = solved(model_server, mode, tmp_path)
    assert problem in str(completion.details["image_problem"])


def test_a_picture_beyond_the_size_limit_is_not_decoded(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_llmeval.providers import reply_pictures  # noqa: PLC0415 - to set its limit

    assert MAX_PICTURE_BYTES * 4 // 3 == reply_pictures._MOST_CHARACTERS
    monkeypatch.setattr(reply_pictures, "_MOST_CHARACTERS", 100)
    serve(model_server, "edit", [{"b64_json": encoded(other_picture())}])
    completion, _ = solved(model_server, "edit", tmp_path)
    assert "characters, more than 100" in str(completion.details["image_problem"])


@pytest.mark.parametrize("mode", ["chat", "edit"])
def test_the_first_usable_picture_is_taken(
    mode: Mode, model_server: ModelServer, tmp_path: Path
) -> None:
    data = other_picture()
    parts = [{"b64_json": encoded(one)} for one in (SVG, ORIGINAL, ORIGINAL[:-40], data)]
    serve(model_server, mode, parts)
    completion, context = solved(model_server, mode, tmp_path)
    assert completion.details["image_problem"] is None
    _, (question,) = context.asked["question"]
    assert question.images[1].read() == data


@pytest.mark.parametrize("mode", ["chat", "edit"])
@pytest.mark.parametrize("kind", ["reset", "truncated", "half", "garbage", "500", "served"])
def test_what_failed_on_the_way_is_asked_again(
    mode: Mode, kind: str, model_server: ModelServer, tmp_path: Path
) -> None:
    data = other_picture()
    faults = [{"kind": kind}, {"kind": kind}, None, None]
    serve(model_server, mode, [{"b64_json": encoded(data)}], sequence=faults)
    completion, context = solved(model_server, mode, tmp_path)
    assert model_server.report()["requests"] == 4
    assert completion.details["image_problem"] is None
    assert context.notes == []


@pytest.mark.parametrize("mode", ["chat", "edit"])
def test_a_page_of_html_in_place_of_the_body_is_asked_again(
    mode: Mode, model_server: ModelServer, tmp_path: Path
) -> None:
    faults = [{"kind": "raw", "base64": encoded(PAGE)}, None, None]
    serve(model_server, mode, [{"b64_json": encoded(other_picture())}], sequence=faults)
    completion, _ = solved(model_server, mode, tmp_path)
    assert (model_server.report()["requests"], completion.details["image_problem"]) == (3, None)


@pytest.mark.parametrize("mode", ["chat", "edit"])
def test_a_policy_refusal_is_the_models_and_the_question_goes_on(
    mode: Mode, model_server: ModelServer, tmp_path: Path
) -> None:
    refusal = {"kind": "400", "message": "rejected by our safety system"}
    model_server.program(sequence=[refusal, None])
    completion, context = solved(model_server, mode, tmp_path)
    assert model_server.report()["requests"] == 2
    assert "stopped by a filter" in str(completion.details["image_problem"])
    assert "question" in context.asked


def test_a_text_in_place_of_a_picture_is_quoted(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.program(reply={"content": "I would draw the altitude."})
    completion, _ = solved(model_server, "chat", tmp_path)
    problem = "the reply holds no picture but the text 'I would draw the altitude.'"
    assert completion.details["image_problem"] == problem
