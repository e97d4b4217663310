import base64
import json

import pytest
from api_parts import called, manifest
from api_service import Reply
from hypothesis import given
from hypothesis import strategies as st

from pegboard.execute.api.filenames import MAX_NAME, name_of
from pegboard.model.calls import Outcome


def answered(service, body, path="/next", method="GET", status=200, secrets=None, **headers):
    told = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    service.next.append(Reply(status, body, told))
    return called(manifest(url=service.url + path, method=method), secrets=secrets)


@pytest.mark.parametrize("kind", ["application/json", "application/problem+json", "text/json"])
def test_json_is_given_as_text_and_as_it_is(service, kind):
    result = answered(service, b'{"a": [1, null]}', content_type=f"{kind}; charset=utf-8")
    assert result.outcome is Outcome.OK
    assert result.structured == {"a": [1, None]}
    assert result.content == ({"type": "text", "text": '{"a": [1, null]}'},)
    assert result.sandbox is None


@pytest.mark.parametrize(("text", "value"), [("[1]", [1]), ('"x"', "x"), ("null", None), ("3", 3)])
def test_what_is_no_object_is_put_into_one(service, text, value):
    result = answered(service, text.encode(), content_type="application/json")
    assert result.structured == {"result": value}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 5_000 + b"]" * 5_000,
        b"[" * 500 + b"]" * 500,
        b"NaN",
        b"[Infinity]",
        b"1" * 5_000,
    ],
)
def test_json_that_is_none_or_too_deep_is_text(service, body):
    result = answered(service, body, content_type="application/json")
    assert result.outcome is Outcome.OK
    assert result.structured is None
    assert result.content[0]["text"] == body.decode()
    assert "cannot be read as such" in result.logs


def test_half_a_character_in_json_is_replaced(service):
    result = answered(
        service, rb'{"a\ud800": "b\ud83d\ude00\udfff"}', content_type="application/json"
    )
    assert result.structured == {"a\ufffd": "b\U0001f600\ufffd"}
    json.dumps(result.structured, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/plain", "Grüße".encode(), "Grüße"),
        ("text/plain; charset=iso-8859-1", "Grüße".encode("latin-1"), "Grüße"),
        ('text/html; charset="windows-1252"', "€".encode("cp1252"), "€"),
        ("text/plain; charset=utf-16", "Grüße".encode("utf-16"), "Grüße"),
        ("text/csv; charset=nonsense", b"a,b", "a,b"),
        ("text/plain; charset=punycode", b"a-b", "a-b"),
        ("text/plain; charset=unicode_escape", rb"a\x41", r"a\x41"),
        ("text/plain", b"\xef\xbb\xbfbom", "bom"),
        ("text/plain", b"\xff", "\ufffd"),
        ("application/xml", b"<a/>", "<a/>"),
        ("application/atom+xml", b"<a/>", "<a/>"),
        ("application/x-ndjson", b"{}\n{}", "{}\n{}"),
    ],
)
def test_texts_are_texts(service, kind, body, text):
    result = answered(service, body, content_type=kind)
    assert result.content == ({"type": "text", "text": text},)
    assert result.structured is None
    assert result.artifacts == ()


def test_without_a_type_it_is_what_it_looks_like(service):
    assert answered(service, b' {"a": 1}').structured == {"a": 1}
    assert answered(service, b"plain").content[0]["text"] == "plain"
    assert answered(service, b"\x00\xff").artifacts[0].content == b"\x00\xff"


def test_an_empty_answer_is_an_empty_text(service):
    empty = ({"type": "text", "text": ""},)
    assert answered(service, b"", status=204).content == empty
    assert answered(service, b"", content_type="application/json").content == empty
    head = answered(service, b"", method="HEAD", content_encoding="gzip")
    assert (head.outcome, head.content) == (Outcome.OK, empty)


def test_anything_else_is_a_file(service):
    told = {
        "content_type": "application/pdf",
        "content_disposition": 'attachment; filename="r 1.pdf"',
    }
    result = answered(service, b"%PDF\x00", **told)
    assert result.content == ({"type": "text", "text": "r 1.pdf: application/pdf, 5 bytes"},)
    [file] = result.artifacts
    assert file == ("r 1.pdf", "application/pdf", b"%PDF\x00")


