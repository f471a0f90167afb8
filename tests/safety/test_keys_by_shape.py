"""Keys go by their shape; words, digests and formulas stay."""

from __future__ import annotations

import hashlib
import json
import secrets
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.safety.keys import may_hold_key, without_keys

ALPHANUMERIC = string.ascii_letters + string.digits


def made(alphabet: str, length: int) -> st.SearchStrategy[str]:
    """Random characters, among them a digit and a letter."""
    return st.text(alphabet, min_size=length - 2, max_size=length - 2).map(lambda text: f"{text}a7")


KEYS = st.one_of(
    made(ALPHANUMERIC, 48).map("sk-".__add__),
    made(ALPHANUMERIC, 120).map("sk-proj-".__add__),
    made(string.hexdigits.lower(), 64).map("sk-or-v1-".__add__),
    made(ALPHANUMERIC, 90).map("sk-ant-api03-".__add__),
    made(ALPHANUMERIC, 35).map("AIza".__add__),
    made(ALPHANUMERIC, 52).map("gsk_".__add__),
    made(ALPHANUMERIC, 34).map("hf_".__add__),
    made(ALPHANUMERIC, 36).map("ghp_".__add__),
    made(string.ascii_uppercase, 16).map(lambda text: f"AKIA{text.upper()}"),
    st.tuples(made(ALPHANUMERIC, 52), made(ALPHANUMERIC, 26)).map("JQQJ99".join),
    st.tuples(made(ALPHANUMERIC, 20), made(ALPHANUMERIC, 40), made(ALPHANUMERIC, 43)).map(
        lambda parts: f"eyJ{parts[0]}.eyJ{parts[1]}.{parts[2]}"
    ),
)
AROUND = st.sampled_from([("", ""), ("key ", "."), ('{"a": "', '"}'), ("x=", "&y"), ("'", "'\n")])


@given(KEYS, AROUND)
def test_keys_of_all_shapes_go_whole(key: str, around: tuple[str, str]) -> None:
    before, after = around
    assert without_keys(before + key + after) == f"{before}[key]{after}"
    assert may_hold_key(key)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Authorization: Bearer abcdefghij0123456789", "Authorization: Bearer [key]"),
        ("api-key: 0123456789abcdef0123456789abcdef", "api-key: [key]"),
        ('"Api-Key": "0123456789abcdef0123456789abcdef"', '"Api-Key": "[key]"'),
        ("https://user:pass@host/v1", "https://[credentials]@host/v1"),
    ],
)
def test_keys_go_by_what_stands_before_them(text: str, written: str) -> None:
    assert without_keys(text) == written


@pytest.mark.parametrize(
    "text",
    [
        "scikit-learn, sk-learn-contrib-with-many-long-words and task-1234567890123456789012",
        "the sk-estimators-2024-comparison-of-many-methods",
        r"\frac{m_1 g}{k_{sk-1}} + hf_0 + gh_1",
        "AKIA and ASIA are shapes; so is eyJ",
        "MATCH (n)-[:KNOWS]->(m) RETURN n.api_key",
        "The bearer of this letter, Bearer of bad news",
        "http://localhost:8000/v1?x=a:b@c",
        "a-very-long-identifier-0123456789abcdef0123456789abcdef",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert without_keys(text) == text


@given(st.binary())
def test_digests_stay(data: bytes) -> None:
    for name in ("md5", "sha1", "sha256", "sha512"):
        digest = hashlib.new(name, data, usedforsecurity=False).hexdigest()
        assert without_keys(digest) == digest
        assert without_keys(f"sha256:{digest}") == f"sha256:{digest}"


@pytest.mark.parametrize(
    "part", ["sk-", "-sk-", "eyJ", ".eyJ", "Bearer ", "://a:", "api-key ", "gsk_"]
)
def test_a_megabyte_of_beginnings_takes_no_time(part: str) -> None:
    text = part * (1_000_000 // len(part))
    assert len(without_keys(text)) <= len(text)


MARKERS = [
    "sk-",
    "AIza",
    "gsk_",
    "xai-",
    "pplx-",
    "nvapi-",
    "hf_",
    "r8_",
    "ghp_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "AKIA",
    "ASIA",
    "JQQJ99",
    "eyJ",
    ".eyJ",
    "pi-key",
    "pi-Key",
    "pi_key",
    "://",
    ":",
    "@",
    "u:p@",
    "-",
    "_",
    ".",
    "/",
    "=",
    "a7",
    "é",
    "ñ9",
]
PIECES = st.sampled_from([*MARKERS, "Bearer ", " ", "\n", "\t", '"', "\\"])
RUNS = st.text(ALPHANUMERIC, min_size=15, max_size=53) | st.text("aé7_-", min_size=8, max_size=30)


@given(st.lists(PIECES | RUNS | KEYS, max_size=8).map("".join))
@example("\tghp_" + "a7" * 18)
@example("sk-" + "é" * 3 + "a7" * 9)
@example("pi-key\n\n" + "a7" * 16)
@example('http://"\\:é\x00@host')
def test_a_line_of_json_is_never_taken_for_one_without_keys(text: str) -> None:
    if without_keys(text) != text:
        assert may_hold_key(text)
        assert may_hold_key(json.dumps(text))
        assert may_hold_key(json.dumps({"a": [{"x" + text + "y": text}]}))


@pytest.mark.parametrize(
    "text",
    [
        "high, though, earlier tasks: a task-specific bearer of risk-averse hf_ and eyJ",
        "openai/load,base_url=http://127.0.0.1:8000/v1",
        "https://example.org/a?b=c and mail to a@b.example",
        r"\frac{m_1 g}{k_{sk-1}} + hf_0 + gh_1",
    ],
)
def test_ordinary_texts_need_not_be_searched(text: str) -> None:
    assert not may_hold_key(json.dumps(text))


def test_an_error_of_ours_repeats_no_key() -> None:
    key = "sk-proj-" + secrets.token_hex(24)
    assert key not in str(UsageError(f"model spec 'openai/m,{key}' is wrong"))


def test_replies_keep_words_that_are_somebodys_password() -> None:
    environment = {"DB_PASSWORD": "postgres", "OTHER_PASSWORD": "postgres7", "A_KEY": "k" * 20}
    assert Redactor.of_keys(environment).text(f"postgres postgres7 {'k' * 20}") == (
        "postgres [OTHER_PASSWORD] [A_KEY]"
    )
    assert "postgres" not in Redactor.of(environment).text("postgres")
