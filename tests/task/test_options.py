"""Options of scorers, solvers and other things, checked by the signature of what takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Json
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.declared import make_scorer
from pytest_llmeval.task.options import OptionError, build, checked
from pytest_llmeval.task.section import PlacedText
from pytest_llmeval.task.spec import Spec

HERE = Path("/task")


@dataclass(frozen=True, kw_only=True)
class Thing:
    """Takes one option of each kind."""

    needed: int
    text: str = ""
    number: float = 0.0
    flag: bool = False
    mode: Literal["fast", "slow"] = "fast"
    names: tuple[str, ...] = ()
    pair: tuple[int, float] = (0, 0.0)
    table: dict[str, int] | None = None
    file: Path | None = None
    own: Annotated[Path, "with a note"] = Path()
    few: Annotated[int, Field(le=9)] = 0

    def __post_init__(self) -> None:
        """Refuse a negative number."""
        if self.needed < 0:
            msg = f"needed is {self.needed}; it must not be negative"
            raise ValueError(msg)


def function(  # noqa: PLR0913 - one of each kind
    *,
    needed: int,
    text: str = "",
    number: float = 0.0,
    flag: bool = False,
    mode: Literal["fast", "slow"] = "fast",
    names: tuple[str, ...] = (),
    pair: tuple[int, float] = (0, 0.0),
    table: dict[str, int] | None = None,
    file: Path | None = None,
    own: Annotated[Path, "with a note"] = Path(),
    few: Annotated[int, Field(le=9)] = 0,
) -> Thing:
    """Make the same thing."""
    return Thing(
        needed=needed,
        text=text,
        number=number,
        flag=flag,
        mode=mode,
        names=names,
        pair=pair,
        table=table,
        file=file,
        own=own,
        few=few,
    )


BOTH = pytest.mark.parametrize("make", [Thing, function], ids=["a class", "a function"])


@BOTH
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {}),
        ({"text": "x", "number": 0.5, "flag": True}, {"text": "x", "number": 0.5, "flag": True}),
        ({"number": 2}, {"number": 2.0}),
        ({"mode": "slow"}, {"mode": "slow"}),
        ({"names": ["a", "b"]}, {"names": ("a", "b")}),
        ({"names": []}, {"names": ()}),
        ({"pair": [1, 2]}, {"pair": (1, 2.0)}),
        ({"table": {"a": 1}}, {"table": {"a": 1}}),
        ({"table": None, "file": None}, {}),
        ({"file": "x/y.json", "own": "z"}, {"file": HERE / "x/y.json", "own": HERE / "z"}),
        ({"file": "/abs.json"}, {"file": Path("/abs.json")}),
        ({"few": 9}, {"few": 9}),
    ],
    ids=str,
)
def test_options_are_read_as_the_parameters_are_annotated(
    make: Callable[..., Thing], options: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert build(make, {"needed": 1, **options}, HERE) == Thing(needed=1, **expected)


@BOTH
@pytest.mark.parametrize(
    ("options", "option", "says"),
    [
        ({"needed": "1"}, "needed", "is '1': input should be a valid integer"),
        ({"needed": 1.0}, "needed", "is 1.0: input should be a valid integer"),
        ({"needed": True}, "needed", "is True: input should be a valid integer"),
        ({"needed": None}, "needed", "is None: input should be a valid integer"),
        ({"text": 5}, "text", "is 5: input should be a valid string"),
        ({"number": "0.5"}, "number", "is '0.5': input should be a valid number"),
        ({"flag": 1}, "flag", "is 1: input should be a valid boolean"),
        ({"flag": "yes"}, "flag", "is 'yes': input should be a valid boolean"),
        ({"mode": "fats"}, "mode", "is 'fats': input should be 'fast' or 'slow'"),
        ({"names": "a"}, "names", "is 'a': input should be a valid tuple"),
        ({"names": ["a", 1]}, "names", "input should be a valid string"),
        ({"pair": [1]}, "pair", "field required"),
        ({"table": {"a": "1"}}, "table", "input should be a valid integer"),
        ({"file": 5}, "file", "is 5: "),
        ({"few": 10}, "few", "is 10: input should be less than or equal to 9"),
    ],
    ids=str,
)
def test_a_value_of_another_type_is_refused_with_its_option(
    make: Callable[..., Thing], options: dict[str, Any], option: str, says: str
) -> None:
    with pytest.raises(OptionError) as refused:
        build(make, {"needed": 1, **options}, HERE)
    assert refused.value.place == (option,)
    assert says in str(refused.value)


@BOTH
def test_a_missing_option_is_named(make: Callable[..., Thing]) -> None:
    with pytest.raises(OptionError, match=r"^is missing$") as refused:
        build(make, {"text": "x"}, HERE)
    assert refused.value.place == ("needed",)


@BOTH
def test_an_unknown_option_is_refused_with_the_allowed_ones(make: Callable[..., Thing]) -> None:
    allowed = "needed, text, number, flag, mode, names, pair, table, file, own, few"
    with pytest.raises(OptionError) as refused:
        build(make, {"needed": 1, "nedeed": 1}, HERE)
    assert refused.value.place == ("nedeed",)
    assert str(refused.value) == f"is not an option here (allowed: {allowed})"


def test_what_has_no_options_says_so() -> None:
    with pytest.raises(OptionError, match=r"is not an option here \(it has none\)"):
        build(lambda: 5, {"a": 1}, HERE)


@BOTH
def test_what_the_thing_itself_refuses_is_told_in_its_words(make: Callable[..., Thing]) -> None:
    with pytest.raises(OptionError, match=r"^needed is -1; it must not be negative$") as refused:
        build(make, {"needed": -1}, HERE)
    assert refused.value.place == ()


def test_a_type_error_of_the_thing_is_one_of_its_options() -> None:
    def picky(*, size: Any = 1) -> Any:
        return 1 + size

    with pytest.raises(OptionError, match="unsupported operand"):
        build(picky, {"size": "x"}, HERE)


def test_parameters_without_an_annotation_take_anything() -> None:
    def free(*, a, b=2):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - what is tested
        return (a, b)

    assert build(free, {"a": [1, {"x": None}]}, HERE) == ([1, {"x": None}], 2)


def test_annotations_that_cannot_be_resolved_are_not_checked() -> None:
    def typed(*, a: Any = 1) -> Any:
        return a

    typed.__annotations__["a"] = "Unknown"
    assert build(typed, {"a": "x"}, HERE) == "x"


def test_a_function_with_keyword_parameters_of_any_name_gets_all_options() -> None:
    assert build(lambda **options: options, {"x": 1, "y": "z"}, HERE) == {"x": 1, "y": "z"}


def test_texts_of_an_override_reach_the_thing_as_plain_ones() -> None:
    typed = PlacedText.of("x", HERE)
    made = build(lambda **options: options, {"a": typed, "b": [typed, {"c": typed}]}, HERE)
    assert [type(text) for text in (made["a"], made["b"][0], made["b"][1]["c"])] == [str] * 3

    def free(a: Any = 1) -> Any:
        return a

    assert type(build(free, {"a": typed}, HERE)) is str


def test_the_parameters_that_are_no_options_are_left_out() -> None:
    def mine(answer: str, sample: object, *, strict: bool = False) -> Any:
        return answer, sample, strict

    skip = ("answer", "sample")
    assert checked(mine, {"strict": True}, HERE, skip=skip) == {"strict": True}
    with pytest.raises(OptionError, match=r"is not an option here \(allowed: strict\)"):
        checked(mine, {"answer": "x"}, HERE, skip=skip)


OWN = """
from dataclasses import dataclass
from pathlib import Path

