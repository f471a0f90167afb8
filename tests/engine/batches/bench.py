"""Models whose requests go into batches at a real server, with a journal on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any

from servers.fixture import ModelServer

from pytest_llmeval.engine.batches.batches import Batches
from pytest_llmeval.engine.batches.gateway import BatchGateway
from pytest_llmeval.engine.batches.journal import BatchJournal
from pytest_llmeval.engine.batches.settings import BatchSettings
from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.models import Answer, Models
from pytest_llmeval.engine.prices import Price
from pytest_llmeval.engine.replies import REPLIES, ReplyStore
from pytest_llmeval.engine.specs import ModelSpec, parse_spec
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.providers.opening import open_batches, open_provider
from pytest_llmeval.records import Message, Request, TextPart

PRICE = Price(input=1000.0, output=1000.0)
QUICK = BatchSettings(poll=0.05)


class Bench:
    """One session's way to a model; a second one over the same folder is a resumed run.

    Attributes:
        told: the lines that were shown.
    """

    def __init__(  # noqa: PLR0913 - what tests vary, all named at the call
        self,
        server: ModelServer,
        folder: Path,
        *,
        dialect: str = "openai",
        settings: BatchSettings = QUICK,
        budget: Budget | None = None,
        api: str = "",
        others: Sequence[Path] = (),
    ) -> None:
        """Open the store and the journal in the event loop that runs."""
        folder.mkdir(exist_ok=True)
        self.spec = parse_spec(f"{dialect}/m{api}", folder=folder)
        self.environ = {
            "OPENAI_API_KEY": "openai-key",
            "OPENAI_BASE_URL": server.url,
            "AZURE_OPENAI_API_KEY": "azure-key",
            "AZURE_OPENAI_ENDPOINT": server.root,
            "ANTHROPIC_API_KEY": "anthropic-key",
            "ANTHROPIC_BASE_URL": server.root,
        }
        self.folder, self.settings = folder, settings
        self.budget = budget or Budget(prices={"m": PRICE})
        self.images = ImageFolder(folder / "images", Writes(), {})
        self.told: list[str] = []
        store = ReplyStore(folder / REPLIES)
        journal = BatchJournal(folder / REPLIES)
        elsewhere = [BatchJournal(other / REPLIES) for other in others]
        self.batches = Batches(journal, settings, others=elsewhere, tell=self.told.append)
        self.models = Models(self._opened, store, batches=self.batches)

    def _opened(self, spec: ModelSpec) -> BatchGateway:
        options: dict[str, Any] = {"image_store": self.images, "environ": self.environ}
        provider = open_provider(spec, folder=self.folder, **options)
        online = Gateway.of(spec, provider, budget=self.budget, concurrency=8)
        service = open_batches(spec, folder=self.folder, **options)
        desk = self.batches.desk(spec.label, service, endpoint="")
        return BatchGateway(
            online, service, desk, self.batches, name="in batches", budget=self.budget
        )

    def request(self, prompt: str, **fields: Any) -> Request:
        """Return a request to the model."""
        message = Message(role="user", parts=(TextPart(text=prompt),))
        return Request(provider=self.spec.kind, model=self.spec.name, messages=(message,), **fields)

    async def ask(self, *prompts: str, **fields: Any) -> list[Answer | BaseException]:
        """Return the answers to some prompts, asked together."""
        asking = (
            self.models.ask(self.spec.bare, self.request(prompt, **fields), Ticket(order))
            for order, prompt in enumerate(prompts)
        )
        return await asyncio.gather(*asking, return_exceptions=True)

    async def close(self) -> None:
        """End the session."""
        await self.models.close()


def session(
    server: ModelServer,
    folder: Path,
    work: Callable[[Bench], Coroutine[Any, Any, Any]],
    **options: Any,
) -> Any:
    """Run `work` in a new session and return its result."""

    async def main() -> Any:
        bench = Bench(server, folder, **options)
        try:
            return await asyncio.wait_for(work(bench), 120)
        finally:
            await bench.close()

    return asyncio.run(main())


def texts(answers: Iterable[Any]) -> list[str]:
    """Return the replies' texts; of failures the kind and the message."""
    return [
        f"{type(one).__name__}: {one}" if isinstance(one, BaseException) else one.reply.text
        for one in answers
    ]


def prompts(number: int) -> list[str]:
    """Return different prompts."""
    return [f"q{position}" for position in range(number)]


def echoes(number: int) -> list[str]:
    """Return the replies to `prompts`."""
    return [f"echo: q{position}" for position in range(number)]
