"""The Geometry3K tasks: the published prompts and settings, our problems and the public ones."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from benchmarks.benchmark_session import ROOT, run_pytest

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Image, Reply, Request
from pytest_llmeval.scoring.judge import built_in_prompt, judge_verdict
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.task import load_task
from pytest_llmeval.task.rendering import render
from pytest_llmeval.task.samples import read_samples

DIRECT = ROOT / "benchmarks/geometry3k/geometry3k.yaml"
VISUAL = ROOT / "benchmarks/geometry3k/geometry3k_visual_cot.yaml"
TRUE_LINES = ROOT / "benchmarks/geometry3k/geometry3k_true_lines.yaml"
CHOICE = ROOT / "benchmarks/geometry3k/geometry3k_choice.yaml"
FOLDER = ROOT / "fixtures/geometry3k"


def published_prompts(shared: Path) -> list[str]:
    """Return the published prompts: direct, image, question."""
    (seed,) = (shared / "seeds").glob("003_*.txt")
    return re.findall(r"```\n(.*?)\n```", seed.read_text("utf-8"), re.DOTALL)[:3]


def asked(file: Path, stage: str) -> str:
    """Return a stage's text with the problem's place marked as in the published prompts."""
    task = load_task(file)
    (message,) = render(task, stage, read_samples(task, limit=1)[0], (), {"input": "{problem}"})
    return message.text


@pytest.mark.parametrize(
    ("file", "stage", "index"),
    [
        (DIRECT, "generate", 0),
        (VISUAL, "image", 1),
        (VISUAL, "question", 2),
        (TRUE_LINES, "question", 2),
    ],
)
def test_the_prompts_are_the_published_ones_word_for_word(
    file: Path, stage: str, index: int, shared: Path
) -> None:
    assert asked(file, stage) == published_prompts(shared)[index]


@pytest.mark.parametrize("file", [DIRECT, VISUAL, TRUE_LINES], ids=lambda file: file.stem)
def test_the_settings_are_the_published_ones(file: Path) -> None:
    task = load_task(file)
    assert task.generate == {"temperature": 0, "max_tokens": 16_384}
    assert [one.scorer for one in task.scorers] == [JudgeScorer(votes=1, prefilter=True)]
    assert task.answer == "whole"


def test_the_published_wire_form_of_the_two_stages_is_understood(
    shared: Path, tmp_path: Path
) -> None:
    _, image, question = published_prompts(shared)
    text = f"[GEN_PROMPT]{image}[/GEN_PROMPT][QUESTION]{question}[/QUESTION]".replace(
        "{problem}", "{{ input }}"
    )
    source = VISUAL.read_text("utf-8").replace("../../fixtures", str(ROOT / "fixtures"))
    source = source.replace("published: ", f"published: {VISUAL.parent}/")
    start, end = source.index("prompt:"), source.index("generate:")
    prompt = "prompt: |-\n" + "\n".join(f"  {line}" for line in text.splitlines()) + "\n"
    file = tmp_path / "task.yaml"
    file.write_text(source[:start] + prompt + source[end:], "utf-8")
    assert [asked(file, "image"), asked(file, "question")] == [image, question]


@pytest.mark.parametrize("file", [DIRECT, VISUAL, TRUE_LINES], ids=lambda file: file.stem)
def test_the_diagram_stands_where_the_problem_names_it(file: Path) -> None:
    task = load_task(file)
    sample = read_samples(task, limit=1)[0]
    images = tuple(Image.load(path) for path in sample.images)
    for stage in task.prompt:
        (message,) = render(task, stage, sample, images, {})
        assert message.images == images
        assert "<image>" not in message.text
        assert sample.target_text not in message.text


def test_choices_are_lettered_in_the_prompt_and_the_right_letter_is_the_target() -> None:
    task = load_task(CHOICE)
    sample = read_samples(task, limit=1)[0]
    (message,) = render(task, "generate", sample, (), {})
    listed = dict(re.findall(r"^([A-D])\. (.*)$", message.text, re.MULTILINE))
    assert list(listed.values()) == sample.metadata["choices"]
    assert listed[sample.target_text] == read_samples(load_task(DIRECT), limit=1)[0].target
    assert (task.answer, [one.scorer.name for one in task.scorers]) == ("choice", ["choice"])


def test_our_problems_are_grouped_by_topic() -> None:
    samples = read_samples(load_task(DIRECT))
    assert len(samples) == 34
    assert {tag for sample in samples for tag in sample.tags} >= {
        "circles",
        "triangles",
        "parallels",
    }


@pytest.mark.parametrize("file", [DIRECT, VISUAL], ids=["direct", "visual"])
def test_the_public_test_set_gives_583_samples_with_a_diagram_each(
    file: Path, shared: Path
) -> None:
    public = shared / "data/geometry3k/hiyouga_style_test_583.json"
    samples = read_samples(load_task(file, {"dataset.path": str(public)}))
    assert len(samples) == 583
    assert {len(sample.images) for sample in samples} == {1}


def test_the_public_problems_that_have_a_diagram_can_be_asked_with_their_choices(
    shared: Path,
) -> None:
    public = shared / "data/geometry3k/geometry3k_test_601.json"
    named = {"dataset.path": str(public), "dataset.fields.images": "[image]"}
    with pytest.raises(
        TaskError, match=r"image: row \d+: there is no image; .* dataset\.keep: image"
    ):
        read_samples(load_task(CHOICE, named))
    samples = read_samples(load_task(CHOICE, {**named, "dataset.keep": "image"}))
    assert len(samples) == 583
    assert {(len(sample.images), sample.target_text in "ABCD") for sample in samples} == {(1, True)}


def test_both_tests_are_collected_for_the_public_test_set(shared: Path) -> None:
    public = shared / "data/geometry3k/hiyouga_style_test_583.json"
    datasets = [
        f"--llmeval-set={task}.dataset.path={public}"
        for task in ("geometry3k", "geometry3k_visual_cot")
    ]
    assert "1166/1234 tests collected" in run("--collect-only", "-k", "direct or visual", *datasets)


def test_an_image_mode_that_does_not_exist_is_refused_with_those_that_do() -> None:
    mode = "geometry3k_visual_cot.solver.visual_cot.image_mode=paint"
    output = run("--collect-only", "-k", "visual", f"--llmeval-set={mode}")
    assert f"--llmeval-set {mode}: " in output
    assert "'draw', 'edit', 'chat' or 'given'" in output


def run(*options: str) -> str:
    """Return what pytest says about the benchmark's folder."""
    done = run_pytest("benchmarks/geometry3k", "-q", *options)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def scripted() -> ModuleType:
    """Return the scripted model."""
    spec = importlib.util.spec_from_file_location("scripted_geometry", FOLDER / "scripted.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judged(scripted: ModuleType, sample: int, candidate: str, *, draw: int = 0) -> Reply:
    """Return the scripted judge's reply about a candidate for our problem number `sample`."""
    problem = read_samples(load_task(DIRECT))[sample - 1]
    reply = scripted.reply(
        Request(
            role="judge",
            provider="python",
            model="scripted",
            parameters=built_in_prompt().parameters,
            messages=built_in_prompt().messages(problem, candidate),
            draw=draw,
        )
    )
    assert isinstance(reply, Reply)
    return reply


@pytest.mark.parametrize(
    ("sample", "candidate", "correct"),
    [
        (1, "\\boxed{13}", True),
        (1, "x = 12", False),
        (10, "Therefore\n$m\\angle CBD = 66^\\circ.$", False),
    ],
)
def test_the_scripted_judge_knows_the_scripted_answers(
    sample: int,
    candidate: str,
    correct: bool,  # noqa: FBT001 - an expectation from the table
    scripted: ModuleType,
) -> None:
    verdict = judge_verdict(judged(scripted, sample, candidate).text)
    assert verdict is not None
    assert verdict.correct is correct


def test_the_scripted_judge_is_unusable_at_first_or_for_good_where_the_script_says_so(
    scripted: ModuleType,
) -> None:
    first, second = (judged(scripted, 17, "So x = 7.5.", draw=draw) for draw in (0, 1))
    assert (judge_verdict(first.text) is None, judge_verdict(second.text) is None) == (True, False)
    assert {
        judge_verdict(judged(scripted, 32, "$MN = \\frac{23}{2}$", draw=draw).text)
        for draw in range(4)
    } == {None}


def test_the_benchmark_runs_with_the_scripted_model_and_judge(tmp_path: Path) -> None:
    model = "python/./fixtures/geometry3k/scripted.py:reply"
    output = run(
        *("--llmeval-model", model, "--llmeval-judge", model),
        *("--llmeval-report", str(tmp_path), "--llmeval-groups"),
    )
    # direct: 22 right of 34; visual: 24 right, one of 34 with no usable verdict; with the
    # true lines 31 right; choice: 23 right
    assert "35 failed, 100 passed, 1 error" in output
    assert re.search(r"geometry3k .*\n.*\n *all +64\.7 %", output)
    assert re.search(r"geometry3k_choice .*\n.*\n *all +67\.6 %", output)
    assert re.search(r"geometry3k_visual_cot .*\n.*\n *all +72\.7 %.* 33 of 34", output)
    assert re.search(r"geometry3k_true_lines .*\n.*\n *all +91\.2 %", output)
    # One paired table of the three ways: the samples that all of them scored, in each of the ways.
    table = output[output.index("pipelines ") :]
    assert re.search(r"^A geometry3k +63\.6 % .* 34 of 34", table, re.MULTILINE)
    assert re.search(r"^B geometry3k_true_lines +90\.9 % .* 34 of 34", table, re.MULTILINE)
    assert re.search(r"^C geometry3k_visual_cot +72\.7 % .* 33 of 34", table, re.MULTILINE)
