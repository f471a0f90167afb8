"""The command `llmeval view` as a process of its own, beside a session of pytest that goes on."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TASK = """
name: sums
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer}}
prompt: [{user: "{{ input }}"}]
scorer: exact
"""

TEST = """
import time
from pathlib import Path
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("sums.yaml")
def test_sum(sample, completion):
    while sample.id != "0" and not Path("go on").exists():
        time.sleep(0.02)
    assert_correct(sample, completion)
"""

MODEL = """
from pytest_llmeval.records import Reply

def reply(request):
    return Reply(text=request.messages[-1].text.split()[0])
"""


def until(ask: Callable[[], Any], wanted: Callable[[Any], bool]) -> Any:
    """Ask until the answer is as wanted."""
    end = time.monotonic() + 120
    while True:
        found = ask()
        if wanted(found):
            return found
        assert time.monotonic() < end, found
        time.sleep(0.05)


# Whoever runs the tests in the background has Ctrl-C ignored, and this process would inherit that.
VIEW = """
import signal, sys
from pytest_llmeval.commands.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(["view", "reports", "--no-browser"]))
"""


class Served:
    """The command in a process, and the cookie that its address gives."""

    def __init__(self, folder: Path) -> None:
        """Start it over the runs below `folder`."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", VIEW],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found is not None
        self.address = urlsplit(found[0])
        self.cookie = ""
        self.cookie = self.get(f"/?{self.address.query}", "set-cookie").split(";")[0]

    def get(self, path: str, header: str = "") -> str:
        """Return the body of an answer, or one of its headers."""
        port = self.address.port
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", path, headers={"Cookie": self.cookie})
            response = connection.getresponse()
            return (response.getheader(header) if header else response.read().decode()) or ""

    def runs(self) -> Any:
        """Return the list of runs."""
        return json.loads(self.get("/api/runs"))


def test_a_session_that_goes_on_is_seen_row_by_row_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "sums.yaml").write_text(TASK)
    samples = [{"id": str(n), "question": f"{n} + 0?", "answer": str(n)} for n in range(4)]
    (tmp_path / "data.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in samples))
    (tmp_path / "test_sums.py").write_text(TEST)
    (tmp_path / "model.py").write_text(MODEL)
    command = [sys.executable, "-m", "pytest", "-q", "--llmeval-report", "reports"]
    with subprocess.Popen(
        [*command, "--llmeval-model", "python/./model.py:reply"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as session:
        until(lambda: list(tmp_path.glob("reports/*Z-*/run.json")), bool)
        served = Served(tmp_path)
        try:
            [run] = until(served.runs, lambda runs: runs[0]["done"] == 1)
            assert (run["state"], run["planned"]) == ("running", 4)
            (tmp_path / "go on").touch()
            out, _ = session.communicate(timeout=120)
            assert session.returncode == 0, out
            [run] = served.runs()
            assert (run["state"], run["done"]) == ("ended", 4)
            assert run["entries"][0]["value"] == 1.0
        finally:
            served.process.send_signal(signal.SIGINT)
            served.process.communicate(timeout=30)
        assert served.process.returncode == 0
