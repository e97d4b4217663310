"""Operations of LightAPI descriptions, all the way: source, gate, executor, service."""

import base64
import json
from urllib.parse import parse_qs, parse_qsl

import pytest
import yaml
from api_parts import arrived, called
from api_service import Reply

from pegboard.execute.api.executor import secret_names
from pegboard.gate.admission import admit
from pegboard.model.calls import Outcome
from pegboard.model.items import Candidate, Item
from pegboard.sources.lightapi.source import LightApiSource

INPUT = {"schema": {"type": "object", "properties": {name: {} for name in ("id", "q", "where")}}}


def light(folder, service, operation, **parts):
    """The tool of a description with one operation, `call`."""
    url = service if isinstance(service, str) else service.url
    document = {
        "lightapi": "0.1.0",
        "info": {"title": "One", "namespace": "test", "version": "1"},
        "environments": {"test": {"variables": {"host": url, "base": "${env.host}/echo"}}},
        "operations": {
            "call": {
                "protocol": "http",
                "summary": "Calls it.",
                "input": INPUT,
                **operation,
            }
        },
        **parts,
    }
    file = folder / "one.lightapi.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    [found] = LightApiSource("courier", str(file)).scan({})
    assert isinstance(found, Candidate), found
    item = admit(found)
    assert isinstance(item, Item), item
    return item


GET = {"method": "GET", "endpoint": "${env.base}/{id}"}
POST = {"method": "POST", "endpoint": "${env.base}"}


def test_arguments_go_where_the_description_has_them(tmp_path, service):
    asked = arrived(light(tmp_path, service, GET), {"id": "a/b", "q": ["x", "y z"]})
    assert (asked.method, asked.path) == ("GET", "/echo/a%2Fb")
    assert parse_qsl(asked.query) == [("q", "x"), ("q", "y z")]
    asked = arrived(light(tmp_path, service, POST), {"id": 1, "where": {"x": [2]}})
    assert json.loads(asked.body) == {"id": 1, "where": {"x": [2]}}


def test_a_request_that_is_written_out_is_made_so(tmp_path, service):
    request = {
        "headers": {"X-Id": "no ${input.id}", "X-Gone": "${input.q}"},
        "query": {"inner": "${input.where.x}", "all": "${input}"},
        "cookies": {"c": "${input.id}"},
        "body": {"kept": "${input.where}", "gone": "${input.q}", "fixed": [1]},
    }
    item = light(tmp_path, service, {**POST, "request": request})
    asked = arrived(item, {"id": 7, "where": {"x": True}})
    assert asked.header("x-id") == "no 7"
    assert asked.header("x-gone") is None
    assert asked.header("cookie") == "c=7"
    assert parse_qs(asked.query) == {"inner": ["true"], "all": ['{"id":7,"where":{"x":true}}']}
    assert json.loads(asked.body) == {"kept": {"x": True}, "fixed": [1]}


@pytest.mark.parametrize("value", ["${secrets.key}", "${env.base}", "{id}"])
def test_an_argument_is_never_looked_into(tmp_path, service, value):
    item = light(tmp_path, service, GET)
    asked = arrived(item, {"id": value, "q": value}, secrets={"COURIER_KEY": "hush"})
    assert parse_qs(asked.query) == {"q": [value]}
    assert "hush" not in str(asked)


@pytest.mark.parametrize("value", ["..", "", None])
def test_a_part_of_the_path_cannot_lead_to_another_path(tmp_path, service, value):
    assert called(light(tmp_path, service, GET), {"id": value}).outcome is Outcome.INVALID_ARGUMENTS


def test_of_several_environments_one_has_to_be_chosen(tmp_path, service):
    environments = {
        "test": {"variables": {"base": f"{service.url}/echo/test"}},
        "live": {"variables": {"base": f"{service.url}/echo/live"}},
    }
    item = light(tmp_path, service, POST, environments=environments)
    assert arrived(item, environment="live").path == "/echo/live"
    result = called(item)
    assert result.outcome is Outcome.UNAVAILABLE
    assert "courier has the environments" in result.error
    assert "run.environment" in result.error


def test_a_variable_that_names_itself_is_not_followed_for_ever(tmp_path, service):
    environments = {"test": {"variables": {"base": "${env.host}", "host": "${env.base}"}}}
    result = called(light(tmp_path, service, POST, environments=environments))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "names itself" in result.error


