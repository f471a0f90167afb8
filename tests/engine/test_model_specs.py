"""What may stand after --llmeval-model."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a recording and a model of one's own."""
    (tmp_path / "replies.jsonl").touch()
    (tmp_path / "model.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("openai/gpt-5.1", "openai", "gpt-5.1"),
        ("openai/meta-llama/Llama-3.3-70B", "openai", "meta-llama/Llama-3.3-70B"),
        ("azure/my-deployment", "azure", "my-deployment"),
        ("python/./model.py:reply", "python", "./model.py:reply"),
    ],
)
def test_a_spec_is_kind_and_name(folder: Path, text: str, kind: str, name: str) -> None:
    spec = parse_spec(text, folder=folder)
    assert (spec.kind, spec.name, spec.label, spec.text) == (kind, name, text, text)
    assert not spec.recorded


def test_a_recording_is_found_from_the_folder_and_called_as_typed(folder: Path) -> None:
    spec = parse_spec("replay/replies.jsonl", folder=folder)
    assert spec.name == str((folder / "replies.jsonl").resolve())
    assert spec.label == "replay/replies.jsonl"
    assert spec.recorded


def test_a_model_of_ones_own_has_the_same_name_on_every_machine(folder: Path) -> None:
    assert str(folder) not in parse_spec("python/./model.py:reply", folder=folder).name


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "unknown model spec ''; expected one of openai/NAME"),
        ("gpt-5.1", "unknown model spec 'gpt-5.1'"),
        ("openai/", "unknown model spec 'openai/'"),
        ("anthropic/claude", "unknown model spec 'anthropic/claude'"),
        ("OpenAI/gpt", "unknown model spec 'OpenAI/gpt'"),
        ("replay/nowhere.jsonl", "model spec 'replay/nowhere.jsonl': no file at .*nowhere"),
        ("replay/.", "model spec 'replay/.': no file at"),
        ("python/./model.py", "names no callable; expected python/./file.py:callable"),
        ("python/./model.py:", "names no callable"),
        ("python/./model.py:not a name", "names no callable"),
        ("python/./nowhere.py:reply", r"no file at .*nowhere\.py"),
        ("python/:reply", "no file at"),
    ],
)
def test_anything_else_is_refused_with_its_text_and_the_forms(folder: Path, text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_spec(text, folder=folder)
