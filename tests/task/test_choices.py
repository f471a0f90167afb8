"""Multiple choice: the order of the choices, the letter of the right one, and what is told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest
import yaml
from example_rows import row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Row, Sample
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.pipelines import pipelines
from pytest_llmeval.results.task_info import TaskInfo
from pytest_llmeval.task import load_task
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.choices import Choices, ShownChoices
from pytest_llmeval.task.question import question_digest
from pytest_llmeval.task.rendering import render

CITIES = ["Rome", "Paris", "Oslo", "Cairo"]


def loaded(folder: Path, answer: Any = "B", options: Any = CITIES, **keys: Any) -> Any:
    """Return a task over twenty rows with the same choices, loaded."""
    rows = ({"id": n, "input": f"{n}?", "target": answer, "options": options} for n in range(20))
    (folder / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    data = {
        "name": "quiz",
        "dataset": {"path": "rows.jsonl"},
        "prompt": "{{ input }}\n{{ choices }}",
        "scorer": "choice",
        "choices": {"column": "options"},
        **keys,
    }
    (folder / "task.yaml").write_text(yaml.safe_dump(data))
    return Catalog(folder=folder).load(folder / "task.yaml")


@given(
    texts=st.lists(st.text(max_size=3), min_size=2, max_size=26),
    right=st.integers(0, 25),
    seed=st.none() | st.integers(0, 9),
    sample=st.text(max_size=3),
)
def test_the_letter_shown_is_that_of_the_right_choice(
    texts: list[str], right: int, seed: int | None, sample: str
) -> None:
    right %= len(texts)
    shown = {
        ShownChoices.of(
            sample,
            texts,
            name,
            Choices.model_validate({"column": "o", "target": naming, "seed": seed}),
        )
        for naming, name in (("letter", ascii_uppercase[right]), ("index", str(right)))
    }
    (found,) = shown
    assert found.order[ascii_uppercase.index(found.right)] == ascii_uppercase[right]
    assert [texts[ascii_uppercase.index(letter)] for letter in found.order] == list(found.texts)
    assert sorted(found.order) == list(ascii_uppercase[: len(texts)])
    assert seed is not None or found.texts == tuple(texts)


def test_right_choices_stand_under_every_letter_equally_often() -> None:
    chosen = Choices(column="o", seed=1)
    rights = Counter(ShownChoices.of(str(n), CITIES, "B", chosen).right for n in range(4000))
    assert all(880 < rights[letter] < 1120 for letter in "ABCD")
    # Fixed: another order would not be that of stored runs.
    assert ShownChoices.of("1", CITIES, "B", chosen).order == "BDAC"


def test_prompts_show_the_choices_and_the_target_follows(tmp_path: Path) -> None:
    found = loaded(tmp_path, choices={"column": "options", "seed": 1})
    for sample in found.samples:
        (message,) = render(found.task, "generate", sample, (), {})
        assert f"\n{sample.target}. Paris" in message.text
        assert message.text.count("\n") == 4
    assert len({sample.order for sample in found.samples}) > 5
    prompt = "{% for one in choices %}({{ one.letter }}) {{ one.text }} {% endfor %}"
    plain = loaded(tmp_path, prompt=prompt)
    (message,) = render(plain.task, "generate", plain.samples[0], (), {})
    assert message.text == "(A) Rome (B) Paris (C) Oslo (D) Cairo "


def test_examples_show_their_choices(tmp_path: Path) -> None:
    prompt = "{{ examples }}\n{{ input }}\n{{ choices }}"
    found = loaded(tmp_path, prompt=prompt, fewshot={"path": "rows.jsonl", "count": 1})
    (message,) = render(found.task, "generate", found.samples[3], (), {})
    shown = "A. Rome\nB. Paris\nC. Oslo\nD. Cairo"
    assert message.text == f"Question: 0?\n{shown}\nAnswer: B\n3?\n{shown}"


@pytest.mark.parametrize(("naming", "answer"), [("letter", "(b)"), ("index", 1), ("text", "Paris")])
def test_a_dataset_names_the_right_choice_in_three_ways(
    naming: str, answer: Any, tmp_path: Path
) -> None:
    found = loaded(tmp_path, answer, choices={"column": "options", "target": naming})
    assert found.samples[0].target == "B"


@pytest.mark.parametrize(
    ("answer", "naming", "options", "says"),
    [
        ("E", "letter", CITIES, "the target 'E' is not a letter from A to D; is it an index"),
        (4, "index", CITIES, "the target '4' is not an index from 0 to 3"),
        ("Bonn", "text", CITIES, "the target 'Bonn' is no choice"),
        ("a", "text", ["a", "a"], "the target 'a' is several choices"),
        ("A", "letter", ["a"], "there are 1 choices; a sample has from 2 to 26"),
        ("A", "letter", "a, b", "options: row 1: is 'a, b', not a list of texts"),
        ("A", "letter", ["a", None], "options[1]: row 1: the list holds empty"),
    ],
)
def test_wrong_choices_are_told_with_their_row(
    answer: Any, naming: str, options: Any, says: str, tmp_path: Path
) -> None:
    with pytest.raises(TaskError) as caught:
        loaded(tmp_path, answer, options, choices={"column": "options", "target": naming})
    assert says in str(caught.value)


def test_choices_that_no_prompt_shows_are_told_and_so_are_those_not_declared(
    tmp_path: Path,
) -> None:
    with pytest.raises(TaskError, match=r"choices: are read for no prompt; write \{\{ choices"):
        loaded(tmp_path, prompt="{{ input }}")
    undeclared = loaded(tmp_path, choices=None)
    with pytest.raises(TaskError, match="'choices' is undefined; the task file declares them: cho"):
        render(undeclared.task, "generate", undeclared.samples[0], (), {})


def answered(task: str, found: Any, wrong: str) -> list[Row]:
    """Return rows of the task's samples, of which the one called `wrong` is incorrect."""
    return [
        row(
            one.id,
            "incorrect" if one.id == wrong else "correct",
            task=task,
            target=one.target,
            order=one.order,
            question=question_digest(one),
        )
        for one in found.samples
    ]


