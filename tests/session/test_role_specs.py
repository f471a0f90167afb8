"""Values of --llmeval-model: what is a role before a spec, and which place's model a role has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session.roles_run import Typed

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.roles import is_role
from pytest_llmeval.session.options import all_options
from pytest_llmeval.session.resolve import resolve
from pytest_llmeval.session.role_specs import specs_by_role

HERE = Path(__file__).parent

SETTINGS = ("temperature=0", "user=x", 'stop=["a=b", "c"]', "rpm=5", "base_url=http://x/v1?")
NAMES = ("openai/m", "azure/my-deployment", "openai/Qwen/Qwen3=8B", "acme.pkg:open_it/m=x")

specs = st.builds(
    lambda name, settings: ",".join([name, *settings]),
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(SETTINGS), unique=True),
)
roles = st.from_regex(r"[a-z][a-z0-9_-]*", fullmatch=True).filter(lambda name: name != "solver")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for option in all_options():
        monkeypatch.delenv(option.variable, raising=False)


@given(texts=st.lists(st.tuples(st.none() | roles, specs)))
def test_a_role_is_told_from_the_settings_of_a_spec(texts: list[tuple[str | None, str]]) -> None:
    typed = [spec if role is None else f"{role}={spec}" for role, spec in texts]
    expected: dict[str, list[str]] = {}
    for role, spec in texts:
        expected.setdefault(role or "solver", []).append(spec)
    assert specs_by_role(typed) == expected


@given(text=st.text())
def test_every_text_is_a_spec_a_role_with_a_spec_or_refused(text: str) -> None:
    head = text.partition("=")[0]
    wrong = "=" in text and not re.search("[/,:]", head) and (head == "solver" or not is_role(head))
    if wrong:
        with pytest.raises(UsageError, match="--llmeval-model"):
            specs_by_role([text])
    else:
        [(role, [spec])] = specs_by_role([text]).items()
        assert text == (spec if role == "solver" else f"{role}={spec}")


@given(head=st.text(st.characters(exclude_characters="/,:=")), name=st.sampled_from(NAMES[:3]))
def test_nothing_that_is_read_as_a_role_could_be_a_spec(head: str, name: str) -> None:
    with pytest.raises(UsageError, match="unknown model spec"):
        parse_spec(f"{head}={name}", folder=HERE)


PLACES = ("line", "variable", "ini")


@given(
    places=st.fixed_dictionaries(
        {
            place: st.dictionaries(st.sampled_from(["", "judge", "user"]), st.just(place))
            for place in PLACES
        }
    ),
    by_option=st.booleans(),
)
def test_each_role_has_the_models_of_the_first_place_that_names_one(
    places: dict[str, dict[str, str]], *, by_option: bool
) -> None:
    def texts(place: str) -> tuple[list[str], list[str]]:
        """Return the values of --llmeval-model and of --llmeval-judge in one place."""
        models = {role: f"openai/{of}" for role, of in places[place].items()}
        judges = [models.pop("judge")] if by_option and "judge" in models else []
        return [f"{role}={spec}" if role else spec for role, spec in models.items()], judges

    line, variable, ini = map(texts, PLACES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLMEVAL_MODEL", " ".join(variable[0]))
        patch.setenv("LLMEVAL_JUDGE", " ".join(variable[1]))
        settings = resolve(
            Typed(
                HERE,
                {"model": line[0] or None, "judge": line[1] or None},
                {"model": " ".join(ini[0]), "judge": " ".join(ini[1])},
            )
        )
    found = {"": settings.models, "judge": settings.judges, "user": settings.roles.get("user", ())}
    for role, specs_of in found.items():
        first = next((place for place in PLACES if role in places[place]), None)
        assert specs_of == (() if first is None else (f"openai/{first}",))


def test_judges_of_both_options_are_judges() -> None:
    typed = {"model": ["openai/m", "judge=openai/b"], "judge": ["openai/a"]}
    settings = resolve(Typed(HERE, typed))
    assert settings.judges == ("openai/a", "openai/b")
    assert (settings.models, settings.roles) == (("openai/m",), {})
    assert settings.by_role == {"judge": ("openai/a", "openai/b")}