def test_a_small_image_is_shown_too(service):
    result = answered(
        service, b"\x89PNG", path="/next/pictures/cat%20one.png?x=1", content_type="image/png"
    )
    text, image = result.content
    assert text["text"].startswith("cat one.png")
    assert image["mimeType"] == "image/png"
    assert base64.b64decode(image["data"]) == b"\x89PNG"
    large = answered(service, bytes(1 << 20), content_type="image/png")
    assert len(large.content) == 1
    assert len(large.artifacts[0].content) == 1 << 20


@pytest.mark.parametrize(
    ("disposition", "path", "kind", "name"),
    [
        ('attachment; filename="../../etc/passwd"', "/x", "", "passwd"),
        ('attachment; filename="..\\\\..\\\\evil.exe"', "/x", "", "evil.exe"),
        ("attachment; filename*=UTF-8''na%C3%AFve%2F..%2Fx.txt", "/x", "", "x.txt"),
        ('attachment; filename="..."', "/files/report", "application/pdf", "report.pdf"),
        ('attachment; filename=".bashrc"', "/x", "", "bashrc"),
        ('attachment; filename="a\x07b\u202egpj.exe"', "/x", "", "abgpj.exe"),
        ('attachment; filename="CON.txt"', "/x", "", "_CON.txt"),
        ("", "/a/%2e%2e%2fb.zip", "", "b.zip"),
        ("", "/", "image/png", "answer.png"),
        ("", "/x/", "", "x"),
        ('attachment; filename="' + "é" * 500 + '.tar"', "/", "", "é" * 116 + ".tar"),
    ],
)
def test_a_file_has_a_name_that_is_safe(disposition, path, kind, name):
    assert name_of(disposition, path, kind) == name


@given(st.text(), st.text(), st.text(max_size=20))
def test_whatever_is_said_the_name_stays_in_its_folder(disposition, path, kind):
    for said in (disposition, f'attachment; filename="{disposition}"'):
        name = name_of(said, path, kind)
        assert name and name.strip(". ") and not set(name) & set("/\\\0\r\n:")
        assert len(name) <= MAX_NAME + 10


def test_an_error_has_the_status_and_what_the_service_says(service):
    result = answered(
        service, b'{"why": "no such pet"}', status=404, content_type="application/json"
    )
    assert (result.outcome, result.error) == (Outcome.FAILED, "HTTP 404 Not Found")
    assert result.content[0]["text"] == '{"why": "no such pet"}'
    assert result.structured is None
    odd = answered(service, b"\x00", status=599, content_type="image/png")
    assert (odd.outcome, odd.error, odd.content) == (Outcome.FAILED, "HTTP 599", ())


def test_a_secret_at_the_edge_of_what_is_cut_is_not_shown(service):
    secret = "tell-nobody-about-this"
    service.next.append(
        Reply(400, b"x" * 3_990 + secret.encode(), (("content-type", "text/plain"),))
    )
    item = manifest(url=f"{service.url}/next", headers={"X-Key": "${KEY}"})
    result = called(item, secrets={"KEY": secret})
    assert "tell" not in result.content[0]["text"]


def test_what_helps_to_go_on_is_told_beside_the_result(service):
    result = answered(
        service,
        b"{}",
        content_type="application/json",
        link='<https://x/?page=2>; rel="next"',
        x_ratelimit_remaining="7",
        set_cookie="sid=hush",
        x_other="1",
    )
    assert result.meta == {
        "http": {
            "status": 200,
            "content-type": "application/json",
            "link": '<https://x/?page=2>; rel="next"',
            "x-ratelimit-remaining": "7",
        }
    }


def test_a_large_answer_is_read_like_a_small_one(service):
    body = json.dumps(["x" * 1_000] * 2_000).encode()
    result = answered(service, body, content_type="application/json")
    assert len(result.structured["result"]) == 2_000


def test_where_it_was_made_is_told(service):
    result = answered(service, b"{}", status=201, location="/pets/7")
    assert result.meta["http"]["location"] == "/pets/7"
