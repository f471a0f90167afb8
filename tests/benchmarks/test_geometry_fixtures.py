"""Our geometry problems: answers, drawn figures and the other files agree with each other."""

from __future__ import annotations

import importlib
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from pytest_llmeval.domains.geometry3k.drawing import DrawingError, parse_drawing
from pytest_llmeval.files.images import check_picture, picture_size

FOLDER = Path(__file__).parents[2] / "fixtures" / "geometry3k"
PROBLEMS: list[dict[str, Any]] = json.loads((FOLDER / "problems.json").read_text("utf-8"))
VALIDATION: list[dict[str, Any]] = yaml.safe_load(
    (FOLDER / "judge_validation.yaml").read_text("utf-8")
)
SCRIPT: dict[int, dict[str, Any]] = yaml.safe_load((FOLDER / "script.yaml").read_text("utf-8"))
Named = dict[str, tuple[float, float]]


@pytest.fixture(scope="module")
def maker() -> Iterator[ModuleType]:
    """Return the script that makes the problems."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield importlib.import_module("make_diagrams")


def value(latex: str) -> float:
    """Return the number that one of our answers stands for."""
    text = re.sub(r"\\frac \{ (\d+) \} \{ (\d+) \}", r"(\1/\2)", latex)
    text = re.sub(r"\\sqrt \{ (\d+) \}", r"math.sqrt(\1)", text).replace("\\pi", "math.pi")
    python = re.sub(r"(?<=[\d)]) (?=[(m])", "*", text)
    return float(eval(python, {"math": math}))  # noqa: S307 - our own answers


def length(names: str) -> Callable[[Named], float]:
    """Measure the distance between two named points."""
    return lambda at: math.dist(at[names[0]], at[names[1]])


def angle(names: str) -> Callable[[Named], float]:
    """Measure the angle at the middle one of three named points, in degrees."""

    def measure(at: Named) -> float:
        (x, y), sides = at[names[1]], [at[names[0]], at[names[2]]]
        first, second = (math.atan2(to_y - y, to_x - x) for to_x, to_y in sides)
        return 180 - abs(180 - math.degrees(abs(first - second)))

    return measure


def area(names: str) -> Callable[[Named], float]:
    """Measure the area of the polygon through named points (the shoelace formula)."""

    def measure(at: Named) -> float:
        corners = [at[name] for name in names]
        pairs = zip(corners, [*corners[1:], corners[0]], strict=True)
        return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in pairs)) / 2

    return measure


# What the answer is in the figure, which most problems draw in the proportions that they tell.
MEASURED: dict[str, Callable[[Named], float]] = {
    "hypotenuse": length("AB"),
    "hypotenuse_radical": length("AB"),
    "missing_leg": length("AC"),
    "half_square": length("AB"),
    "half_equilateral": length("BC"),
    "sine": length("AC"),
    "altitude": length("CD"),
    "equilateral_area": area("ABC"),
    "angle_sum": angle("BAC"),
    "exterior_angle": angle("CBD"),
    "isosceles": angle("BAC"),
    "cosine_rule": length("AB"),
    "similar": lambda at: math.dist(at["D"], at["E"]) / math.dist(at["B"], at["C"]) * 13,
    "bisector": length("DC"),
    "chord_distance": length("OM"),
    "chord_length": length("AB"),
    "crossing_chords": lambda at: math.dist(at["C"], at["D"]) - 4,
    "tangent_length": length("PT"),
    "tangent_secant": length("PT"),
    "inscribed_angle": angle("ACB"),
    "semicircle": angle("ABC"),
    "cyclic_quadrilateral": angle("BCD"),
    "two_tangents": angle("APB"),
    "arc_length": lambda at: math.radians(angle("AOB")(at)) * math.dist(at["O"], at["A"]),
    "sector_area": lambda at: math.radians(angle("AOB")(at)) * math.dist(at["O"], at["A"]) ** 2 / 2,
    "parallelogram_area": area("ABCD"),
    "trapezoid_area": area("ABCD"),
    "midsegment": length("MN"),
    "rhombus_side": length("AB"),
}


def named_points(maker: ModuleType, name: str) -> Named:
    """Return the points that a problem's figure names, in the plane's coordinates."""
    at: Named = {}

    class Recording(maker.Figure):  # type: ignore[name-defined, misc] # loaded by path
        def name(
            self, point: tuple[float, float], label: str, *, away_from: tuple[float, float]
        ) -> None:
            at[label] = point
            super().name(point, label, away_from=away_from)

    getattr(maker, name)(Recording(), random.Random(f"{maker.SEED}/{name}"))
    return at


Point = tuple[float, float]
Line = tuple[Point, Point]


def with_true_lines(maker: ModuleType, name: str) -> Any:
    """Return a problem's figure, which keeps its `sides`, `circles`, and what was `added`."""

    class Recording(maker.Figure):  # type: ignore[name-defined, misc] # loaded by path
        def __init__(self) -> None:
            super().__init__()
            self.sides: list[Line] = []
            self.circles: list[tuple[Point, float]] = []
            self.added: list[Line] = []
            self.added_points: list[Point] = []

        def segment(self, start: Point, end: Point, *, dashed: bool = False) -> None:
            self.sides.append((start, end))
            super().segment(start, end, dashed=dashed)

        def circle(self, centre: Point, radius: float, **more: Any) -> None:
            self.circles.append((centre, radius))
            super().circle(centre, radius, **more)

        def add_point(self, point: Point, label: str) -> None:
            self.added_points.append(point)
            super().add_point(point, label)

        def add_line(self, start: Point, end: Point) -> None:
            self.added.append((start, end))
            super().add_line(start, end)

    figure = Recording()
    getattr(maker, name)(figure, random.Random(f"{maker.SEED}/{name}"))
    return figure


