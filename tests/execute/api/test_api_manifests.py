import json
from urllib.parse import parse_qsl

import pytest
from api_parts import arrived, called, job, manifest
from api_service import Reply, heard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.execute.api.executor import secret_names
from pegboard.model.calls import Outcome

ANY = {name: {} for name in ("id", "q", "tags", "where", "on", "name", "more")}


def test_places_in_the_address_are_filled_and_encoded(service):
    item = manifest(ANY, url=f"{service.url}/echo/{{id}}/x?q={{q}}&v=1")
    asked = arrived(item, {"id": "a/b c", "q": "x&y=z"})
    assert (asked.path, asked.query) == ("/echo/a%2Fb%20c/x", "q=x%26y%3Dz&v=1")


def test_a_missing_part_of_the_path_is_named(service):
    result = called(manifest(ANY, url=f"{service.url}/echo/{{id}}"), {"q": "x"})
    assert result.outcome is Outcome.INVALID_ARGUMENTS
    assert "id is missing" in result.error
    assert service.asked == []


@pytest.mark.parametrize("value", ["..", ".", ""])
def test_a_part_of_the_path_cannot_lead_to_another_path(service, value):
    item = manifest(ANY, url=f"{service.url}/echo/{{id}}/x")
    assert called(item, {"id": value}).outcome is Outcome.INVALID_ARGUMENTS


def test_a_place_in_the_host_takes_only_what_names_have(service):
    item = manifest(ANY, url=f"http://{{name}}:{service.port}/echo")
    assert arrived(item, {"name": "127.0.0.1"}).path == "/echo"
    for value in ("127.0.0.1/x?", "a@127.0.0.1", "127.0.0.1:1", "a b", "127.0.0.1#"):
        assert called(item, {"name": value}).outcome is Outcome.INVALID_ARGUMENTS


def test_a_value_that_is_only_a_place_keeps_its_type(service):
    body = {"on": "{on}", "where": "{where}", "list": ["{id}", "fixed", "{q}"], "text": "n {id}"}
    item = manifest(ANY, url=f"{service.url}/echo", method="POST", body=body)
    asked = arrived(item, {"on": False, "where": {"a": [1, None]}, "id": 5})
    assert json.loads(asked.body) == {
        "on": False,
        "where": {"a": [1, None]},
        "list": [5, "fixed"],
        "text": "n 5",
    }


def test_what_names_an_argument_that_was_not_given_is_left_out(service):
    item = manifest(
        ANY,
        url=f"{service.url}/echo?own={{more}}&kept=1",
        method="POST",
        query={"a": "{q}", "b": "is {q}", "c": "yes"},
        headers={"X-A": "{q}", "X-B": "v {q}", "X-C": "yes"},
        body={"a": "{q}", "b": "is {q}", "c": None},
    )
    asked = arrived(item)
    assert asked.query == "kept=1&c=yes"
    assert [asked.header(f"x-{each}") for each in "abc"] == [None, None, "yes"]
    assert json.loads(asked.body) == {"c": None}


