"""What a sample's metadata says about programs: the tests, in one of three forms."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_llmeval.records import Json, Sample
from pytest_llmeval.scoring.code.units import CHECK, is_check

_INPUTS: Final = ("input", "inputs")
_OUTPUTS: Final = ("output", "outputs")
_FORMS: Final = (
    "a text of Python, a list of such texts, or a list of cases {input: ..., output: ...}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Where in a sample's metadata its parts stand; None for a part that there is not.

    Attributes:
        tests: the tests or cases.
        entry: the expression that ``check`` is given.
        head: code that stands before every program.
        setup: code that stands before the tests.
    """

    tests: str
    entry: str | None = None
    head: str | None = None
    setup: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTests:
    """Tests that call what the program defines.

    Attributes:
        texts: Python with ``assert``, or with a function ``check(candidate)``.
        entry: the expression for `candidate`, of names of the program; "" without ``check``.
        head: code that stands before the program, and whose names the tests know.
        setup: code that stands before the tests.
        solution: the sample's target, in which a built-in function may be defined anew; its name
            is the program's then.
    """

    texts: tuple[str, ...]
    entry: str
    head: str
    setup: str
    solution: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One input of a program, and what it must write."""

    input: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTests:
    """Cases, for programs that read and write text."""

    cases: tuple[Case, ...]
    head: str


SampleTests: TypeAlias = FunctionTests | CaseTests


def tests_of(sample: Sample, keys: Keys) -> SampleTests:
    """Return the tests in a sample's metadata.

    Raises:
        ValueError: there are none, they are in no known form, or they test nothing. Whether they
            are Python is left to `check_tests`, which takes longer.
    """
    head = _code(sample, keys.head, "head")
    match _value(sample, keys.tests, "tests"):
        case str(text):
            return _functions(sample, keys, (text,), head)
        case [str(), *_] as texts if all(isinstance(one, str) for one in texts):
            return _functions(sample, keys, tuple(map(str, texts)), head)
        case list() | dict() as found if cases := _cases(found):
            return CaseTests(cases=cases, head=head)
        case _:
            msg = f"metadata {keys.tests!r} holds no tests; expected {_FORMS}"
            raise ValueError(msg)


def _functions(sample: Sample, keys: Keys, texts: tuple[str, ...], head: str) -> FunctionTests:
    entry = "" if keys.entry is None else _text(sample, keys.entry, "entry").strip()
    setup = _code(sample, keys.setup, "setup")
    return FunctionTests(
        texts=texts, entry=entry, head=head, setup=setup, solution=sample.target_text
    )


def check_tests(tests: SampleTests) -> None:
    """Raise ValueError for tests that are no Python, or lack ``check`` or what it is given."""
    if isinstance(tests, CaseTests):
        return
    _parsed(tests.setup, "setup")
    _parsed(f"({tests.entry or None})", "entry")
    bodies = [_parsed(text, "tests").body for text in tests.texts]
    checks = any(is_check(one) for body in bodies for one in body)
    if checks != bool(tests.entry):
        msg = (
            f"the tests define {CHECK}(candidate), and `entry` names no metadata for the candidate"
            if checks
            else f"`entry` names a candidate, and the tests define no function {CHECK}(candidate)"
        )
        raise ValueError(msg)


def _parsed(text: str, part: str) -> ast.Module:
    try:
        with warnings.catch_warnings():  # of odd escapes, which are the dataset's
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        msg = f"the {part}: no Python: {error}"
        raise ValueError(msg) from None


def _cases(found: list[Json] | dict[str, Json]) -> tuple[Case, ...]:
    """Return cases, given one by one or as two lists; () if they are no cases."""
    if isinstance(found, list):
        pairs = [(_of(one, _INPUTS), _of(one, _OUTPUTS)) for one in found]
    else:
        inputs, outputs = _of(found, _INPUTS), _of(found, _OUTPUTS)
        both = isinstance(inputs, list) and isinstance(outputs, list)
        if not both or len(inputs) != len(outputs):  # type: ignore[arg-type]  # both are lists
            return ()
        pairs = list(zip(inputs, outputs, strict=True))  # type: ignore[arg-type]  # as above
    cases = []
    for given, wanted in pairs:
        if not isinstance(given, str) or not isinstance(wanted, str):
            return ()
        if not wanted.strip():
            msg = "a case expects no output: every program that writes nothing would pass it"
            raise ValueError(msg)
        cases.append(Case(input=given, output=wanted))
    return tuple(cases)


def _of(case: Json, names: tuple[str, ...]) -> Json:
    if not isinstance(case, Mapping):
        return None
    return next((case[name] for name in names if name in case), None)


def _code(sample: Sample, key: str | None, option: str) -> str:
    """Return a part that a sample may lack: a text, or a list of texts as lines."""
    if key is None or key not in sample.metadata:
        return ""
    value = sample.metadata[key]
    lines = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in lines):
        msg = f"metadata {key!r}, the `{option}`, is {value!r}, not a text"
        raise ValueError(msg)
    return "\n".join(map(str, lines))


def _text(sample: Sample, key: str, option: str) -> str:
    value = _value(sample, key, option)
    if not isinstance(value, str) or not value.strip():
        msg = f"metadata {key!r}, the `{option}`, is {value!r}, not a text"
        raise ValueError(msg)
    return value


def _value(sample: Sample, key: str, option: str) -> Json:
    if key not in sample.metadata:
        known = ", ".join(sample.metadata) or "none"
        msg = (
            f"`{option}` names metadata {key!r}, which the sample lacks (it has: {known}); "
            f"add it to dataset.fields.metadata"
        )
        raise ValueError(msg)
    return sample.metadata[key]