@dataclass(frozen=True, kw_only=True)
class ByList:
    words: Path
    name: str = "by list"
    minimum: float = 0.5
    grader, scale = "by-list/1", 1.0

    def __post_init__(self):
        if not 0 <= self.minimum <= 1:
            raise ValueError(f"minimum is {self.minimum}; it must be from 0 to 1")

    def check(self, target): ...
    def score(self, answer, sample, prepared): ...
"""


def task_with(folder: Path, scorer: str, overrides: dict[str, str] | None = None) -> Task:
    """Return a task in `folder` whose scorer is its own; overrides are typed elsewhere."""
    (folder / "own.py").write_text(OWN)
    text = "name: demo\ndataset: {path: rows.csv}\nprompt: '{{ input }}'\n"
    (folder / "task.yaml").write_text(f"{text}scorer: {scorer}\n")
    return load_task(folder / "task.yaml", overrides, folder / "elsewhere")


def test_a_path_starts_from_the_tasks_folder_or_where_the_override_was_typed(
    tmp_path: Path,
) -> None:
    own = "{'./own.py:ByList': {words: words.txt}}"
    scorer: Any = task_with(tmp_path, own).scorers[0].scorer
    assert scorer.words == tmp_path / "words.txt"
    for path, expected in (("other.txt", "elsewhere/other.txt"), ("/abs.txt", "/abs.txt")):
        given = {"scorer": f"{{'./own.py:ByList': {{words: {path}}}}}"}
        scorer = task_with(tmp_path, own, given).scorers[0].scorer
        assert scorer.words == tmp_path / expected


def test_a_path_of_an_override_of_a_named_scorer_starts_where_it_was_typed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for folder in (tmp_path, tmp_path / "elsewhere"):
        (folder / "schema.json").write_text('{"type": "object"}')
    (tmp_path / "schema.json").write_text("no schema")
    given = {"scorer.json_schema.schema": "schema.json"}
    task = task_with(tmp_path, "json_schema", given)
    assert task.scorers[0].scorer.name == "json_schema"
    with pytest.raises(TaskError, match=r"task\.yaml:4: scorer\.json_schema"):
        task_with(tmp_path, "{json_schema: {schema: schema.json}}")


@pytest.mark.parametrize(
    ("options", "key", "says"),
    [
        ("{}", "scorer../own.py:ByList.words", "is missing"),
        (
            "{words: w, minimun: 1}",
            "scorer../own.py:ByList.minimun",
            "is not an option here (allowed: words, name, minimum)",
        ),
        (
            "{words: w, minimum: high}",
            "scorer../own.py:ByList.minimum",
            "is 'high': input should be a valid number",
        ),
        (
            "{words: w, minimum: 2}",
            "scorer../own.py:ByList",
            "minimum is 2.0; it must be from 0 to 1",
        ),
    ],
)
def test_options_of_ones_own_are_checked_like_those_of_a_built_in(
    options: str, key: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(TaskError) as refused:
        task_with(tmp_path, f"{{'./own.py:ByList': {options}}}")
    assert str(refused.value).startswith(f"{tmp_path / 'task.yaml'}:4: {key}: {says}")


def test_a_scorer_that_fails_otherwise_is_told_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("class Scorer:\n    def __init__(self): raise OSError('no')\n")
    with pytest.raises(Exception, match="Scorer cannot be made: OSError: no"):
        make_scorer(Spec(name="./own.py:Scorer"), tmp_path)


class Doubled:
    """Makes twice the number."""

    def make(self, value: Json, folder: Path) -> Any:
        if not isinstance(value, int):
            problem = "is no number"
            raise OptionError(problem, "inside")
        return (value * 2, folder)


def doubling(number: Annotated[tuple[int, Path], Doubled()]) -> tuple[int, Path]:
    return number


def test_an_annotation_may_make_the_value_and_tell_the_place_inside_it(tmp_path: Path) -> None:
    assert build(doubling, {"number": 4}, tmp_path) == (8, tmp_path)
    with pytest.raises(OptionError, match=r"^is no number$") as refused:
        build(doubling, {"number": "4"}, tmp_path)
    assert refused.value.place == ("number", "inside")
