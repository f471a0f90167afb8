from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from example_rows import eed, row
from msgspec.structs import replace

from pytest_llmeval.records import Json, Row
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.pipeline_record import PipelineTable, pipeline_table
from pytest_llmeval.results.pipelines import pipelines_of
from pytest_llmeval.results.rescoring import Rescoring, rescoring
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.summary_schema import summary_schema
from pytest_llmeval.results.task_info import Published, TaskInfo

FILE = Path(__file__).parents[2] / "docs" / "summary.schema.json"
INFO = TaskInfo(
    title="demo",
    group_by=("tag",),
    published=(Published(name="o3", metric="accuracy", value=0.3, source="paper"),),
    whole=100,
)
PIPELINES = [
    row(sample, "correct" if task == "demo" else "incorrect", task=task, question="digest")
    for sample in "12"
    for task in ("demo", "other")
]


def test_the_documented_schema_is_that_of_the_code() -> None:
    renew = "python -m pytest_llmeval.results.summary_schema > docs/summary.schema.json"
    assert json.loads(FILE.read_text()) == summary_schema(), renew
    jsonschema.Draft202012Validator.check_schema(summary_schema())


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("1", "error"), row("2", "not run")],
        [
            row(str(i), "correct", epoch=e, scores=eed(100, 40), groups={"tag": ("a",)})
            for i in range(3)
            for e in (1, 2)
        ],
    ],
    ids=["nothing", "no score", "epochs"],
)
def test_every_summary_fits_the_schema_and_survives_it(rows: list[Row]) -> None:
    summary = summarise(rows, {"demo": INFO})
    rules = "inconclusive: pass\nrules: {demo.accuracy: {min: 0.5, samples: 9}, x.y: {max: 1}}"
    gate = check(parse_gate(rules, "g.yaml"), summary)
    again = rescoring(
        "then", rows, [replace(one, outcome="unscored", answer="new") for one in rows]
    )
    parts = {
        "pipelines": [pipeline_table(one).to_json() for one in pipelines_of(PIPELINES, summary)],
        "gate": gate.to_json(),
        "rescoring": again.to_json(),
        "engine": None,
    }
    data = json.loads(json.dumps({**summary.to_json(), **parts}))
    jsonschema.validate(data, json.loads(FILE.read_text()))
    assert Summary.from_json(data) == summary
    assert [PipelineTable.from_json(one).n for one in data["pipelines"]] == [2]
    assert GateResult.from_json(data["gate"]) == gate
    assert Rescoring.from_json(data["rescoring"]) == again


def test_another_version_or_a_lost_figure_does_not_fit() -> None:
    gate = check(Gate(), summarise([], {})).to_json()
    parts: dict[str, Json] = {"pipelines": [], "gate": gate, "rescoring": None, "engine": None}
    data = json.loads(json.dumps({**summarise([row("1")], {}).to_json(), **parts}))
    schema = json.loads(FILE.read_text())
    jsonschema.validate(data, schema)
    for broken in (
        {**data, "schema": 2},
        {**data, "entries": [{**data["entries"][0], "tally": {}}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)
