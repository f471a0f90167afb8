"""Templates and `keep` expressions are bounded in time and memory, with file, line and key."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

BOMBS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "cases" / "bombs.yaml").read_text(encoding="utf-8")
)

# Run in a process that cannot get more memory than the worst template may take in its child.
TRY_ALL = """
import json, resource, sys
from pathlib import Path

resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))

from pytest_llmeval.errors import TaskError
from pytest_llmeval.task import load_task
from pytest_llmeval.task.prompt_check import check_prompts
from pytest_llmeval.task.samples import read_samples
from pytest_llmeval.templates import child

child.CPU_SECONDS = 1
for file in map(Path, sys.argv[1:]):
    try:
        task = load_task(file)
        check_prompts(task, {"generate": {}}, read_samples(task))
        print(json.dumps("nothing"))
    except TaskError as error:
        print(json.dumps(str(error)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_no_template_and_no_expression_takes_time_or_memory_without_end(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "input": "What is 1 + 1?", "target": "2"}\n')
    files = []
    for number, bomb in enumerate(BOMBS):
        dataset = {"path": "rows.jsonl"} | ({"keep": bomb["keep"]} if "keep" in bomb else {})
        prompt = json.dumps(bomb.get("template", "{{ input }}"))
        text = f"name: t{number}\ndataset: {json.dumps(dataset)}\nprompt: {prompt}\n"
        files.append(tmp_path / f"t{number}.yaml")
        files[-1].write_text(text)
    ended = subprocess.run(
        [sys.executable, "-c", TRY_ALL, *files], capture_output=True, text=True, check=False
    )
    messages = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(messages) == len(BOMBS), ended.stderr[-2000:]
    for file, bomb, message in zip(files, BOMBS, messages, strict=True):
        place = "2: dataset.keep: " if "keep" in bomb else "3: prompt: "
        assert message.startswith(f"{file}:{place}"), (bomb, message)
        assert bomb["says"] in message, (bomb, message)
        assert len(message) < 3000
