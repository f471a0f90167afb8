"""Who gets an answer from the server, and to what files an address can lead: attacks."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from view.viewing import Viewer, ended, row, viewed

from pytest_llmeval.commands.main import main
from pytest_llmeval.view.server import MAX_BODY

SECRET = "nobody may read this"  # noqa: S105 - a text to look for


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outside")
    (folder / "secret").mkdir()
    for name in ("secret.txt", "secret/rows.jsonl", "secret/report.html"):
        (folder / name).write_text(SECRET)
    (folder / "secret" / "run.json").write_text(json.dumps({"schema": 1, "started": SECRET}))
    reports = folder / "reports"
    ended(reports, [row(1), row(2, "incorrect")])
    linked = ended(reports, [row(1)], day=1)
    (linked / "rows.jsonl").unlink()
    (linked / "rows.jsonl").symlink_to(folder / "secret.txt")
    (reports / "elsewhere").symlink_to(folder / "secret", target_is_directory=True)
    return reports


@pytest.fixture(scope="module")
def viewer(reports: Path) -> Iterator[Viewer]:
    with viewed(reports) as one:
        yield one


def addresses(reports: Path) -> list[str]:
    name = next(iter(sorted(path.name for path in reports.glob("*Z-*"))))
    run = f"/runs/{name}"
    return [
        "/",
        "/trend",
        "/api/runs",
        "/api/trend?task=sums",
        f"{run}/",
        f"{run}/news?since=0",
        f"{run}/overview",
        f"{run}/evidence?row=0",
        f"{run}/labels",
        f"{run}/label",
    ]


def test_whoever_has_the_token_gets_every_page(viewer: Viewer, reports: Path) -> None:
    for address in addresses(reports):
        assert viewer.ask(address).status == 200, address


def test_without_the_token_nothing_is_given(viewer: Viewer, reports: Path) -> None:
    right = viewer.access.token
    wrong = [None, "", "x" * len(right), right[:-1], right + "x", right.upper(), "é" * 43]
    for address in addresses(reports):
        for token in wrong:
            cookie = None if token is None else f"llmeval-view-{viewer.access.port}={quote(token)}"
            answer = replace(viewer, cookie=cookie).ask(address)
            assert answer.status == 403
            assert "sums" not in answer.text


def test_the_token_in_the_address_becomes_a_cookie_that_no_script_and_no_site_can_use(
    viewer: Viewer,
) -> None:
    stranger = replace(viewer, cookie=None)
    entered = stranger.ask(f"/?token={viewer.access.token}")
    assert entered.status == 200
    cookie = entered.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert viewer.access.token not in entered.text
    assert replace(viewer, cookie=cookie.split(";")[0]).ask("/").status == 200
    assert "set-cookie" not in stranger.ask("/?token=wrong").headers
    assert stranger.ask(f"/api/runs?token={viewer.access.token}").status == 403


def test_a_site_that_points_its_name_at_this_machine_gets_nothing(
    viewer: Viewer, reports: Path
) -> None:
    for host in (
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "",
        "[::1]",
        "0.0.0.0",  # noqa: S104 - a name in a header
    ):
        for address in (*addresses(reports), f"/?token={viewer.access.token}"):
            answer = viewer.ask(address, Host=host)
            assert answer.status == 421
            assert "set-cookie" not in answer.headers
    for host in ("localhost", "127.0.0.1", "localhost:9", "127.0.0.1:9"):  # the end of a tunnel
        assert viewer.ask("/", Host=host).status == 200


def test_only_own_pages_change_something(viewer: Viewer, reports: Path) -> None:
    address = next(one for one in addresses(reports) if one.endswith("/labels"))
    label = {"row": 0, "correct": True, "labeller": "eve"}
    foreign = [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://{viewer.host}"},
        {"Origin": f"http://127.0.0.1:{viewer.access.port + 1}"},
        {"Origin": ""},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ]
    for headers in foreign:
        assert viewer.post(address, label, **headers).status in {403, 415}
    assert replace(viewer, cookie=None).post(address, label).status == 403
    assert viewer.ask(address).json == []
    assert not list(reports.glob("*/labels.jsonl"))


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../../secret.txt",
        "/runs/..%2f..%2fsecret.txt/",
        "/runs/%2e%2e/",
        "/runs/%2e%2e%2fsecret/",
        "/runs/elsewhere/",
        "/runs/latest/",
        "/runs/%00/",
        "/runs//etc/passwd",
        "/runs/{linked}/",
        "/runs/{linked}/news?since=0",
        "/runs/{linked}/evidence?row=0",
        "/runs/{name}/rows.jsonl",
        "/runs/{name}/../../../secret.txt",
        "/runs/{name}/picture?digest=../../../secret.txt",
        "/runs/{name}/evidence?row=-1",
        "/runs/{name}/evidence?row=1",
        "/runs/{name}/evidence?row=99999999999999",
        "/runs/{name}/news?since=99999999999999",
        "/compare?a=../secret&b=elsewhere",
        "/compare?a={name}&b={linked}",
    ],
)
def test_no_address_leads_out_of_the_folder(viewer: Viewer, reports: Path, path: str) -> None:
    name, linked = sorted(one.name for one in reports.glob("*Z-*"))
    answer = viewer.ask(path.format(name=name, linked=linked))
    assert 400 <= answer.status < 500
    assert SECRET not in answer.text


def test_a_run_with_a_link_that_leads_out_is_not_listed(viewer: Viewer) -> None:
    assert [run["done"] for run in viewer.ask("/api/runs").json] == [2]


segments = st.text(alphabet=st.characters(codec="utf-8"), max_size=12)


@given(st.lists(segments, max_size=4), st.dictionaries(segments, segments, max_size=2))
@settings(max_examples=60)
def test_whatever_the_address_is_it_is_answered_and_harmless(
    viewer: Viewer, path: list[str], query: dict[str, str]
) -> None:
    parameters = "&".join(f"{quote(name, '')}={quote(text, '')}" for name, text in query.items())
    answer = viewer.ask("/" + "/".join(quote(part, "") for part in path) + "?" + parameters)
    assert answer.status < 500
    assert SECRET not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_huge_request_is_refused_and_the_next_one_answered(viewer: Viewer, reports: Path) -> None:
    assert viewer.ask("/?x=" + "a" * 100_000).status == 414
    address = next(one for one in addresses(reports) if one.endswith("/labels"))
    headers = {"Origin": f"http://{viewer.host}", "Content_Type": "application/json"}
    assert viewer.ask(address, "POST", b" " * (MAX_BODY + 1), **headers).status == 413
    for body in (b"", b"{", b"[]", b'{"row": "x"}', b"[" * 60_000, b"\xff"):
        assert viewer.ask(address, "POST", body, **headers).status == 400
    with socket.create_connection(("127.0.0.1", viewer.access.port)) as half:
        half.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert viewer.ask("/").status == 200


def test_what_a_page_may_load_is_the_server_alone(viewer: Viewer) -> None:
    answer = viewer.ask("/")
    assert "default-src 'none'; script-src 'sha256-" in answer.text
    assert "connect-src 'self'" in answer.text
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert viewer.access.token not in answer.text


def test_the_server_is_not_reached_from_other_machines(viewer: Viewer) -> None:
    addresses_here = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    for address in addresses_here - {"127.0.0.1", "::1"}:
        if ":" in address or address.startswith("127."):
            continue
        with pytest.raises(OSError, match=r"refused|timed out"):
            socket.create_connection((address, viewer.access.port), timeout=2).close()


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_a_wrong_port_is_told(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(["view", "--port", port])
    assert ending.value.code == 2
    assert "is no port" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(
    viewer: Viewer, reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = str(viewer.access.port)
    assert main(["view", str(reports), "--port", taken, "--no-browser"]) == 2
    assert f"port {taken} of 127.0.0.1" in capsys.readouterr().err


def test_a_folder_without_runs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(tmp_path / "none"), "--no-browser"]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    os.mkfifo(tmp_path / "run.json")
    assert main(["view", str(tmp_path), "--no-browser"]) == 2
    assert "holds no run" in capsys.readouterr().err
