"""The soak's samples: parts of a benchmark, each with its task, its test file and its run.

In each part one sample of ten has a target that the model never gives, and a few are poison: the
server refuses them. A `graph` sample takes a Cypher query, its rows and a second call.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.records import Outcome

SCENE: Final = Path(__file__).parents[1] / "fixtures" / "heracles" / "scene.json"
ROOMS: Final = 9
"""Rooms in the scene."""

POISON_SHARE: Final = 0.002
FINAL_POISON: Final = ("400", "413")
"""Statuses by which a refusal is final."""

STUBBORN_POISON: Final = (*FINAL_POISON, "500")
"""The same, with one after which a request is sent again."""

_PLAIN: Final = """
name: {name}
dataset: {{path: {name}.jsonl, fields: {{id: id, input: question, target: answer}}}}
prompt: [{{user: "{{{{ input }}}}"}}]
answer: last_line
scorer: exact
"""

_GRAPH: Final = """
name: {name}
dataset:
  path: {name}.jsonl
  fields: {{id: id, input: question, target: answer, metadata: {{uid: id}}}}
prompt:
  generate: [{{user: "{{{{ input }}}}"}}]
  refine: [{{user: "sample {{{{ metadata.uid }}}} rows\\n{{{{ rows }}}}"}}]
solver: {{cypher: {{scene: {scene}}}}}
answer: tagged
scorer: sldp
"""

_TEST: Final = """
import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("{name}.yaml")


def test_{name}(sample, completion):
    assert_correct(sample, completion)
"""

_INI: Final = "[pytest]\nfilterwarnings = error\n"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of the samples.

    Attributes:
        name: of its task.
        folder: of the project.
        graph: whether its samples ask a graph database.
        expected: how each sample must end, by its id.
    """

    name: str
    folder: Path
    graph: bool
    expected: Mapping[str, Outcome]

    @property
    def reports(self) -> Path:
        """The folder of its run folder."""
        return self.folder / "reports" / self.name

    @property
    def requests(self) -> int:
        """Number of prompts that are answered, if all goes well."""
        answered = sum(outcome != "error" for outcome in self.expected.values())
        return answered * 2 if self.graph else answered


def write_part(  # noqa: PLR0913 - all named at the call
    folder: Path, name: str, samples: int, *, graph: bool, stubborn: bool, seed: int
) -> Part:
    """Write the files of a part, and return it.

    Args:
        folder: of the project.
        name: of the part's task.
        samples: their number.
        graph: whether they ask a graph database.
        stubborn: whether some poison is refused by a status after which requests are sent again.
        seed: draws the samples.
    """
    statuses = STUBBORN_POISON if stubborn else FINAL_POISON
    draw = random.Random(f"{seed} {name}")  # noqa: S311 - no secret
    lines: list[dict[str, Any]] = []
    expected: dict[str, Outcome] = {}
    poison = set(draw.sample(range(samples), max(2, round(POISON_SHARE * samples))))
    for number in range(samples):
        ident, value = f"{name}-{number:05}", draw.randrange(1_000_000)
        answer = value + ROOMS if graph else value
        wrong = number % 10 == 3
        asks = f"query {value}" if graph else f"say {value}"
        if number in poison:
            asks = f"poison {draw.choice(statuses)}"
        lines.append(
            {
                "id": ident,
                "question": f"sample {ident} {asks}",
                "answer": str(answer + 1 if wrong else answer),
            }
        )
        expected[ident] = "error" if number in poison else "incorrect" if wrong else "correct"
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    task = (_GRAPH if graph else _PLAIN).format(name=name, scene=SCENE)
    (folder / f"{name}.yaml").write_text(task)
    (folder / f"test_{name}.py").write_text(_TEST.format(name=name))
    (folder / "pytest.ini").write_text(_INI)
    return Part(name=name, folder=folder, graph=graph, expected=expected)