def belongs(point: Point, figure: Any) -> bool:
    """Return whether a point is an end or middle of a side, a centre, or on a circle."""
    ends = [end for side in figure.sides for end in side]
    halves = [((x + to_x) / 2, (y + to_y) / 2) for (x, y), (to_x, to_y) in figure.sides]
    centres = [centre for centre, _ in figure.circles]
    near = any(math.dist(point, one) < 1e-6 for one in [*ends, *halves, *centres])
    return near or any(abs(math.dist(point, one) - r) < 1e-6 for one, r in figure.circles)


def turn(one: Line, other: Line) -> float:
    """Return the angle between two lines in degrees."""
    first, second = (math.atan2(y2 - y1, x2 - x1) for (x1, y1), (x2, y2) in (one, other))
    return math.degrees(first - second)


@pytest.mark.parametrize("name", MEASURED)
def test_an_answer_agrees_with_what_is_measured_in_its_figure(name: str, maker: ModuleType) -> None:
    (problem,) = (problem for problem in PROBLEMS if problem["images"][0].endswith(f"_{name}.png"))
    measured = MEASURED[name](named_points(maker, name))
    rounding = 0.05 if "Round" in problem["problem"] else 1e-9 * measured
    assert value(problem["answer"]) == pytest.approx(measured, abs=rounding)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("ring", math.pi * (8**2 - 5**2)),
        ("circle_in_square", 10**2 - math.pi * 5**2),
        ("corresponding", (62 - 14) / 2),
        ("co_interior", (180 - 58) / 3),
        ("hexagon_area", 6 * math.sqrt(3) / 4 * 6**2),
    ],
)
def test_the_answers_that_no_named_points_show_are_as_worked_out_by_hand(
    name: str, answer: float
) -> None:
    (problem,) = (problem for problem in PROBLEMS if problem["images"][0].endswith(f"_{name}.png"))
    assert value(problem["answer"]) == pytest.approx(answer)


def test_the_script_makes_these_problems(maker: ModuleType) -> None:
    assert maker.problems(None) == PROBLEMS


def test_the_problems_have_the_hubs_shape_and_a_readable_diagram_each() -> None:
    assert len(PROBLEMS) == len({problem["id"] for problem in PROBLEMS}) >= 24
    for problem in PROBLEMS:
        (image,) = problem["images"]
        data = (FOLDER / image).read_bytes()
        check_picture(data)
        assert picture_size(data) == (420, 330)
        assert problem["problem"].startswith("<image>")
    assert len(list((FOLDER / "images").iterdir())) == len(PROBLEMS)


