"""Few-shot examples: which are chosen, how prompts show them, and what is told at collection."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Image, Sample
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.fewshot import Examples, FewShot
from pytest_llmeval.task.permutation import permuted
from pytest_llmeval.task.prompt_check import check_prompts
from pytest_llmeval.task.rendering import render

ROWS = [{"id": f"t{n}", "q": f"{n} + {n}?", "a": str(2 * n), "way": f"{n}!"} for n in range(6)]
FIELDS = {"input": "q", "target": "a", "metadata": {"way": "way?"}}


def written(
    folder: Path,
    prompt: Any = "{{ examples }}\n\nQuestion: {{ input }}",
    *,
    train: Sequence[Mapping[str, Any]] = ROWS,
    asked: Sequence[Mapping[str, Any]] = ({"id": "s", "q": "9 + 9?", "a": "18"},),
    **fewshot: Any,
) -> Path:
    """Write a task with its two datasets, and return its file."""
    for name, rows in (("train", train), ("test", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = {
        "name": "sums",
        "dataset": {"path": "test.jsonl", "fields": FIELDS},
        "prompt": prompt,
        "fewshot": {"path": "train.jsonl", "count": 2, **fewshot},
    }
    (folder / "task.yaml").write_text(yaml.safe_dump(data))
    return folder / "task.yaml"


def prompt_of(task: Task, sample: Sample) -> str:
    return render(task, "generate", sample, (), {})[0].text


@given(count=st.integers(0, 50), key=st.text(max_size=5))
def test_a_permutation_has_every_number_once_and_follows_from_its_key(count: int, key: str) -> None:
    order = list(permuted(count, key))
    assert sorted(order) == list(range(count))
    assert order == list(permuted(count, key))


def test_permutations_are_the_same_everywhere_and_even() -> None:
    # Another order would change the prompts of stored runs.
    assert list(permuted(10, "1")) == [6, 1, 2, 8, 0, 5, 9, 3, 4, 7]
    firsts = Counter(next(permuted(4, str(key))) for key in range(4000))
    assert all(880 < found < 1120 for found in firsts.values())


SPLITS = st.lists(st.integers(0, 8), min_size=1, max_size=12)


@given(
    numbers=SPLITS,
    own=st.integers(0, 8),
    count=st.integers(1, 12),
    seed=st.none() | st.integers(0, 5),
    each=st.booleans(),
)
def test_a_sample_is_never_its_own_example(
    numbers: list[int], own: int, *, count: int, seed: int | None, each: bool
) -> None:
    split = [
        Sample(id=str(place), input=f"{number}?", target="x")
        for place, number in enumerate(numbers)
    ]
    chosen = FewShot.model_construct(path=Path(), count=count, seed=seed, each=each)
    asked = Sample(id="1", input=f"{own}?", target="x")
    found = Examples(split=split, chosen=chosen, digest="").of(asked)
    others = [one for one in split if one.id != "1" and one.input != asked.input]
    assert len(found) == min(count, len(others))
    assert all(one in others for one in found)
    assert len({one.id for one in found}) == len(found)


def test_all_samples_get_the_same_examples_unless_each_is_to_have_its_own(tmp_path: Path) -> None:
    asked = [{"id": f"s{n}", "q": f"{n} * 3?", "a": str(3 * n)} for n in range(9)]
    for each, different in ((False, 1), (True, 5)):
        loaded = Catalog(folder=tmp_path).load(written(tmp_path, asked=asked, seed=3, each=each))
        examples = loaded.task.examples
        assert examples is not None
        met = {tuple(one.id for one in examples.of(sample)) for sample in loaded.samples}
        assert len(met) >= different
        assert each or len(met) == 1


def test_the_seed_chooses_and_none_takes_the_first_rows(tmp_path: Path) -> None:
    def chosen(**fewshot: Any) -> tuple[str, ...]:
        loaded = Catalog(folder=tmp_path).load(written(tmp_path, **fewshot))
        assert loaded.task.examples is not None
        return tuple(one.id for one in loaded.task.examples.of(loaded.samples[0]))

    assert chosen() == ("t0", "t1")
    assert len({chosen(seed=seed) for seed in range(10)}) > 4
    assert chosen(seed=1, count=5)[:2] == chosen(seed=1)


def test_examples_are_shown_as_text_or_one_by_one(tmp_path: Path) -> None:
    sample = Sample(id="s", input="9 + 9?", target="18")
    shown = prompt_of(load_task(written(tmp_path)), sample)
    assert shown == (
        "Question: 0 + 0?\nAnswer: 0\n\nQuestion: 1 + 1?\nAnswer: 2\n\nQuestion: 9 + 9?"
    )
    one = "{{ one.input }} {{ one.metadata.way }} {{ one.target }};"
    loop = f"{{% for one in examples %}}{one}{{% endfor %}}"
    assert prompt_of(load_task(written(tmp_path, loop)), sample) == "0 + 0? 0! 0;1 + 1? 1! 2;"
    both = "{{- examples -}}{{ examples | length }}{{ examples[0].id }}"
    assert prompt_of(load_task(written(tmp_path, both)), sample).endswith("Answer: 22t0")


def test_the_first_of_several_targets_and_json_are_shown(tmp_path: Path) -> None:
    train = [{"id": 1, "q": "a", "a": ["x", "y"]}, {"id": 2, "q": "b", "a": {"k": 1}}]
    shown = prompt_of(
        load_task(written(tmp_path, train=train)), Sample(id="s", input="", target="")
    )
    assert shown.startswith('Question: a\nAnswer: x\n\nQuestion: b\nAnswer: {"k": 1}')


def test_rows_know_the_examples_and_tasks_without_them_keep_their_digests(tmp_path: Path) -> None:
    def versions(**fewshot: Any) -> Mapping[str, Any]:
        return Catalog(folder=tmp_path).load(written(tmp_path, **fewshot)).versions

    first = versions(seed=1)
    assert versions(seed=1) == first
    assert versions(seed=2)["settings"] != first["settings"]
    assert versions(seed=1, train=ROWS[1:])["examples"] != first["examples"]
    plain = written(tmp_path)
    plain.write_text(plain.read_text().replace("fewshot", "generate"))
    assert "examples" not in Catalog(folder=tmp_path).load(plain).versions


@pytest.mark.parametrize(
    ("fewshot", "says"),
    [
        ({"count": 7}, "fewshot.count: is 7, and train.jsonl has 6 examples"),
        ({"count": 6, "asked": [ROWS[0]]}, "sample 't0' has 5 examples besides itself"),
        ({"path": "trian.jsonl"}, "there is no such file"),
        ({"path": "train.txt"}, "whose format is unknown"),
        ({"prompt": "{{ input }}"}, "chooses examples that no prompt shows; write {{ examples }}"),
        ({"count": 0}, "fewshot.count: is 0; without examples there is no such section: fewshot: "),
        ({"train": [{"q": "a", "a": "b"}] * 2}, "dataset.fields.id: null numbers the rows"),
        ({"sead": 1}, "did you mean 'seed'?"),
        ({"train": [{"id": 1, "q": "a"}, {"id": 2, "q": "b"}]}, "there is no column 'a'"),
    ],
)
def test_a_mistake_is_told_at_collection(
    fewshot: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(TaskError) as caught:
        Catalog(folder=tmp_path).load(written(tmp_path, **fewshot))
    assert says in str(caught.value)


def test_a_prompt_that_wants_examples_is_told_how_to_choose_some(tmp_path: Path) -> None:
    file = written(tmp_path)
    data = yaml.safe_load(file.read_text())
    del data["fewshot"]
    file.write_text(yaml.safe_dump(data))
    with pytest.raises(
        TaskError, match=r"'examples' is undefined; the task file declares them: fewshot: \{path"
    ):
        prompt_of(load_task(file), Sample(id="s", input="", target=""))


def as_turns(folder: Path, prompt: Any = "Question: {{ input }}", **fewshot: Any) -> Path:
    return written(folder, prompt, form="turns", **fewshot)


def messages_of(task: Task, sample: Sample) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in render(task, "generate", sample, (), {})]


@pytest.mark.parametrize("each", [False, True])
def test_examples_as_turns_stand_before_the_question_in_its_own_template(
    tmp_path: Path, *, each: bool
) -> None:
    prompt = [{"system": "Sum up."}, {"user": "Hello."}, {"assistant": "Hello!"}]
    question = {"user": "{{ input | upper }} {% if metadata.way %}({{ metadata.way }}){% endif %}"}
    asked = [{"id": "s", "q": "9 + 9?", "a": "18", "way": ""}]
    file = as_turns(tmp_path, [*prompt, question], asked=asked, seed=3, count=3, each=each)
    task = load_task(file)
    (sample,) = Catalog(folder=tmp_path).load(file).samples
    assert task.examples is not None
    chosen = task.examples.of(sample)
    pairs = [
        one
        for example in chosen
        for one in (
            ("user", f"{example.input.upper()} ({example.metadata['way']})"),
            ("assistant", example.target),
        )
    ]
    assert len(pairs) == 6
    assert messages_of(task, sample) == [
        *[("system", "Sum up."), ("user", "Hello."), ("assistant", "Hello!")],
        *pairs,
        ("user", "9 + 9? "),
    ]


def test_the_reply_of_an_example_has_a_template_of_its_own(tmp_path: Path) -> None:
    reply = "{{ metadata.way }}\n#### {{ target }}"
    task = load_task(as_turns(tmp_path, count=1, reply=reply))
    sample = Sample(id="s", input="9 + 9?", target="18")
    assert messages_of(task, sample)[1] == ("assistant", "0!\n#### 0")


def test_pictures_go_with_the_question_and_not_with_examples(tmp_path: Path) -> None:
    task = load_task(as_turns(tmp_path, "<image> {{ input }}", count=1))
    image = Image(digest="d", media_type="image/png", path="")
    sample = Sample(id="s", input="9 + 9?", target="18", images=("x.png",))
    asked, _, question = render(task, "generate", sample, (image,), {})
    assert (asked.text, asked.images) == ("<image> 0 + 0?", ())
    assert question.images == (image,)


@pytest.mark.parametrize(
    ("prompt", "fewshot", "problem"),
    [
        ("{{ examples }} {{ input }}", {}, "fewshot.form: is turns, and the prompt shows"),
        ([{"system": "{{ input }}"}], {}, "fewshot.form: is turns, and the prompt has no stage"),
        ("{{ input }}", {"reply": "{% for %}"}, "fewshot.reply: is not valid jinja2"),
        ("{{ examples }}", {"form": "text", "reply": "x"}, "fewshot.reply: .* add form: turns"),
        ("{{ input }}", {"form": "chat"}, "fewshot.form: is 'chat'; allowed: text or turns"),
    ],
)
def test_what_turns_lack_is_told_when_the_task_is_loaded(
    tmp_path: Path, prompt: Any, fewshot: dict[str, Any], problem: str
) -> None:
    with pytest.raises(TaskError, match=problem):
        load_task(written(tmp_path, prompt, **{"form": "turns", **fewshot}))


@pytest.mark.parametrize(
    ("prompt", "reply", "problem"),
    [
        ("{{ metadata.way }}", "x", "metadata has no 'way'"),
        ("{{ input }}", "{{ metadata.way }}", "fewshot.reply: metadata has no 'way'"),
    ],
)
def test_an_example_that_makes_no_message_is_told_before_anything_is_asked(
    tmp_path: Path, prompt: str, reply: str, problem: str
) -> None:
    train = [ROWS[0], {"id": "lean", "q": "1 + 1?", "a": "2"}]
    asked = [{"id": "s", "q": "9 + 9?", "a": "18", "way": "9!"}]
    file = as_turns(tmp_path, prompt, train=train, asked=asked, reply=reply)
    task, samples = load_task(file), Catalog(folder=tmp_path).load(file).samples
    with pytest.raises(TaskError, match=rf"{problem}.*few-shot example 'lean'"):
        check_prompts(task, {"generate": {}}, samples)


def test_a_task_without_turns_has_the_digest_that_it_had(tmp_path: Path) -> None:
    # That of the version before there were turns: stored runs stay comparable.
    task = load_task(written(tmp_path, seed=1))
    assert (
        task.settings_digest == "3b86d8bdf2136ded6caf35892314b960ed224f5868bdfdaab3d07e3f41a38dd3"
    )
    turned = load_task(as_turns(tmp_path, seed=1))
    assert turned.settings_digest != task.settings_digest
