"""What every request must be, and what every answer tells a browser."""

import asyncio

import pytest
from signin_parts import serving
from starlette.responses import PlainTextResponse

from pegboard.config.settings import ServeSettings
from pegboard.errors import ConfigError
from pegboard.serve.http.guard import POLICY, guarded
from pegboard.serve.http.site import is_loopback, site_of
from pegboard.serve.web.rendering import HEADERS

PUBLIC = ServeSettings(host="0.0.0.0", public_url="https://tools.example.com")
HERE = "127.0.0.1:8420"


def asked(settings, method="GET", headers=(), port=8420, scheme="http", answer=None):
    """Status and headers of the answer, and whether the request got through."""
    through, sent = [], []

    async def app(scope, receive, send):
        through.append(scope)
        await (answer or PlainTextResponse("here"))(scope, receive, send)

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b""}

    scope = {
        "type": "http",
        "method": method,
        "path": "/who",
        "query_string": b"",
        "scheme": scheme,
        "server": ("127.0.0.1", port),
        "client": ("127.0.0.1", 50_000),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
    }
    asyncio.run(guarded(app, settings)(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, bool(through)


def status(settings=None, *, host=HERE, method="GET", **headers):
    """Headers are written with `_` for `-`."""
    said = [("Host", host)] if host is not None else []
    said += [(name.replace("_", "-"), value) for name, value in headers.items()]
    code, _, through = asked(settings or ServeSettings(), method, said)
    assert through == (code == 200)
    return code


# The name it is asked by.


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8420", "localhost:8420", "LOCALHOST:8420", "[::1]:8420", "127.0.0.2:8420"],
)
def test_on_the_loopback_address_it_is_reached_by_loopback_names_and_its_port(host):
    assert status(host=host) == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example.com", "evil.example.com:8420", "127.0.0.1.evil.example.com:8420"),
        *("localhost.evil.example:8420", "localhost:9999", "localhost", "127.0.0.1:84200"),
        *("192.168.0.1:8420", "8.8.8.8:8420", "0.0.0.0:8420", "[::1]evil:8420", "[evil]:8420"),
        *("", " ", "127.0.0.1:8420, evil.example.com", "user@127.0.0.1:8420", "127.0.0.1:8420/x"),
        *("127.0.0.1:x", "127.0.0.1:", "\xff\xfe", "2130706433:8420", "x" * 5_000),
    ],
)
def test_under_another_name_it_is_not_reached(host):
    """The page of a stranger whose name was made to lead here."""
    assert status(host=host) == 421
    assert status(host=host, Authorization="Bearer x") == 421


def test_without_a_name_or_with_two_it_is_not_reached():
    assert status(host=None) == 421
    assert asked(ServeSettings(), headers=[("Host", HERE), ("Host", HERE)])[0] == 421


def test_the_refusal_names_the_host_and_the_setting():
    store_free = asked(ServeSettings(), headers=[("Host", "evil.example.com")])
    assert store_free[1]["content-type"] == "application/problem+json"


def test_by_its_public_address_it_is_reached_wherever_it_listens():
    for settings in (PUBLIC, ServeSettings(public_url="https://tools.example.com")):
        for host in ("tools.example.com", "tools.example.com:443", "TOOLS.example.com."):
            assert status(settings, host=host) == 200
        for host in ("tools.example.com:8420", "example.com", "tools.example.com.evil.example"):
            assert status(settings, host=host) == 421


def test_on_every_address_it_is_reached_by_addresses_but_not_by_any_name():
    """No stranger can have a page under an address that is ours."""
    for host in ("192.168.0.7:8420", "10.0.0.1", "[2001:db8::1]:8420", "localhost:80"):
        assert status(ServeSettings(host="0.0.0.0"), host=host) == 200
    assert status(ServeSettings(host="0.0.0.0"), host="evil.example.com:8420") == 421
    assert status(ServeSettings(host="tools.lan"), host="tools.lan:8420") == 200


