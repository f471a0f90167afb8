"""Task files: what a good one says, and how a wrong one is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.scoring.eed.scorer import EedScorer
from pytest_llmeval.scoring.exact import Exact
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.sldp.scorer import SldpScorer
from pytest_llmeval.task import Spec, Task, load_task

HERE = Path(__file__).parent / "cases"
GOOD = (HERE / "good_task.yaml").read_text()
BAD: list[dict[str, Any]] = yaml.safe_load((HERE / "bad_tasks.yaml").read_text())

MINIMAL = "name: demo\ndataset: {path: rows.jsonl}\nprompt: 'Say {{ input }}'\n"
VISUAL = MINIMAL.replace("'Say {{ input }}'", "{image: a, question: b}")

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        file = tmp_path / "task.yaml"
        file.write_text(text)
        return file

    return written


def test_a_task_says_what_its_file_says(write: Write, tmp_path: Path) -> None:
    task = load_task(write(GOOD))
    assert (task.name, task.version, task.answer) == ("demo", 1, "boxed_first")
    assert (task.file, task.folder) == (tmp_path / "task.yaml", tmp_path)
    assert task.dataset.path == tmp_path / "samples.yaml"
    assert (task.dataset.fields.input, task.dataset.fields.tags) == ("content", ("tag",))
    assert [(turn.role, turn.text) for turn in task.prompt["generate"]] == [
        ("system", "You are a physicist."),
        ("user", "{{ input }}\n"),
    ]
    assert task.generate == {"temperature": 0.6, "top_p": 0.95}
    assert task.solver == Spec(name="direct")
    assert [(one.scorer, one.decides) for one in task.scorers] == [
        (EedScorer(mode="corrected", minimum=100.0), True),
        (JudgeScorer(votes=1, prefilter=True), False),
    ]
    assert (task.metrics, task.group_by) == (("accuracy", {"mean": "EED"}), ("tag",))
    assert task.replay == tmp_path / "replies.jsonl"


def test_what_a_minimal_task_leaves_out_has_a_default(write: Write) -> None:
    task = load_task(write(MINIMAL))
    assert (task.version, task.answer, task.replay) == (1, "whole", None)
    assert (task.scorer, task.scorers, task.decides) == ((), (), ("first",))
    assert (task.dataset.fields.id, task.dataset.fields.input, task.dataset.fields.target) == (
        "id",
        "input",
        "target",
    )
    assert (task.solver, task.metrics) == (Spec(name="direct"), ("accuracy",))


@pytest.mark.parametrize("case", BAD, ids=lambda case: case["name"].replace(" ", "-"))
def test_a_wrong_task_is_refused_with_file_line_key_and_fix(
    case: dict[str, Any], write: Write
) -> None:
    assert GOOD.count(case["replace"]) == 1
    file = write(GOOD.replace(case["replace"], case["by"]))
    with pytest.raises(TaskError) as refused:
        load_task(file)
    assert str(refused.value).startswith(f"{file}:{case['line']}: {case['key']}: ")
    for part in case["says"]:
        assert part in str(refused.value)


@pytest.mark.parametrize(
    ("text", "kind"), [("", "empty"), ("- a\n", "['a']"), ("hello\n", "'hello'")]
)
def test_a_file_that_is_no_mapping_is_refused(text: str, kind: str, write: Write) -> None:
    with pytest.raises(TaskError) as refused:
        load_task(write(text))
    assert f"is {kind}, not a mapping of keys" in str(refused.value)


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [
        ("eed", [EedScorer()]),
        ("{eed: {minimum: 60}}", [EedScorer(minimum=60.0)]),
        ("sldp", [SldpScorer(tolerance=0.01, case_sensitive=False)]),
        (
            "{sldp: {tolerance: 0.5, case_sensitive: true}}",
            [SldpScorer(tolerance=0.5, case_sensitive=True)],
        ),
        ("judge", [JudgeScorer()]),
        ("{judge: }", [JudgeScorer()]),
        ("[exact, judge]", [Exact(), JudgeScorer()]),
        (
            "[eed, {eed: {mode: published, name: EED published}}]",
            [EedScorer(), EedScorer(mode="published", name="EED published")],
        ),
        ("[]", []),
        ("null", []),
    ],
)
def test_scorers_stand_alone_or_with_options_or_in_a_list(
    scorer: str, expected: list[object], write: Write
) -> None:
    task = load_task(write(f"{MINIMAL}scorer: {scorer}\n"))
    assert [declared.scorer for declared in task.scorers] == expected


@pytest.mark.parametrize(
    ("solver", "expected"),
    [
        ("direct", Spec(name="direct")),
        (
            "{visual_cot: {image_mode: edit}}",
            Spec(name="visual_cot", options={"image_mode": "edit"}),
        ),
        ("./solver.py:solve", Spec(name="./solver.py:solve")),
        (
            "{'./solver.py:solve': {times: 2}}",
            Spec(name="./solver.py:solve", options={"times": 2}),
        ),
        ("installed.module:solve", Spec(name="installed.module:solve")),
    ],
)
def test_solvers_are_ours_or_the_tasks_own(solver: str, expected: Spec, write: Write) -> None:
    text = MINIMAL.replace("'Say {{ input }}'", "{generate: a, image: b, question: c}")
    assert load_task(write(f"{text}solver: {solver}\n")).solver == expected


def test_a_prompt_has_stages_when_it_is_a_mapping(write: Write) -> None:
    prompt = "prompt:\n  generate: [{system: a}, {user: b}]\n  refine: 'c {{ rows }}'\n"
    task = load_task(write(MINIMAL.replace("prompt: 'Say {{ input }}'\n", prompt)))
    assert {stage: [turn.role for turn in turns] for stage, turns in task.prompt.items()} == {
        "generate": ["system", "user"],
        "refine": ["user"],
    }


@pytest.mark.parametrize("form", ["prompt: '{}'", "prompt: [user: '{}']"])
def test_the_wire_form_of_visual_cot_is_two_stages(form: str, write: Write) -> None:
    wire = "[GEN_PROMPT]draw {{ input }}[/GEN_PROMPT][QUESTION]solve {{ input }}[/QUESTION]"
    task = load_task(
        write(
            MINIMAL.replace("prompt: 'Say {{ input }}'", form.replace("{}", wire))
            + "solver: visual_cot\n"
        )
    )
    assert {stage: turns[0].text for stage, turns in task.prompt.items()} == {
        "image": "draw {{ input }}",
        "question": "solve {{ input }}",
    }


def test_a_prompt_may_stand_in_a_file_of_the_tasks_folder(write: Write, tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "ask.md").write_text("Solve: {{ input }}")
    task = load_task(write(MINIMAL.replace("'Say {{ input }}'", "[user: {file: prompts/ask.md}]")))
    assert task.prompt["generate"][0].text == "Solve: {{ input }}"


def test_a_link_out_of_the_folder_is_no_prompt_file(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (folder / "prompt.md").symlink_to(tmp_path / "secret.md")
    (folder / "task.yaml").write_text(
        MINIMAL.replace("'Say {{ input }}'", "[user: {file: prompt.md}]")
    )
    with pytest.raises(TaskError, match="leaves the task's folder"):
        load_task(folder / "task.yaml")


def test_a_broken_template_in_a_file_is_told_with_that_file(write: Write, tmp_path: Path) -> None:
    (tmp_path / "ask.md").write_text("Solve\n{% if %}")
    with pytest.raises(TaskError, match=r"ask\.md:2: is not valid jinja2"):
        load_task(write(MINIMAL.replace("'Say {{ input }}'", "[user: {file: ask.md}]")))


def test_overrides_reach_any_depth_and_read_text_as_yaml(write: Write) -> None:
    overrides = {
        "generate.temperature": "0",
        "generate.stop": "[a, b]",
        "scorer.judge.votes": "3",
        "scorer.eed.minimum": "60",
        "dataset.fields.tags": "null",
        "dataset.unique": "content",
        "version": "2",
    }
    with pytest.raises(UsageError, match=r"--llmeval-set demo\.dataset\.fields\.tags=null: "):
        load_task(write(GOOD), overrides)
    del overrides["dataset.fields.tags"]
    task = load_task(write(GOOD), overrides)
    assert task.generate == {"temperature": 0, "top_p": 0.95, "stop": ["a", "b"]}
    assert (task.dataset.unique, task.version) == ("content", 2)
    assert [declared.scorer for declared in task.scorers] == [
        EedScorer(minimum=60.0),
        JudgeScorer(votes=3),
    ]


def test_an_override_below_a_name_alone_gives_it_options(write: Write) -> None:
    file = write(f"{VISUAL}solver: visual_cot\nscorer: eed\n")
    overrides = {"solver.visual_cot.image_mode": "edit", "scorer.eed.mode": "published"}
    task = load_task(file, overrides)
    assert task.solver == Spec(name="visual_cot", options={"image_mode": "edit"})
    assert task.scorers[0].scorer == EedScorer(mode="published")


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("generte.temperature", "0", "did you mean 'generate'"),
        ("scorer.eed.mode", "best", "published"),
        ("scorer.judge.votes", "many", "integer"),
        ("scorer.judge.votes", "100", "votes is 100; it must be from 1 to 99"),
        ("scorer", "eet", "did you mean 'eed'?"),
        ("scorer+", "judge", "is a second scorer called 'judge'; give it another `name`"),
        ("decides", "[SLDP]", "allowed: first, all, any, EED, judge"),
        ("answer.rule", "whole", "answer is 'boxed_first', not a mapping"),
        ("generate.temperature", "{", "did not find expected"),
        ("name", "other", "cannot be overridden"),
        ("dataset.path", "rows.toml", "allowed: .yaml"),
    ],
)
def test_a_wrong_override_names_its_option(key: str, value: str, says: str, write: Write) -> None:
    with pytest.raises(UsageError) as refused:
        load_task(write(GOOD), {key: value})
    assert str(refused.value).startswith(f"--llmeval-set demo.{key}={value}: ")
    assert says in str(refused.value)


def test_an_override_changes_one_place_of_two_that_share_an_alias(write: Write) -> None:
    shared = MINIMAL.replace(
        "{path: rows.jsonl}", "{path: rows.jsonl, fields: {metadata: &m {top: level}}}"
    )
    task = load_task(write(f"{shared}generate: *m\n"), {"generate.top": "1"})
    assert (task.generate, task.dataset.fields.metadata) == ({"top": 1}, {"top": "level"})


def test_another_dataset_lies_where_the_command_was_typed(write: Write, tmp_path: Path) -> None:
    file, typed_in = write(GOOD), tmp_path / "elsewhere"
    for path in ("public.json", str(typed_in / "public.json")):
        task = load_task(file, {"dataset.path": path}, typed_in)
        assert task.dataset.path == typed_in / "public.json"
    with pytest.raises(UsageError, match=r"--llmeval-set demo\.dataset\.path=rows\.txt: "):
        load_task(file, {"dataset.path": "rows.txt"}, typed_in)


def test_the_file_is_read_once_and_overrides_do_not_stay_in_it(write: Write) -> None:
    file = write(GOOD)
    load_task(file, {"generate.temperature": "0"})
    assert load_task(file).generate["temperature"] == 0.6


def test_digests_change_with_what_they_stand_for(write: Write) -> None:
    task = load_task(write(GOOD))
    again = load_task(write(f"# a comment moves every line\n{GOOD}"))
    assert (again.prompt_digest, again.settings_digest) == (
        task.prompt_digest,
        task.settings_digest,
    )
    other_prompt = load_task(write(GOOD.replace("physicist", "chemist")))
    assert other_prompt.prompt_digest != task.prompt_digest
    assert other_prompt.settings_digest == task.settings_digest
    other_setting = load_task(write(GOOD), {"generate.temperature": "0"})
    assert other_setting.settings_digest != task.settings_digest


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scorer.eed.minimum", "60"),
        ("scorer+", "exact"),
        ("decides", "all"),
        ("answer", "whole"),
        ("dataset.unique", "content"),
    ],
)
def test_the_digest_of_settings_covers_what_decides_scores(
    key: str, value: str, write: Write
) -> None:
    file = write(GOOD)
    assert load_task(file, {key: value}).settings_digest != load_task(file).settings_digest


def test_digests_do_not_depend_on_where_the_task_lies(tmp_path: Path) -> None:
    tasks: list[Task] = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.yaml").write_text(GOOD)
        tasks.append(load_task(tmp_path / name / "task.yaml"))
    assert tasks[0].settings_digest == tasks[1].settings_digest
    assert tasks[0].prompt_digest == tasks[1].prompt_digest


def test_a_task_cannot_be_changed(write: Write) -> None:
    task = load_task(write(GOOD))
    with pytest.raises(ValidationError, match="frozen"):
        task.version = 2  # type: ignore[misc]  # what is tested