def test_samples_are_compared_whatever_the_order_of_their_choices(tmp_path: Path) -> None:
    orders = [loaded(tmp_path, choices={"column": "options", "seed": seed}) for seed in (1, 2)]
    before, after = (
        answered("quiz", found, wrong) for found, wrong in zip(orders, "01", strict=True)
    )
    assert {one.target for one in before} == set("ABCD")
    (pair,) = compare(before, after).pairs
    assert (pair.n, pair.retargeted, pair.gained, pair.lost) == (20, 0, ("0",), ("1",))
    variants = [*answered("quiz[a]", orders[0], "0"), *answered("quiz[b]", orders[1], "1")]
    tasks = {name: TaskInfo(title=name) for name in ("quiz[a]", "quiz[b]")}
    (found,) = pipelines({"": variants}, tasks)
    assert len(found.samples) == 20
    other = answered("quiz", loaded(tmp_path, "C", choices={"column": "options", "seed": 1}), "0")
    assert compare(before, other).pairs[0].retargeted == 20


def test_the_order_is_no_part_of_the_question_but_the_choices_are() -> None:
    def digest(order: str, choices: tuple[str, ...]) -> str:
        return question_digest(Sample(id="1", input="?", target="A", order=order, choices=choices))

    assert digest("BA", ("y", "x")) == digest("AB", ("x", "y"))
    assert len({digest("AB", ("x", "y")), digest("AB", ("y", "x")), digest("", ())}) == 3


def test_settings_know_the_order(tmp_path: Path) -> None:
    digests = {
        loaded(tmp_path, choices={"column": "options", "seed": seed}).task.settings_digest
        for seed in (None, 1, 2)
    }
    assert len(digests) == 3
    assert load_task(tmp_path / "task.yaml").choices is not None


@pytest.mark.parametrize("shown", ["one.choices", "one['choices']", "examples[0].choices"])
def test_an_example_shows_its_choices_as_the_question_does_in_a_form_of_ones_own(
    shown: str, tmp_path: Path
) -> None:
    prompt = f"{{% for one in examples %}}{{{{ {shown} }}}}{{% endfor %}}\n-\n{{{{ choices }}}}"
    found = loaded(tmp_path, prompt=prompt, fewshot={"path": "rows.jsonl", "count": 1})
    (message,) = render(found.task, "generate", found.samples[3], (), {})
    of_example, own = message.text.split("\n-\n")
    assert of_example == own == "A. Rome\nB. Paris\nC. Oslo\nD. Cairo"


def test_a_column_of_choices_that_no_row_has_is_told_at_its_key(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"choices\.column: names the column 'optoins'") as caught:
        loaded(tmp_path, choices={"column": "optoins"})
    assert "group_by" not in str(caught.value)