def test_many_answers_are_no_plain_numbers() -> None:
    answers = " ".join(problem["answer"] for problem in PROBLEMS)
    assert min(answers.count("\\sqrt"), answers.count("\\frac"), answers.count("\\pi")) >= 4


def test_the_script_has_a_part_for_every_problem_and_a_few_drawings_that_fail() -> None:
    assert list(SCRIPT) == [problem["id"] for problem in PROBLEMS]
    failed = 0
    for part in SCRIPT.values():
        try:
            parse_drawing(part["drawing"], width=420, height=330)
        except DrawingError:
            failed += 1
    assert failed == 3


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["images"][0][11:-4])
def test_a_problems_true_lines_can_be_drawn_and_add_new_names_only(
    problem: dict[str, Any], maker: ModuleType
) -> None:
    drawing = parse_drawing(json.dumps(problem["auxiliary"]), width=420, height=330)
    names = [name for name, _ in drawing.points]
    assert drawing.lines
    assert not set(names) & named_points(maker, problem["images"][0][11:-4]).keys()


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["images"][0][11:-4])
def test_each_true_line_is_square_or_parallel_to_a_side_or_joins_points_of_the_figure(
    problem: dict[str, Any], maker: ModuleType
) -> None:
    figure = with_true_lines(maker, problem["images"][0][11:-4])
    assert figure.added
    for line in figure.added:
        turns = [turn(line, side) for side in figure.sides]
        in_line = any(abs(math.remainder(one, 90)) < 1e-6 for one in turns)
        assert in_line or all(belongs(end, figure) for end in line)
    for point in figure.added_points:
        detours = (
            math.dist(start, point) + math.dist(point, end) - math.dist(start, end)
            for start, end in figure.added
        )
        assert min(detours) < 1e-6


def test_the_true_lines_are_drawn_where_the_figure_has_them() -> None:
    # The altitude of an equilateral triangle: from C to the middle of AB, in pixels.
    (problem,) = (one for one in PROBLEMS if one["images"][0].endswith("_equilateral_area.png"))
    assert problem["auxiliary"] == {
        "points": [{"label": "H", "at": [210.0, 284.0]}],
        "lines": [{"from": [210.0, 46.0], "to": [210.0, 284.0]}],
    }


def test_the_validation_set_is_large_hostile_and_balanced() -> None:
    kinds = [case["kind"] for case in VALIDATION]
    assert len(VALIDATION) == len({case["id"] for case in VALIDATION}) >= 120
    assert kinds.count("injection") >= 25
    assert set(kinds) >= {
        "rounding",
        "radicals",
        "fractions",
        "units",
        "latex",
        "wrong",
        "ambiguous",
        "missing",
        "master keys",
        "bullets",
        "hedging",
        "unit systems",
    }
    assert 0.4 < sum(case["correct"] for case in VALIDATION) / len(VALIDATION) < 0.6
    cases = {(case["question"], case["target"], case["answer"]) for case in VALIDATION}
    assert len(cases) == len(VALIDATION)


def test_nothing_is_taken_from_the_public_problems(shared: Path) -> None:
    public = {
        run
        for name in ("hiyouga_style_test_583.json", "hiyouga_style_train_first120.json")
        for row in json.loads((shared / "data/geometry3k" / name).read_text("utf-8"))
        for run in runs(row["problem"])
    }
    ours = {row["problem"] for row in PROBLEMS} | {case["question"] for case in VALIDATION}
    for text in ours:
        # "Find x. Round to the nearest tenth." is every textbook's.
        assert not public & runs(text.replace("Round to the nearest tenth.", "")), text


def runs(text: str) -> set[tuple[str, ...]]:
    """Return all eight words in a row of a text."""
    words = re.findall(r"[a-z]+|\d+", text.replace("<image>", "").lower())
    return {tuple(words[start : start + 8]) for start in range(len(words) - 7)}


def test_the_choices_are_those_that_the_script_makes() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        rows = importlib.import_module("make_choices").rows()
    assert json.loads((FOLDER / "choices.json").read_text("utf-8")) == rows
    answers = {problem["id"]: problem["answer"] for problem in PROBLEMS}
    for row in rows:
        assert len(set(row["choices"])) == 4
        assert row["choices"]["ABCD".index(row["answer"])] == answers[row["id"]]