def test_further_names_can_be_given():
    settings = ServeSettings(hosts="tools.internal, other.internal:8420,")
    for host in ("tools.internal", "tools.internal:1", "other.internal:8420"):
        assert status(settings, host=host) == 200
    assert status(settings, host="other.internal") == 421
    for wrong in ("http://x", "a b", "x:y", "*"):
        with pytest.raises(ConfigError, match=r"serve\.hosts"):
            site_of(ServeSettings(hosts=wrong))


@pytest.mark.parametrize(
    "url",
    [
        *(
            "tools.example.com",
            "ftp://tools.example.com",
            "https://",
            "https://a b",
            "https://[::1",
        ),
        *("https://tools.example.com/path", "https://x.example/?q=1", "https://me@x.example"),
    ],
)
def test_a_public_address_that_is_none_is_told(url):
    with pytest.raises(ConfigError, match=r"serve\.public_url"):
        site_of(ServeSettings(public_url=url))


def test_a_public_address_is_written_in_one_way():
    for url in ("https://Tools.example.com", "https://tools.example.com:443/"):
        assert site_of(ServeSettings(public_url=url)).public == "https://tools.example.com"


@pytest.mark.parametrize(
    ("host", "here"),
    [
        *(("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True)),
        *(("localhost", True), ("::ffff:127.0.0.1", True), ("", False), ("0.0.0.0", False)),
        *(("::", False), ("192.168.0.1", False), ("localhost.example", False)),
    ],
)
def test_what_is_this_machine(host, here):
    assert is_loopback(host) is here


# Whose page it comes from.


def test_a_page_of_its_own_may_ask():
    assert status(Origin=f"http://{HERE}") == 200
    assert status(method="POST", Origin=f"http://{HERE}") == 200
    assert status(host="localhost:8420", Origin="http://localhost:8420") == 200
    assert status(PUBLIC, host="tools.example.com", Origin="https://tools.example.com") == 200


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example.com", "null", "", "http://127.0.0.1:3000", "http://localhost:8420"),
        *("http://127.0.0.1", "https://127.0.0.1:8420/x", "file://", "127.0.0.1:8420", "\xff"),
        *("chrome-extension://abc", f"http://{HERE}, http://evil.example", f"ws://{HERE}"),
    ],
)
def test_a_page_of_another_may_not(method, origin):
    """Nor a program of this machine that serves pages on another port."""
    assert status(method=method, Origin=origin) == 403


def test_two_origins_are_one_too_many():
    said = [("Host", HERE), ("Origin", f"http://{HERE}"), ("Origin", f"http://{HERE}")]
    assert asked(ServeSettings(), headers=said)[0] == 403


def test_by_its_public_address_only_that_one_is_its_own():
    for origin in (
        "http://tools.example.com",
        "https://tools.example.com:444",
        "https://example.com",
    ):
        assert status(PUBLIC, host="tools.example.com", Origin=origin) == 403


def test_a_proxy_that_does_not_pass_the_name_on_is_understood():
    settings = ServeSettings(public_url="https://tools.example.com")
    assert status(settings, Origin="https://tools.example.com") == 200
    assert status(settings, Origin="https://evil.example.com") == 403


def test_what_a_page_of_another_includes_is_refused_though_it_names_no_origin():
    for site in ("cross-site", "same-site", "nonsense"):
        for mode, dest in (("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe")):
            said = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": dest}
            assert status(**said) == 403
    for site in ("none", "same-origin"):
        assert status(Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="image") == 200


def test_a_link_on_a_page_of_another_may_lead_here():
    said = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert status(Sec_Fetch_Dest="document", **said) == 200
    assert status(method="POST", Sec_Fetch_Dest="document", **said) == 403