@pytest.mark.parametrize(
    ("said", "header", "value"),
    [
        ({"type": "bearer", "token": "${secrets.theKey}"}, "authorization", "Bearer k-1"),
        (
            {"type": "apiKey", "in": "header", "name": "X-K", "value": "${secrets.theKey}"},
            "x-k",
            "k-1",
        ),
        ({"type": "custom", "headers": {"X-C": "v ${secrets.theKey}"}}, "x-c", "v k-1"),
        (
            {"type": "basic", "username": "ada", "password": "${secrets.theKey}"},
            "authorization",
            "Basic " + base64.b64encode(b"ada:k-1").decode(),
        ),
        ({"type": "none"}, "authorization", None),
    ],
)
def test_a_login_is_made_from_secrets_of_the_source(tmp_path, service, said, header, value):
    item = light(tmp_path, service, {**POST, "authentication": said})
    assert arrived(item, secrets={"COURIER_THEKEY": "k-1"}).header(header) == value
    if value is not None:
        assert secret_names(item.executor, "courier") == ["COURIER_THEKEY"]
        result = called(item)
        assert result.outcome is Outcome.UNAVAILABLE
        assert "COURIER_THEKEY" in result.error


def test_a_token_is_fetched_from_the_authority(tmp_path, service):
    service.valid = "t-1"
    service.tokens.append(Reply(200, b'{"access_token": "t-1"}'))
    login = {
        "type": "oauth2",
        "authority": f"{service.url}/token/",
        "grant": "client_credentials",
        "client": {
            "id": "${secrets.id}",
            "secret": "${secrets.pass}",
            "authentication": "client_secret_post",
        },
        "scopes": ["parcels.read"],
    }
    operation = {"method": "GET", "endpoint": "${env.host}/guarded", "authentication": login}
    secrets = {"COURIER_ID": "me", "COURIER_PASS": "hush"}
    arrived(light(tmp_path, service, operation), secrets=secrets)
    assert parse_qs(service.asked[0].body.decode()) == {
        "grant_type": ["client_credentials"],
        "scope": ["parcels.read"],
        "client_id": ["me"],
        "client_secret": ["hush"],
    }


def test_a_login_that_is_not_known_makes_it_unavailable(tmp_path, service):
    said = {"type": "mtls", "certificate": "${secrets.cert}", "privateKey": "${secrets.key}"}
    result = called(light(tmp_path, service, {**POST, "authentication": said}))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "its authentication is mtls" in result.error


RPC = {"protocol": "jsonrpc", "method": "price.quote", "endpoint": "${env.host}/next"}


def rpc_reply(**parts):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, **parts}).encode()
    return Reply(200, body, (("content-type", "application/json"),))


def test_json_rpc_is_spoken_over_http(tmp_path, service):
    service.next.append(rpc_reply(result={"price": 5}))
    result = called(light(tmp_path, service, RPC), {"id": 7})
    assert (result.outcome, result.structured) == (Outcome.OK, {"price": 5})
    assert result.content == ({"type": "text", "text": '{"price": 5}'},)
    [asked] = service.asked
    assert json.loads(asked.body) == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "price.quote",
        "params": {"id": 7},
    }


def test_an_error_of_json_rpc_is_a_failure(tmp_path, service):
    service.next.append(rpc_reply(error={"code": -32602, "message": "no such parcel"}))
    result = called(light(tmp_path, service, RPC), {"id": 7})
    assert result.outcome is Outcome.FAILED
    assert result.error == "the service answered with error -32602: no such parcel"


@pytest.mark.parametrize(
    ("operation", "word"),
    [
        ({**RPC, "transport": "websocket"}, "WebSocket"),
        ({"protocol": "grpc", "service": "a.B", "method": "C", "endpoint": {"host": "x"}}, "grpc"),
    ],
)
def test_other_protocols_are_not_spoken(tmp_path, service, operation, word):
    result = called(light(tmp_path, service, operation))
    assert result.outcome is Outcome.UNAVAILABLE
    assert f"it is called by {word}, which Pegboard does not speak" in result.error


OPENAPI = {
    "openapi": "3.0.3",
    "info": {"title": "Backing", "version": "1"},
    "servers": [{"url": "https://elsewhere.example"}],
    "paths": {
        "/echo/{id}": {
            "get": {
                "operationId": "track",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                    {"name": "q", "in": "query", "explode": False, "schema": {"type": "array"}},
                ],
                "responses": {"200": {"description": "Fine."}},
            }
        }
    },
}


def test_an_operation_that_openapi_describes_is_called_as_that_says(tmp_path, service):
    (tmp_path / "api.json").write_text(json.dumps(OPENAPI), "utf-8")
    source = {
        "type": "openapi",
        "version": "1",
        "document": "./api.json",
        "servers": {"test": {"endpoint": service.url}},
    }
    operation = {"source": "backing", "operationId": "track", "input": {}}
    item = light(tmp_path, service, operation, sources={"backing": source})
    asked = arrived(item, {"id": "a b", "q": ["1", "2"]})
    assert (asked.path, asked.query) == ("/echo/a%20b", "q=1,2")
