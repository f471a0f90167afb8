"""``--llmeval-traces``: the spans of whole runs, in one process, with workers, and resumed."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("opentelemetry.sdk")

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])


def spans(project: Project) -> list[dict[str, Any]]:
    """Return the spans of the last run, and remove the file."""
    file = project.path / "traces.jsonl"
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    file.unlink()
    return found


@MODES
def test_every_row_has_one_span_in_its_run_also_after_a_resume(
    project: Project, mode: list[str]
) -> None:
    for resume in ([], ["--llmeval-resume"]):
        project.run(*SCRIPTED, *mode, *resume, "--llmeval-traces", "traces.jsonl")
        found = spans(project)
        (run,) = (span for span in found if span["parent_id"] is None)
        folder = (project.path / "reports" / "latest").resolve().name
        assert run["attributes"] == {"llmeval.run": folder}
        samples = {
            span["context"]["span_id"]: span
            for span in found
            if span["parent_id"] == run["context"]["span_id"]
        }
        facts = [span["attributes"] for span in samples.values()]
        assert Counter(
            (one["llmeval.test"], one["llmeval.sample"], one["llmeval.outcome"]) for one in facts
        ) == Counter((row["test"], row["sample"], row["outcome"]) for row in project.rows())
        # The seventh question raises in the model: its request failed.
        requests = [span for span in found if span["name"].startswith("chat ")]
        assert Counter(span["parent_id"] for span in requests) == Counter(list(samples))
        assert len(found) == 1 + 12 + 12
        assert [span["status"]["status_code"] for span in requests].count("ERROR") == 1


def test_the_tokens_of_request_spans_are_the_runs_and_retries_are_seen(
    project: Project, model_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    model_server.program(share=0.3, kinds=[{"kind": "429", "retry_after": "0.01"}], seed=3)
    model = f"openai/small,base_url={model_server.url}"
    project.run("--llmeval-model", model, "-n0", "--llmeval-traces", "traces.jsonl")
    requests = [one for one in spans(project) if one["kind"] == "SpanKind.CLIENT"]
    engine = project.summary()["engine"]
    assert len(requests) == model_server.report()["requests"] > 12
    failed = [one for one in requests if one["attributes"].get("error.type") == "429"]
    assert len(failed) == len(requests) - 12
    rows = project.rows()
    for name in ("input_tokens", "output_tokens"):
        total = sum(one["attributes"].get(f"gen_ai.usage.{name}", 0) for one in requests)
        assert total == sum(row["usage"][name] for row in rows) > 0
    assert engine is not None


def test_without_the_option_nothing_of_it_is_imported(project: Project) -> None:
    project.write(
        "conftest.py",
        "import sys\n"
        "def pytest_unconfigure():\n"
        "    assert not any(name.startswith('opentelemetry') for name in sys.modules)\n",
    )
    project.run(*SCRIPTED, "-n0").assert_outcomes(passed=8, failed=3, errors=1)
    assert not (project.path / "traces.jsonl").exists()


def test_an_exporter_that_is_missing_is_one_error_before_a_request(project: Project) -> None:
    result = project.run(*SCRIPTED, "-n0", "--llmeval-traces", "nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--llmeval-traces nowhere: no exporter 'nowhere' is installed*"])
    assert project.calls() == []
