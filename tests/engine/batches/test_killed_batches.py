"""A run that is killed at any moment goes on with its batches, and pays for each request once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from engine.batches.bench import Bench, echoes, prompts, session, texts
from servers.fixture import ModelServer, running

NURSERY = Path(__file__).parent / "killed_sessions.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="sessions are forks")
@pytest.mark.parametrize(
    ("dialect", "seed"), [("openai", 1), ("openai", 2), ("azure", 3), ("anthropic", 4)]
)
def test_sessions_killed_at_random_moments_pay_for_each_request_once(
    batch_server: ModelServer, tmp_path: Path, dialect: str, seed: int
) -> None:
    # Half of the first batch expires; a creation takes a while, in which a kill may come.
    batch_server.program(delay=0.1, slow=0.1, expiring=1, lines=["shuffle", "duplicate"])
    command = [sys.executable, str(NURSERY), str(batch_server.port), str(tmp_path / "run")]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*command, dialect, str(seed), "6"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 3
    report = batch_server.report()
    assert len(report["paid"]) == 12
    assert set(report["paid"].values()) == {1}


@pytest.mark.parametrize("dialect", ["openai", "azure", "anthropic"])
def test_a_server_that_dies_before_it_says_that_it_made_a_batch_is_paid_once(
    tmp_path: Path, dialect: str
) -> None:
    state = str(tmp_path / "state")
    with running("batch_server.py", state) as dying:
        port = dying.port
        dying.program(create=["exit"])
        asking: dict[str, Any] = {}

        async def work(bench: Bench) -> list[str]:
            return texts(await bench.ask(*prompts(4)))

        def ask() -> None:
            asking["texts"] = session(dying, tmp_path / "run", work, dialect=dialect)

        thread = threading.Thread(target=ask)
        thread.start()
        for _ in range(600):
            if list(Path(state).glob("batch-*.json")):
                break
            thread.join(0.05)
    with running("batch_server.py", state, str(port)) as again:
        thread.join(90)
        assert asking["texts"] == echoes(4)
        report = again.report()
        assert report["sizes"] == [4]
        assert set(report["paid"].values()) == {1}
