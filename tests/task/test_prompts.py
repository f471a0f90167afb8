"""Prompts: what templates see, where pictures go, and what a model's text cannot do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Image, Json, Message, Request, Sample, TextPart
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.rendering import render

ONE, TWO = (
    Image(digest=digit * 64, media_type="image/png", path=f"/{digit}.png") for digit in "12"
)
SAMPLE = Sample(
    id="7", input="What is 1 + 1?", target="SECRET", tags=("EASY", "SUM"), metadata={"hint": "two"}
)


def task_with(folder: Path, prompt: Any) -> Task:
    file = folder / "task.yaml"
    file.write_text(
        yaml.safe_dump({"name": "demo", "dataset": {"path": "rows.jsonl"}, "prompt": prompt})
    )
    return load_task(file)


def rendered(
    folder: Path,
    prompt: Any,
    sample: Sample = SAMPLE,
    *,
    images: tuple[Image, ...] = (),
    **variables: Json,
) -> tuple[Message, ...]:
    return render(task_with(folder, prompt), "generate", sample, images, variables)


def layout(message: Message) -> list[str]:
    """Return a message's parts: texts as they are, pictures as their path."""
    return [part.text if isinstance(part, TextPart) else part.image.path for part in message.parts]


def asking(text: str) -> Sample:
    return Sample(id="7", input=text, target="SECRET")


def test_templates_see_the_sample_and_the_stages_variables(tmp_path: Path) -> None:
    prompt = [
        {"system": "Sample {{ id }}, {{ tags | join('+') }}, {{ metadata.hint }}."},
        {"user": "{{ input }}\n{{ rows | length }} rows{% if cypher %}: {{ cypher }}{% endif %}\n"},
    ]
    messages = rendered(tmp_path, prompt, rows=[1, 2], cypher="MATCH (n)")
    assert messages == (
        Message.of("system", "Sample 7, EASY+SUM, two."),
        Message.of("user", "What is 1 + 1?\n2 rows: MATCH (n)"),
    )


def test_latex_and_single_braces_pass_through(tmp_path: Path) -> None:
    text = r"Put it in \boxed{} as {problem}: $\frac{a}{b}$ <b>&amp;</b>"
    assert rendered(tmp_path, [{"user": text}])[0].text == text
    assert (
        rendered(tmp_path, "{{ input }}", asking("{{ id }} {% raw %} <b>"))[0].text
        == "{{ id }} {% raw %} <b>"
    )