def test_what_changes_something_by_a_cookie_must_come_from_a_page_of_ours():
    cookie = {"Cookie": "a=b; pegboard_session_8420=x"}
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert status(method=method, **cookie) == 403
        assert status(method=method, Sec_Fetch_Site="none", **cookie) == 403
        assert status(method=method, Origin="null", **cookie) == 403
        assert status(method=method, Origin=f"http://{HERE}", **cookie) == 200
        assert status(method=method, Sec_Fetch_Site="same-origin", **cookie) == 200
        assert status(method=method, Cookie="other=x") == 200
    assert status(method="POST", Cookie="__Host-pegboard_session=x") == 403
    assert status(method="GET", **cookie) == 200


# What answers say.


def test_every_answer_has_headers_that_make_browsers_careful():
    for headers in ([("Host", HERE)], [("Host", "evil.example.com")]):
        _, found, _ = asked(ServeSettings(), headers=headers)
        assert found["content-security-policy"] == POLICY
        assert found["x-content-type-options"] == "nosniff"
        assert found["x-frame-options"] == "DENY"
        assert found["referrer-policy"] == "same-origin"
        assert found["cross-origin-opener-policy"] == "same-origin"
        assert found["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in found["permissions-policy"]
        assert found["cache-control"] == "no-store"
        assert "strict-transport-security" not in found


def test_nothing_inline_and_nothing_foreign_is_run_or_shown():
    directives = dict(each.split(" ", 1) for each in POLICY.split("; "))
    assert directives["default-src"] == "'none'"
    assert directives["frame-ancestors"] == directives["base-uri"] == "'none'"
    assert set(" ".join(directives.values()).split()) == {"'none'", "'self'"}


def test_what_says_itself_how_long_it_is_kept_stays_so():
    answer = PlainTextResponse("x", headers={"Cache-Control": "public, max-age=60"})
    _, found, _ = asked(ServeSettings(), headers=[("Host", HERE)], answer=answer)
    assert found["cache-control"] == "public, max-age=60"


def test_with_a_public_address_by_https_browsers_are_told_to_stay_with_it():
    _, found, _ = asked(PUBLIC, headers=[("Host", "tools.example.com")])
    assert found["strict-transport-security"] == "max-age=31536000"


# A real server.


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    from pegboard.store.sqlite.store import SqliteStore

    store = SqliteStore(tmp_path_factory.mktemp("guard") / "board.db", create=True)
    with serving(store) as made:
        yield made
    store.close()


def test_all_of_it_stands_before_a_real_server(served):
    assert served.get("/anybody").status_code == 200
    assert served.get("/anybody", Host="evil.example.com").status_code == 421
    assert served.get("/anybody", Origin="https://evil.example.com").status_code == 403
    for path in ("/anybody", "/who", "/nowhere"):
        assert served.get(path).headers["content-security-policy"] == POLICY
    page = served.get("/ui/sign-in").headers["content-security-policy"]
    assert page == HEADERS["Content-Security-Policy"]  # a page says for itself what it needs
    answer = served.get("/anybody", Host="evil.example.com").json()
    assert answer["code"] == "wrong_host"
    assert "evil.example.com" in answer["detail"]
    assert "serve.public_url" in answer["hint"]


@pytest.mark.parametrize(
    "lines",
    [
        (b"GET /anybody HTTP/1.1",),
        (b"GET /anybody HTTP/1.0",),
        (b"GET /anybody HTTP/1.1", b"Host: a", b"Host: b"),
        (b"GET /anybody HTTP/1.1", b"Host:"),
        (b"GET http://127.0.0.1/anybody HTTP/1.1", b"Host: evil.example.com"),
        (b"GET /anybody HTTP/1.1", b"Host: \xff\x00"),
    ],
)
def test_raw_requests_under_no_name_or_several_are_refused(served, lines):
    code, answer = served.raw(*lines)
    assert code in (400, 421)
    assert b"Traceback" not in answer


def test_a_web_socket_is_not_opened(served):
    code, _ = served.raw(
        b"GET /who HTTP/1.1",
        f"Host: 127.0.0.1:{served.port}".encode(),
        b"Upgrade: websocket",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        b"Sec-WebSocket-Version: 13",
    )
    assert code in (401, 403)
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(guarded(None, ServeSettings())({"type": "websocket"}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
