"""Files and addresses: what is read, how much of it, and what is sent along."""

import gzip
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from openapi_parts import OK, document, json_body, operation, written

from pegboard.errors import SourceError, UsageError
from pegboard.model.items import Candidate, Rejection
from pegboard.sources.documents import fetching
from pegboard.sources.documents.location import headers_of, with_headers
from pegboard.sources.openapi.source import OpenApiSource

pytestmark = pytest.mark.server

SIMPLE = document({"/x": {"get": OK}})


def scan(location, **options):
    return list(OpenApiSource("shop", str(location), **options).scan({}))


def complaint(location, **options):
    with pytest.raises(SourceError) as raised:
        scan(location, **options)
    return str(raised.value)


# Files


@pytest.mark.parametrize("name", ["api.json", "api.yaml", "no ending"])
def test_a_file_is_read_whatever_it_is_called(tmp_path, name):
    path = written(tmp_path, SIMPLE, name)
    assert [each.origin for each in scan(path)] == ["GET /x"]
    assert [each.origin for each in scan(path.as_uri())] == ["GET /x"]


def test_a_packed_file_is_unpacked(tmp_path):
    path = written(tmp_path, gzip.compress(json.dumps(SIMPLE).encode()), "api.json.gz")
    assert [each.origin for each in scan(path)] == ["GET /x"]


def test_a_file_that_was_packed_in_parts_is_read_whole(tmp_path):
    text = json.dumps(SIMPLE).encode()
    path = written(tmp_path, gzip.compress(text[:20]) + gzip.compress(text[20:]))
    assert [each.origin for each in scan(path)] == ["GET /x"]


def test_a_packed_file_that_is_cut_off_is_told_so(tmp_path):
    packed = gzip.compress(json.dumps(SIMPLE).encode())
    assert "ends in the middle" in complaint(written(tmp_path, packed[:-12]))
    assert "cannot be unpacked" in complaint(written(tmp_path, packed[:10] + b"\xff" * 20))


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert "has more than 50 MB" in complaint(path)


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path):
    path = written(tmp_path, gzip.compress(b"\0" * (3 << 20)))
    assert path.stat().st_size < 10_000
    assert "has more than 1 MB" in complaint(path, max_bytes=1 << 20)


def test_all_files_together_have_one_limit(tmp_path):
    written(tmp_path, {"description": "x" * 3_000}, "part.json")
    said = operation(requestBody=json_body({"properties": {"a": {"$ref": "part.json"}}}))
    [found] = scan(written(tmp_path, said), max_bytes=3_000)
    assert isinstance(found, Rejection)
    assert "has more than" in found.reason


@pytest.mark.parametrize("name", ["missing.json", ""])
def test_what_is_no_file_is_an_error_with_a_hint(tmp_path, name):
    said = complaint(tmp_path / name)
    assert str(tmp_path) in said
    assert "\n" in said


# Addresses


@pytest.fixture
def server():
    with serving() as made:
        yield made


