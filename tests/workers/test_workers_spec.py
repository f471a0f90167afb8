"""The value of --llmeval-workers is read as meant, or refused in one line that says the fix."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.workers.spec import MOST, WorkersSpec, parse_workers

HERE = Path(__file__).parent


def parsed(text: str) -> WorkersSpec:
    found = parse_workers(text, folder=HERE)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("ray:32", WorkersSpec(count=32, wait=60, silence=30)),
        (
            "ray:4,address=10.0.0.1:6379,wait=300,silence=5",
            WorkersSpec(count=4, address="10.0.0.1:6379", wait=300, silence=5),
        ),
        (
            "ray:2,working_dir=.",
            WorkersSpec(count=2, working_dir=str(HERE), wait=60, silence=30),
        ),
        (
            "sh -c 'exec python \"$@\"' sh",
            WorkersSpec(
                count=1, command=("sh", "-c", 'exec python "$@"', "sh"), wait=60, silence=30
            ),
        ),
        ("8*sh run", WorkersSpec(count=8, command=("sh", "run"), wait=60, silence=30)),
        (" 8 * sh run", WorkersSpec(count=8, command=("sh", "run"), wait=60, silence=30)),
        (
            "2,wait=600,silence=9*sh run",
            WorkersSpec(count=2, command=("sh", "run"), wait=600, silence=9),
        ),
        (
            "2,folder=/project*sh run",
            WorkersSpec(count=2, command=("sh", "run"), folder="/project", wait=60, silence=30),
        ),
        (
            "sh -c 'echo *'",
            WorkersSpec(count=1, command=("sh", "-c", "echo *"), wait=60, silence=30),
        ),
    ],
)
def test_each_form_is_read(text: str, spec: WorkersSpec) -> None:
    assert parsed(text) == spec


def test_none_switches_workers_off() -> None:
    assert parse_workers("none", folder=HERE) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ray", "'' is no number of workers"),
        ("ray:", "'' is no number of workers"),
        ("ray:0", "'0' is no number of workers"),
        ("ray:-1", "'-1' is no number"),
        ("ray:two", "'two' is no number"),
        ("ray:1.5", "'1.5' is no number"),
        ("ray:²", "'²' is no number"),
        (f"ray:{MOST + 1}", f"expected 1 to {MOST}"),
        ("ray:" + "9" * 5000, f"expected 1 to {MOST}"),
        ("0*sh run", "'0' is no number of workers"),
        ("many*sh run", "'many' is no number"),
        ("*sh run", "'' is no number"),
        ("ray:2,adress=a:1", "'adress=a:1' is no option here; known, each once: address=.."),
        ("ray:2,wait=1,wait=2", "'wait=2' is no option here"),
        ("ray:2,wait=", "'wait=' is no option here"),
        ("ray:2,wait=soon", "wait=soon is no number of seconds; expected 1 or more"),
        ("ray:2,silence=0", "silence=0 is no number"),
        ("ray:2,silence=nan", "silence=nan is no number"),
        ("ray:2,wait=inf", "wait=inf is no number"),
        ("ray:2,folder=/there", "'folder=/there' is no option here"),
        ("2,address=a:1*sh run", "'address=a:1' is no option here"),
        ("ray:2,working_dir=nowhere", "working_dir=nowhere is no folder"),
        ("2*sh -c 'exec", "the command cannot be read (No closing quotation)"),
        ("", "the command is missing"),
        ("2* ", "the command is missing"),
        ("no-such-command-here python", "there is no command 'no-such-command-here'"),
    ],
)
def test_what_is_no_form_is_refused_with_its_value_and_the_fix(text: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_workers(text, folder=HERE)
    assert str(refused.value).startswith(("--llmeval-workers '", '--llmeval-workers "'))
    assert says in str(refused.value)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse_workers(text, folder=HERE)
    except UsageError:
        return
    assert found is None or 1 <= found.count <= MOST


@given(
    st.integers(1, MOST),
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20), max_size=5
    ),
)
def test_the_words_of_a_command_stay_as_they_are(count: int, words: list[str]) -> None:
    command = (sys.executable, *words)
    assert parsed(f"{count}*{shlex.join(command)}") == WorkersSpec(
        count=count, command=command, wait=60, silence=30
    )
