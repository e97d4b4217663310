"""Whom `pegboard serve` lets in, from the command line to a browser."""

import contextlib
import re
import subprocess
import sys
import threading

import httpx2
import pytest

pytestmark = pytest.mark.server


@contextlib.contextmanager
def serving(*args):
    """The gateway as a process; its address, and what it said at the start."""
    command = [sys.executable, "-m", "pegboard", "serve", "--port", "0", "--no-sync", *args]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    bound = threading.Timer(60, process.kill)
    bound.start()
    lines = []
    try:
        for line in process.stderr:
            lines.append(line)
            if "token" in line and "--print-link" not in args:
                break
            if "in a browser" in line:
                break
        yield re.search(r"http://[\w.]+:\d+", "".join(lines))[0], "".join(lines)
    finally:
        process.terminate()
        process.communicate(timeout=30)
        bound.cancel()


OPEN_DOORS = {
    "without a token": (("--host", "0.0.0.0"), "pegboard token new"),
    "on every address": (("--host", "::"), "pegboard token new"),
    "by a name": (("--host", "tools.example.com"), "pegboard token new"),
    "open to all": (("--host", "0.0.0.0", "--open"), "127.0.0.1"),
}


@pytest.mark.parametrize(("args", "hint"), OPEN_DOORS.values(), ids=OPEN_DOORS.keys())
def test_where_others_could_come_it_does_not_start_unguarded(pegboard, board, args, hint):
    ran = pegboard("serve", *args)
    assert (ran.code, ran.out) == (3, "")
    assert args[1] in ran.err
    assert hint in ran.err
    assert "Traceback" not in ran.err


def test_a_token_that_has_expired_guards_nothing(pegboard, board, sql):
    pegboard("token", "new", "--role", "admin")
    sql("UPDATE board_tokens SET expires_at = 1")
    ran = pegboard("serve", "--host", "0.0.0.0")
    assert ran.code == 3
    assert "no token that is good" in ran.err


def test_with_a_token_open_doors_are_refused_all_the_same(pegboard, board, monkeypatch):
    pegboard("token", "new", "--role", "admin")
    monkeypatch.setenv("PEGBOARD_SERVE_LOOPBACK", "reader")
    ran = pegboard("serve", "--host", "192.0.2.1")
    assert ran.code == 3
    assert "'reader'" in ran.err


@pytest.mark.parametrize("name", ["PUBLIC_URL", "HOSTS"])
def test_behind_a_proxy_nobody_is_let_in_for_being_local(pegboard, board, monkeypatch, name):
    """Some proxies do not say that they are one."""
    place = "https://tools.example.com" if name == "PUBLIC_URL" else "tools.example.com"
    monkeypatch.setenv(f"PEGBOARD_SERVE_{name}", place)
    ran = pegboard("serve", "--open")
    assert ran.code == 3
    assert "tools.example.com" in ran.err


WRONG = {
    "PEGBOARD_SERVE_PUBLIC_URL": "tools.example.com",
    "PEGBOARD_SERVE_HOSTS": "http://x",
    "PEGBOARD_SERVE_ISSUER": "http://login.example.com",
}


@pytest.mark.parametrize("name", WRONG)
def test_settings_that_do_not_go_together_are_told_at_the_start(pegboard, board, monkeypatch, name):
    monkeypatch.setenv("PEGBOARD_SERVE_AUDIENCE", "x")
    monkeypatch.setenv(name, WRONG[name])
    ran = pegboard("serve")
    assert ran.code == 3
    assert WRONG[name] in ran.err


def test_an_issuer_without_an_audience_is_told_at_the_start(pegboard, board, monkeypatch):
    monkeypatch.setenv("PEGBOARD_SERVE_ISSUER", "https://login.example.com")
    ran = pegboard("serve")
    assert ran.code == 3
    assert "serve.audience" in ran.err


@pytest.mark.parametrize("name", ["public_url", "hosts", "loopback", "issuer", "audience"])
def test_a_project_cannot_say_who_is_let_in(pegboard, board, desk, name):
    (desk / "pegboard.toml").write_text(f'[serve]\n{name} = "admin"\n')
    ran = pegboard("status")
    assert ran.code == 3
    assert f"serve.{name}" in ran.err


def test_a_gateway_lets_in_tokens_and_whoever_has_the_link(pegboard, board):
    token = pegboard("token", "new", "--role", "reader", "--json").json
    with serving("--print-link") as (base, said), httpx2.Client(trust_env=False) as http:
        assert "a token is needed (pegboard token new)" in said
        search = f"{base}/search?query=message"
        refused = http.get(search)
        assert refused.status_code == 401
        assert f"{base}/.well-known/oauth-protected-resource" in refused.headers["www-authenticate"]
        good = {"Authorization": f"Bearer {token['token']}"}
        assert http.get(search, headers=good).status_code == 200
        assert http.get(search, headers={**good, "Host": "evil.example.com"}).status_code == 421
        assert http.get(search, headers={"Authorization": "Bearer x"}).status_code == 401
        link = re.search(rf"{base}/ui/sign-in\?code=\S+", said)[0]
        assert http.get(link).status_code == 303
        assert http.get(search).status_code == 200  # by the cookie
        http.cookies.clear()
        assert http.get(link).status_code == 401
        assert http.get(search).status_code == 401


def test_without_a_terminal_no_link_is_printed_and_open_means_open(pegboard, board):
    with serving("--open") as (base, said), httpx2.Client(trust_env=False) as http:
        assert "code=" not in said
        assert "need no token: each is admin" in said
        assert http.get(f"{base}/search?query=message").status_code == 200
        for headers in ({"Authorization": "Bearer x"}, {"X-Forwarded-For": "127.0.0.1"}):
            assert http.get(f"{base}/search?query=message", headers=headers).status_code == 401