def test_lists_repeat_and_objects_are_json_in_a_query(service):
    item = manifest(
        ANY, url=f"{service.url}/echo", query={"t": "{tags}", "w": "{where}", "on": "{on}"}
    )
    asked = arrived(item, {"tags": ["a", "b"], "where": {"x": 1}, "on": True})
    assert parse_qsl(asked.query) == [("t", "a"), ("t", "b"), ("w", '{"x":1}'), ("on", "true")]


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "OPTIONS"])
def test_arguments_without_a_place_go_to_the_query(service, method):
    called(manifest(ANY, url=f"{service.url}/echo?a=1", method=method), {"q": "x", "id": None})
    [asked] = service.asked
    assert (asked.query, asked.body) == ("a=1&q=x", b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_or_to_a_json_body(service, method):
    asked = arrived(manifest(ANY, url=f"{service.url}/echo", method=method), {"q": "x", "id": 2})
    assert json.loads(asked.body) == {"q": "x", "id": 2}
    assert asked.header("content-type") == "application/json"


def test_beside_a_body_they_go_to_the_query(service):
    item = manifest(ANY, url=f"{service.url}/echo", method="POST", body={"a": 1})
    asked = arrived(item, {"q": "x"})
    assert (asked.query, json.loads(asked.body)) == ("q=x", {"a": 1})


def test_braces_that_name_no_argument_stand_for_themselves(service):
    item = manifest(
        {"q": {}}, url=f"{service.url}/echo", method="POST", body={"query": "{viewer}{q}"}
    )
    assert json.loads(arrived(item, {"q": "!"}).body) == {"query": "{viewer}!"}


def test_a_content_type_decides_how_the_body_is_written(service):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    item = manifest(ANY, url=f"{service.url}/echo", method="POST", headers=form, body={"a": "{q}"})
    assert arrived(item, {"q": "x y"}).body == b"a=x%20y"
    text = {"content-type": "text/plain"}
    item = manifest(ANY, url=f"{service.url}/echo", method="POST", headers=text, body="hello {q}")
    asked = arrived(item, {"q": "you"})
    assert (asked.body, asked.header("content-type")) == (b"hello you", "text/plain")


def test_secrets_are_filled_in_by_reference(service):
    item = manifest(
        ANY,
        url=f"{service.url}/echo/bot${{BOT}}/x",
        method="POST",
        headers={"Authorization": "Bearer secret://TOKEN"},
        query={"key": "${KEY}"},
        body={"inner": ["secret://BODY"]},
    )
    secrets = {"BOT": "b/1", "TOKEN": "t-123\n", "KEY": "k&1", "BODY": "x"}
    asked = arrived(item, secrets=secrets)
    assert asked.path == "/echo/botb%2F1/x"
    assert asked.header("authorization") == "Bearer t-123"
    assert parse_qsl(asked.query) == [("key", "k&1")]
    assert json.loads(asked.body) == {"inner": ["x"]}
    assert secret_names(item.executor, "tools") == ["BOT", "TOKEN", "KEY", "BODY"]


def test_a_missing_secret_makes_it_unavailable_and_is_named(service):
    item = manifest(url=f"{service.url}/echo", headers={"X-Key": "${NO_SUCH_KEY}"})
    result = called(item)
    assert result.outcome is Outcome.UNAVAILABLE
    assert "there is no secret NO_SUCH_KEY" in result.error
    assert service.asked == []


@pytest.mark.parametrize("trick", ["secret://OTHER", "${OTHER}", "{id}", "x${OTHER}x"])
def test_an_argument_is_never_looked_into(service, trick):
    """It cannot name a secret, nor another argument."""
    item = manifest(
        ANY,
        url=f"{service.url}/echo/{{name}}",
        method="POST",
        query={"a": "{q}", "b": "v {q}"},
        headers={"X-A": "{q}"},
        body={"a": "{q}", "b": ["v {q}"]},
    )
    asked = arrived(item, {"q": trick, "name": trick, "id": "inner"}, secrets={"OTHER": "hush"})
    assert json.loads(asked.body) == {"a": trick, "b": [f"v {trick}"]}
    assert asked.header("x-a") == trick
    assert dict(parse_qsl(asked.query)) == {"a": trick, "b": f"v {trick}", "id": "inner"}
    assert "hush" not in str(asked)


def test_a_secret_is_never_looked_into_either(service):
    item = manifest(ANY, url=f"{service.url}/echo", headers={"X-A": "${KEY}"})
    asked = arrived(item, {"q": "argument"}, secrets={"KEY": "{q} ${OTHER}", "OTHER": "no"})
    assert asked.header("x-a") == "{q} ${OTHER}"


def test_no_message_shows_a_part_of_a_secret(service):
    """What is cut in the middle of a secret would not be recognised as one."""
    secret = "k/" + "abcdefgh" * 40
    for config in (
        {"url": f"http://${{KEY}}:{service.port}/echo"},
        {
            "url": f"{service.url}/echo",
            "method": "POST",
            "body": "${KEY}",
            "headers": {"Content-Type": "application/x-www-form-urlencoded"},
        },
        {"url": f"{service.url}/echo\\${{KEY}}"},
    ):
        result = called(manifest(**config), secrets={"KEY": secret})
        assert result.outcome is not Outcome.OK
        assert "abcdefgh" not in result.error.replace(secret, "")


def test_a_header_from_an_argument_cannot_have_more_than_one_line(service):
    item = manifest(ANY, url=f"{service.url}/echo", headers={"X-A": "v {q}"})
    assert called(item, {"q": "a\r\nX-Evil: 1"}).outcome is Outcome.INVALID_ARGUMENTS


def test_a_manifest_cannot_set_the_host(service):
    item = manifest(url=f"{service.url}/echo", headers={"Host": "other.example"})
    result = called(item)
    assert result.outcome is Outcome.UNAVAILABLE
    assert "the header Host is set by Pegboard" in result.error


@given(st.dictionaries(st.sampled_from(sorted(ANY)), st.text(max_size=10), min_size=1))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_arguments_the_service_reads_them_as_they_were_given(run, service, arguments):
    result = run(job(manifest(ANY, url=f"{service.url}/echo"), arguments))
    asked = heard(result.structured)
    assert dict(parse_qsl(asked.query, keep_blank_values=True)) == arguments


ANSWER = {"data": {"items": [{"name": "a", "x/y": 1}, {"name": "b"}], "n": 2}, "a.b": "dotted"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("data.items.0.name", "a"),
        ("$.data.items[1].name", "b"),
        ("data.items[*].name", ["a", "b"]),
        ("/data/items/0/x~1y", 1),
        ("data.n", 2),
        ("data", ANSWER["data"]),
        ("$['a.b']", "dotted"),
        ("$", ANSWER),
    ],
)
def test_a_part_of_the_answer_is_given_back(service, path, found):
    service.next.append(
        Reply(200, json.dumps(ANSWER).encode(), (("content-type", "application/json"),))
    )
    result = called(manifest(url=f"{service.url}/next", response_path=path))
    assert result.outcome is Outcome.OK
    assert result.structured == (found if isinstance(found, dict) else {"result": found})
    [block] = result.content
    assert block["text"] == (found if isinstance(found, str) else json.dumps(found))


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("data.things", "data has no 'things', but only items, n"),
        ("data.items.7", "data.items has no '7', but 2 entries"),
        ("data.n.x", "data.n has no 'x', but is int"),
        ("nothing", "the answer has no 'nothing', but only data, a.b"),
        ("data[", "cannot be read at '['"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_ends(service, path, complaint):
    service.next.append(Reply(200, json.dumps(ANSWER).encode()))
    result = called(manifest(url=f"{service.url}/next", response_path=path))
    assert result.outcome is Outcome.FAILED
    assert complaint in result.error


def test_a_path_into_an_answer_that_is_no_json_fails(service):
    service.next.append(Reply(200, b"hello"))
    result = called(manifest(url=f"{service.url}/next", response_path="a"))
    assert result.outcome is Outcome.FAILED
    assert "the answer is no JSON" in result.error