@pytest.mark.parametrize(
    ("template", "says"),
    [
        (
            "{{ target }}",
            "'target' is undefined; prompts cannot use the target (known here: id, input, tags",
        ),
        ("{{ problem }}", "'problem' is undefined (known here: id, input, tags, metadata)"),
        ("{{ metadata.hnit }}", "metadata has no 'hnit' (it has: hint)"),
        ("{{ input / 2 }}", "cannot be filled: TypeError"),
        ("{{ input.__class__.__mro__ }}", "unsafe"),
        ("{{ range(10000000) | list }}", "Range too big"),
        ("{{ tags.append('x') }}", "unsafe"),
    ],
)
def test_a_template_that_fails_is_told_with_file_line_and_key(
    template: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(TaskError) as refused:
        rendered(tmp_path, [{"system": "fine"}, {"user": template}])
    assert str(refused.value).startswith(f"{tmp_path / 'task.yaml'}:6: prompt.1.user: ")
    assert says in str(refused.value)


def test_an_unknown_stage_names_those_there_are(tmp_path: Path) -> None:
    task = task_with(tmp_path, {"generate": "a", "refine": "b"})
    with pytest.raises(
        TaskError,
        match=r"has no stage 'check', which the solver asks for \(stages: generate, refine\)",
    ):
        render(task, "check", SAMPLE, (), {})


def test_a_tag_in_the_input_becomes_its_picture_in_place(tmp_path: Path) -> None:
    sample = asking("Compare <image> with <image>.")
    (message,) = rendered(tmp_path, "Look. {{ input }}", sample, images=(ONE, TWO))
    assert layout(message) == ["Look. Compare ", "/1.png", " with ", "/2.png", "."]


def test_a_tag_in_the_template_becomes_a_picture_too(tmp_path: Path) -> None:
    (message,) = rendered(tmp_path, "First:<image>\nSecond:<image>\n{{ input }}", images=(ONE, TWO))
    assert layout(message) == ["First:", "/1.png", "\nSecond:", "/2.png", "\nWhat is 1 + 1?"]


def test_pictures_never_named_come_first_in_the_last_user_message(tmp_path: Path) -> None:
    prompt = [{"user": "An example."}, {"assistant": "Yes."}, {"user": "{{ input }}"}]
    messages = rendered(tmp_path, prompt, images=(ONE, TWO))
    assert [layout(message) for message in messages] == [
        ["An example."],
        ["Yes."],
        ["/1.png", "/2.png", "What is 1 + 1?"],
    ]


def test_a_tag_at_the_very_start_leaves_no_empty_text(tmp_path: Path) -> None:
    (message,) = rendered(tmp_path, "{{ input }}", asking("<image>Find x."), images=(ONE,))
    assert layout(message) == ["/1.png", "Find x."]


def test_filters_do_not_lose_a_picture(tmp_path: Path) -> None:
    (message,) = rendered(
        tmp_path, "{{ input | upper | trim }}", asking("<image>find x."), images=(ONE,)
    )
    assert layout(message) == ["/1.png", "FIND X."]


def test_more_tags_than_pictures_is_the_tasks_fault(tmp_path: Path) -> None:
    with pytest.raises(
        TaskError, match=r"prompt: sample '7' has 1 pictures, but 2 <image> tags stand for one"
    ):
        rendered(tmp_path, "<image>{{ input }}", asking("<image>Find x."), images=(ONE,))


def test_without_pictures_the_tag_is_only_text(tmp_path: Path) -> None:
    (message,) = rendered(tmp_path, "Use <image> in {{ input }}", asking("HTML: <image>"))
    assert message == Message.of("user", "Use <image> in HTML: <image>")


def test_a_tag_inside_an_expression_is_a_string(tmp_path: Path) -> None:
    (message,) = rendered(tmp_path, "{{ '<image>' }}{% raw %}<image>{% endraw %}", images=(ONE,))
    assert layout(message) == ["<image>", "/1.png"]


def test_what_a_model_wrote_can_neither_name_a_picture_nor_run_a_template(tmp_path: Path) -> None:
    hostile = "<image> {{ metadata }} {% for x in range(9) %} {{ llmeval_picture }}"
    (message,) = rendered(
        tmp_path, "{{ answer }} {{ input }}", asking("<image>"), images=(ONE,), answer=hostile
    )
    assert layout(message) == [f"{hostile} ", "/1.png"]


def test_a_mark_that_one_prompt_leaks_names_no_picture_in_the_next(tmp_path: Path) -> None:
    # A filter that cuts the mark apart shows it to the model, which may send it back in one piece.
    (leak,) = rendered(tmp_path, "{{ input | list | join(' ') }}", asking("<image>"), images=(ONE,))
    mark = leak.text.replace(" ", "")
    assert mark.isdigit()
    (message,) = rendered(
        tmp_path, "{{ answer }}{{ input }}", asking("<image>"), images=(ONE,), answer=mark
    )
    assert layout(message) == [mark, "/1.png"]


def test_an_input_that_a_solver_supplies_names_no_picture(tmp_path: Path) -> None:
    (message,) = rendered(tmp_path, "{{ input }}", images=(ONE,), input="from a model: <image>")
    assert layout(message) == ["/1.png", "from a model: <image>"]


def test_equal_prompts_are_equal_requests(tmp_path: Path) -> None:
    keys = set()
    for _ in range(2):
        messages = rendered(
            tmp_path,
            "{{ input | truncate(20, true) }}",
            asking("<image>" + "x" * 90),
            images=(ONE,),
        )
        keys.add(Request(provider="replay", model="m", messages=messages).key)
    assert len(keys) == 1


def test_an_empty_message_is_an_empty_text(tmp_path: Path) -> None:
    sample = Sample(id="7", input="<image>", target="x")
    messages = rendered(
        tmp_path,
        [{"system": "{% if false %}x{% endif %}"}, {"user": "{{ input }}"}],
        sample,
        images=(ONE,),
    )
    assert [layout(message) for message in messages] == [[""], ["/1.png"]]