class Answers(ThreadingHTTPServer):
    """What to answer at which path, and what was asked."""

    daemon_threads = True
    pages: dict[str, tuple[int, dict[str, str], bytes]]
    asked: list[tuple[str, dict[str, str]]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def put(self, path, content, status=200, **headers):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.pages[path] = (status, {k.replace("_", "-"): v for k, v in headers.items()}, body)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        assert isinstance(server, Answers)
        server.asked.append((self.path, dict(self.headers)))
        status, headers, body = server.pages.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextmanager
def serving():
    made = Answers(("127.0.0.1", 0), Handler)
    made.pages, made.asked = {}, []
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        thread.join(10)
        made.server_close()


def test_an_address_is_fetched_and_servers_count_from_it(server):
    server.put("/v1/api.json", document({"/x": {"get": OK}}, servers=[{"url": "../v2"}]))
    [found] = scan(f"{server.url}/v1/api.json")
    assert found.fields["executor"]["servers"] == [{"url": f"{server.url}/v2"}]


def test_servers_that_are_no_addresses_are_left_out(server):
    odd = ["http://[::1", "//[x", "/v3", "https://a.test:x", "", "?", "{host}/v4"]
    server.put("/api.json", document({"/x": {"get": OK}}, servers=[{"url": each} for each in odd]))
    [found] = scan(f"{server.url}/api.json")
    told = [each["url"] for each in found.fields["executor"]["servers"]]
    assert f"{server.url}/v3" in told
    assert "{host}/v4" in told


def test_without_servers_the_requests_go_where_the_document_came_from(server):
    server.put("/v1/api.json", SIMPLE)
    [found] = scan(f"{server.url}/v1/api.json")
    assert found.fields["executor"]["servers"] == [{"url": server.url}]


def test_packed_answers_are_unpacked_and_counted(server):
    server.put("/a", gzip.compress(json.dumps(SIMPLE).encode()), Content_Encoding="gzip")
    assert len(scan(f"{server.url}/a")) == 1
    server.put("/bomb", gzip.compress(b"\0" * (3 << 20)), Content_Encoding="gzip")
    assert "has more than 1 MB" in complaint(f"{server.url}/bomb", max_bytes=1 << 20)


def test_an_answer_that_is_too_long_is_not_read_to_its_end(server):
    server.put("/a", b"x" * (5 << 20))
    assert "has more than 1 MB" in complaint(f"{server.url}/a", max_bytes=1 << 20)


def test_redirects_are_followed_a_few_times(server):
    server.put("/old", b"", 302, Location="/new/api.json")
    server.put("/new/api.json", operation(requestBody=json_body({"$ref": "part.json"})))
    server.put("/new/part.json", {"properties": {"a": {}}})
    [found] = scan(f"{server.url}/old")
    assert set(found.fields["input_schema"]["properties"]) == {"id", "a"}
    server.put("/loop", b"", 302, Location="/loop")
    assert "more than 5 redirects" in complaint(f"{server.url}/loop")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://example.com/x", "data:,x"])
def test_redirects_to_anything_but_http_are_not_followed(server, target):
    server.put("/a", b"", 302, Location=target)
    assert f"{server.url}/a" in complaint(f"{server.url}/a")


def test_references_stay_at_the_origin(server):
    with serving() as other:
        other.put("/part.json", {"type": "string"})
        server.put("/away", b"", 302, Location=f"{other.url}/part.json")
        for reference, why in (
            (f"{other.url}/part.json", f"leads away from {server.url}"),
            ("//other.test/part.json", "leads away from"),
            ("file:///etc/passwd", "leads away from"),
            ("away", f"away from {server.url}"),
            ("missing.json", "answers 404"),
            ("//[x", "leads away from"),
            ("//a:99999999/x", "leads away from"),
        ):
            schema = {"properties": {"a": {"$ref": reference}}}
            server.put("/api.json", operation(requestBody=json_body(schema)))
            [found] = scan(f"{server.url}/api.json")
            assert isinstance(found, Rejection)
            assert why in found.reason
        assert other.asked == []


@pytest.mark.parametrize(
    "other", ["http://a.test:443/x", "https://a.test:80/x", "http://a.test:8/x"]
)
def test_another_port_is_another_origin_also_where_it_is_usual_for_another_scheme(other):
    plain = f"{other.partition(':')[0]}://a.test"
    assert fetching._origin(f"{plain}/x") == plain
    assert fetching._origin(f"{plain}:{fetching._PORTS[plain.partition(':')[0]]}/x") == plain
    assert fetching._origin(other) != plain


def test_headers_are_looked_up_and_go_only_where_they_are_meant_to(server):
    with serving() as other:
        other.put("/api.json", SIMPLE)
        server.put("/old", b"", 302, Location=f"{other.url}/api.json")
        location = with_headers(
            f"{server.url}/old", ["Authorization: Bearer ${TOKEN}", "X-Team: a b&c=d#e"]
        )
        assert "${TOKEN}" in location
        [found] = scan(location, environ={"TOKEN": "s3cret"})
        assert isinstance(found, Candidate)
        assert "s3cret" not in json.dumps(found.fields)
        [(path, sent)] = server.asked
        assert path == "/old"
        assert (sent["Authorization"], sent["X-Team"]) == ("Bearer s3cret", "a b&c=d#e")
        [(_, sent)] = other.asked
        assert "Authorization" not in sent
        assert "X-Team" not in sent
    assert "the variable TOKEN is not set" in complaint(location)


def test_a_header_may_have_a_default():
    location = with_headers("https://a.test/x", ["X-Team: ${TEAM:-mine}"])
    assert headers_of(location) == {"X-Team": "${TEAM:-mine}"}


@pytest.mark.parametrize(
    "header",
    ["Authorization: Bearer abcdef123456", "X-Api-Key: 8f7d6s5a", "no colon", ": x", "a\n: b"],
)
def test_a_secret_or_a_broken_header_is_not_stored(header):
    with pytest.raises(UsageError) as raised:
        with_headers("https://a.test/x", [header])
    assert "abcdef123456" not in str(raised.value)
    assert "8f7d6s5a" not in str(raised.value)


def test_headers_are_for_addresses():
    assert with_headers("api.json", []) == "api.json"
    with pytest.raises(UsageError):
        with_headers("api.json", ["X-A: b"])


@pytest.mark.parametrize(
    ("status", "told"), [(404, "answers 404"), (500, "answers 500"), (401, "--header")]
)
def test_an_answer_that_is_no_document_is_told_with_its_address(server, status, told):
    server.put("/a", b"", status)
    said = complaint(f"{server.url}/a")
    assert f"{server.url}/a" in said
    assert told in said


def test_a_server_that_is_not_there_is_told_with_its_address():
    with serving() as gone:
        url = gone.url
    assert url in complaint(f"{url}/a", seconds=5)


@pytest.mark.parametrize("address", ["http://", "http://[::1", "https://a b/c", "http://\u2028/"])
def test_an_address_that_is_none_is_an_error(address):
    complaint(address, seconds=2)


def test_a_server_that_sends_a_little_every_now_and_then_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as aside:
        sending = aside.submit(drip, server)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/api.json"
        assert "took longer than 0.5 s" in complaint(address, seconds=0.5)
        assert sending.result(30) < 100


def drip(server):
    """A byte of a header every tenth of a second, until nobody listens or ten seconds are over."""
    connection, _ = server.accept()
    with connection, suppress(OSError):
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        for sent in range(100):
            connection.settimeout(0.1)
            with suppress(TimeoutError):
                if not connection.recv(1):
                    return sent
            connection.sendall(b"x")
        return 100
    return 0


def test_all_documents_together_have_an_end_too(server, monkeypatch):
    monkeypatch.setattr(fetching, "MOST_SECONDS", 0)
    server.put("/api.json", SIMPLE)
    assert "took longer" in complaint(f"{server.url}/api.json")


def test_what_may_be_secret_in_an_address_is_not_told(server):
    server.put("/old", b"", 302, Location="/new?sig=s3cret")
    server.put("/new?sig=s3cret", b"<html>")
    for status in (200, 403):
        server.put("/new?sig=s3cret", b"<html>", status)
        said = complaint(f"{server.url}/old")
        assert f"{server.url}/new " in said
        assert "s3cret" not in said


def test_a_page_for_people_is_told_from_a_document(server):
    server.put("/docs", b"<!DOCTYPE html><html>")
    assert "web page" in complaint(f"{server.url}/docs")
