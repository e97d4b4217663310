from urllib.parse import quote

import pytest
from api_parts import arrived, called, described, job, manifest
from api_service import Reply, heard, served

from pegboard.model.calls import Outcome


@pytest.fixture(scope="module")
def other():
    with served("127.0.0.2") as service:
        yield service


def leading(service, to, code=302, **config):
    return manifest(url=f"{service.url}/redirect?code={code}&to={quote(to, '')}", **config)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(service, code):
    assert arrived(leading(service, "/echo/there?x=1", code)).path == "/echo/there"
    assert arrived(leading(service, "echo", code)).path == "/echo"


@pytest.mark.parametrize("code", [301, 302, 303])
def test_a_post_becomes_a_get_without_a_body(service, code):
    item = leading(service, "/echo", code, method="POST", body={"a": 1})
    asked = arrived(item)
    assert (asked.method, asked.body) == ("GET", b"")
    assert asked.header("content-type") is None
    assert asked.header("content-length") is None


@pytest.mark.parametrize("code", [307, 308])
def test_or_stays_what_it_was_at_the_same_origin(service, code):
    asked = arrived(leading(service, "/echo", code, method="PUT", body={"a": 1}))
    assert (asked.method, asked.body) == ("PUT", b'{"a":1}')


@pytest.mark.parametrize("code", [307, 308])
def test_a_body_is_not_repeated_to_another_origin(service, other, code):
    other.asked.clear()
    item = leading(service, f"{other.url}/echo", code, method="POST", body={"a": 1})
    result = called(item)
    assert result.outcome is Outcome.FAILED
    assert "another origin, to which a POST request is not repeated" in result.error
    assert other.asked == []


@pytest.mark.parametrize("code", [301, 302, 307])
def test_nothing_is_deleted_at_another_origin(service, other, code):
    other.asked.clear()
    result = called(leading(service, f"{other.url}/echo", code, method="DELETE"))
    assert result.outcome is Outcome.FAILED
    assert other.asked == []


SECRET = {
    "Authorization": "Bearer ${TOKEN}",
    "X-Api-Key": "${TOKEN}",
    "Cookie": "sid=${TOKEN}",
    "Accept-Language": "de",
}


def test_the_same_origin_sees_the_same_headers(service):
    asked = arrived(leading(service, "/echo", headers=SECRET), secrets={"TOKEN": "t-123"})
    assert asked.header("authorization") == "Bearer t-123"
    assert asked.header("x-api-key") == "t-123"
    assert asked.header("cookie") == "sid=t-123"


def test_another_origin_sees_no_secrets(service, other):
    item = leading(service, f"{other.url}/echo", headers=SECRET)
    asked = arrived(item, secrets={"TOKEN": "t-123"})
    assert "t-123" not in str(asked)
    assert asked.header("accept-language") == "de"
    assert asked.header("host") == f"127.0.0.2:{other.port}"


def test_another_port_is_another_origin(service):
    with served() as beside:
        item = leading(service, f"{beside.url}/echo", headers=SECRET)
        assert "t-123" not in str(arrived(item, secrets={"TOKEN": "t-123"}))


def test_nor_does_it_after_a_way_back(service, other):
    back = f"{other.url}/redirect?to={quote(f'{service.url}/echo', '')}"
    asked = arrived(leading(service, back, headers=SECRET), secrets={"TOKEN": "t-123"})
    assert asked.header("host") == f"127.0.0.1:{service.port}"
    assert "t-123" not in str(asked)


def test_a_key_in_the_query_that_the_service_repeats_is_taken_out(service, other, tmp_path):
    to = quote(f"{other.url}/echo?page=2&key=t-123", "")
    scheme = {"type": "apiKey", "in": "query", "name": "key"}
    item = described(
        tmp_path,
        service,
        f"/redirect?to={to}",
        security=[{"k": []}],
        components={"securitySchemes": {"k": scheme}},
    )
    assert arrived(item, secrets={"SHOP_K": "t-123"}).query == "page=2"
    item = leading(service, f"{other.url}/echo?page=2&key=t-123", query={"key": "${KEY}"})
    assert arrived(item, secrets={"KEY": "t-123"}).query == "page=2"


def test_there_is_an_end_to_redirects(service):
    to = "/echo"
    for _ in range(4):
        to = f"/redirect?to={quote(to, '')}"
    assert arrived(leading(service, to)).path == "/echo"
    result = called(leading(service, f"/redirect?to={quote(to, '')}"))
    assert result.outcome is Outcome.FAILED
    assert "more than 5 redirects" in result.error


@pytest.mark.parametrize(
    "to",
    [
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "http://[::1",
        "javascript:alert(1)",
        "http://a b/",
    ],
)
def test_what_cannot_be_followed_fails(service, to):
    result = called(leading(service, to))
    assert result.outcome is Outcome.FAILED
    assert "redirects to where it cannot be followed" in result.error


def test_a_redirect_to_an_address_with_a_login_is_denied(service, other):
    other.asked.clear()
    result = called(leading(service, f"http://me:pw@127.0.0.2:{other.port}/echo"))
    assert result.outcome is Outcome.DENIED
    assert other.asked == []


@pytest.mark.parametrize("code", [300, 304, 305, 302])
def test_a_redirect_to_nowhere_fails(service, code):
    result = called(manifest(url=f"{service.url}/redirect?code={code}"))
    assert result.outcome is Outcome.FAILED
    assert result.error.startswith(f"HTTP {code} ")


def test_cookies_that_a_service_sets_are_not_kept(run, service):
    sets = Reply(302, b"", (("set-cookie", "sid=1; path=/"), ("location", "/echo")))
    service.next.append(sets)
    first = run(job(manifest(url=f"{service.url}/next")))
    second = run(job(manifest(url=f"{service.url}/echo")))
    for each in (first, second):
        assert heard(each.structured).header("cookie") is None
