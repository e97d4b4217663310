"""Operations of documents, all the way: source, gate, executor, service."""

import base64
import json
from email.parser import BytesParser
from urllib.parse import parse_qs, parse_qsl

import pytest
from api_parts import arrived, called, described, items, job
from api_service import heard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.execute.api.executor import secret_names
from pegboard.model.calls import Outcome

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def parameter(name, place="query", **parts):
    return {"name": name, "in": place, "required": place == "path", "schema": {}, **parts}


def body(media_type, schema=None, required=True, **parts):
    content = {media_type: {"schema": schema or {}, **parts}}
    return {"requestBody": {"required": required, "content": content}}


def object_of(**properties):
    return {"type": "object", "properties": properties}


def test_each_argument_goes_to_its_place(tmp_path, service):
    item = described(
        tmp_path,
        service,
        "/echo/{id}/of/{kind}.json",
        "post",
        parameters=[
            parameter("id", "path"),
            parameter("kind", "path"),
            parameter("id", "query"),
            parameter("X-Trace", "header"),
            parameter("session", "cookie"),
        ],
        **body("application/json", object_of(id={"type": "string"}, title={"type": "string"})),
    )
    asked = arrived(
        item,
        {
            "id": "a/b",
            "kind": "x y",
            "id__query": 7,
            "X-Trace": "t-1",
            "session": "s=1",
            "id__body": "c",
            "title": "Ünï",
        },
    )
    assert asked.method == "POST"
    assert asked.path == "/echo/a%2Fb/of/x%20y.json"
    assert asked.query == "id=7"
    assert asked.header("x-trace") == "t-1"
    assert asked.header("cookie") == "session=s=1"
    assert json.loads(asked.body) == {"id": "c", "title": "Ünï"}
    assert asked.header("content-type") == "application/json"
    assert asked.header("accept") == "application/json, */*;q=0.1"


@pytest.mark.parametrize(
    ("value", "written"),
    [(True, "true"), (12, "12"), (1.5, "1.5"), (10**20, str(10**20)), ("null", "null")],
)
def test_values_that_are_no_texts_are_written_as_in_json(tmp_path, service, value, written):
    item = described(tmp_path, service, parameters=[parameter("q")])
    assert arrived(item, {"q": value}).query == f"q={written}"


def test_null_and_what_is_empty_are_left_out_of_a_query(tmp_path, service):
    named = [parameter(name, explode=False) for name in "abc"]
    item = described(tmp_path, service, parameters=named)
    assert arrived(item, {"a": None, "b": [], "c": {"x": None}}).query == ""


def test_null_in_a_list_is_refused(tmp_path, service):
    item = described(tmp_path, service, parameters=[parameter("q")])
    assert called(item, {"q": ["a", None]}).outcome is Outcome.INVALID_ARGUMENTS


def test_what_has_parts_inside_of_parts_is_written_in_json(tmp_path, service):
    item = described(tmp_path, service, parameters=[parameter("q")])
    asked = arrived(item, {"q": [{"a": [1]}, "b"]})
    assert parse_qs(asked.query) == {"q": ['{"a":[1]}', "b"]}


def test_deep_objects_go_to_any_depth(tmp_path, service):
    deep = parameter("filter", style="deepObject", explode=True)
    asked = arrived(
        described(tmp_path, service, parameters=[deep]),
        {"filter": {"made": {"gte": 5}, "tags": ["x", "y"], "items": [{"price": 1}]}},
    )
    assert parse_qsl(asked.query) == [
        ("filter[made][gte]", "5"),
        ("filter[tags][]", "x"),
        ("filter[tags][]", "y"),
        ("filter[items][0][price]", "1"),
    ]


@given(JSON_VALUES.filter(lambda value: value is not None))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_parameter_that_is_written_in_json_comes_as_it_was_given(run, tmp_path, service, value):
    said = {"name": "q", "in": "query", "content": {"application/json": {"schema": {}}}}
    result = run(job(described(tmp_path, service, parameters=[said]), {"q": value}))
    asked = heard(result.structured)
    [(name, written)] = parse_qsl(asked.query, keep_blank_values=True)
    assert (name, json.loads(written)) == ("q", value)


def test_reserved_characters_stand_for_themselves_if_that_is_allowed(tmp_path, service):
    plain, free = parameter("a"), parameter("b", allowReserved=True)
    asked = arrived(
        described(tmp_path, service, parameters=[plain, free]), {"a": "x/y:z", "b": "x/y:z&+#%"}
    )
    assert asked.query == "a=x%2Fy%3Az&b=x/y:z%26%2B%23%25"
    assert dict(parse_qsl(asked.query)) == {"a": "x/y:z", "b": "x/y:z&+#%"}


def test_a_list_stays_a_list_where_commas_are_reserved(tmp_path, service):
    free = parameter("b", allowReserved=True, explode=False)
    asked = arrived(described(tmp_path, service, parameters=[free]), {"b": ["1,2", "3"]})
    assert asked.query == "b=1%2C2,3"


@pytest.mark.parametrize("value", ["..", ".", "", [], None])
def test_a_part_of_a_path_cannot_lead_to_another_path(tmp_path, service, value):
    item = described(
        tmp_path, service, "/echo/{id}/x", "delete", parameters=[parameter("id", "path")]
    )
    result = called(item, {"id": value})
    assert result.outcome is Outcome.INVALID_ARGUMENTS
    assert service.asked == []


def test_slashes_in_a_part_of_a_path_are_kept_only_where_the_document_says_so(tmp_path, service):
    free = parameter("file", "path", allowReserved=True)
    item = described(tmp_path, service, "/echo/{file}", parameters=[free])
    assert arrived(item, {"file": "docs/a b.md"}).path == "/echo/docs/a%20b.md"
    assert called(item, {"file": "docs/../../admin"}).outcome is Outcome.INVALID_ARGUMENTS
    assert arrived(item, {"file": "a?b#c"}).path == "/echo/a%3Fb%23c"


def test_a_path_may_have_a_query_of_its_own(tmp_path, service):
    item = described(tmp_path, service, "/echo?action=list#part", parameters=[parameter("q")])
    assert arrived(item, {"q": "x"}).query == "action=list&q=x"


@pytest.mark.parametrize(
    "name", ["Host", "content-length", "Transfer-Encoding", "Connection", "Accept-Encoding"]
)
def test_headers_that_decide_where_a_request_ends_are_not_for_arguments(tmp_path, service, name):
    item = described(tmp_path, service, parameters=[parameter(name, "header")])
    result = called(item, {name: "1"})
    assert result.outcome is Outcome.INVALID_ARGUMENTS
    assert name in result.error
    assert service.asked == []
    assert arrived(item).header("host") == f"127.0.0.1:{service.port}"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", " a", "\ta"])
def test_an_argument_cannot_become_another_header(tmp_path, service, value):
    item = described(tmp_path, service, parameters=[parameter("X-One", "header")])
    assert called(item, {"X-One": value}).outcome is Outcome.INVALID_ARGUMENTS
    assert service.asked == []


def test_an_argument_cannot_become_another_cookie(tmp_path, service):
    item = described(tmp_path, service, parameters=[parameter("a", "cookie")])
    assert (
        arrived(item, {"a": "1; admin=1\r\nX: y"}).header("cookie")
        == "a=1%3B%20admin=1%0D%0AX:%20y"
    )


# Bodies


@given(JSON_VALUES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_body_of_any_kind_comes_as_it_was_given(run, tmp_path, service, value):
    item = described(tmp_path, service, method="post", **body("application/json"))
    result = run(job(item, {"body": value}))
    assert json.loads(heard(result.structured).body) == value


def test_the_exact_json_type_of_the_document_is_told(tmp_path, service):
    media_type = "application/vnd.shop.v2+json; charset=utf-8"
    item = described(tmp_path, service, method="put", **body(media_type))
    assert arrived(item, {"body": [1]}).header("content-type") == media_type


def test_an_optional_body_of_which_nothing_is_given_is_not_sent(tmp_path, service):
    spread = object_of(a={}, b={})
    optional = described(
        tmp_path, service, method="post", **body("application/json", spread, False)
    )
    required = described(tmp_path, service, method="post", **body("application/json", spread, True))
    asked = arrived(optional)
    assert (asked.body, asked.header("content-type"), asked.header("content-length")) == (
        b"",
        None,
        "0",
    )
    assert arrived(required).body == b"{}"
    assert arrived(optional, {"a": None}).body == b'{"a":null}'


def test_what_an_object_allows_beyond_its_properties_is_sent_too(tmp_path, service):
    schema = {**object_of(a={}), "additionalProperties": True}
    item = described(
        tmp_path,
        service,
        method="post",
        parameters=[parameter("q")],
        **body("application/json", schema),
    )
    asked = arrived(item, {"a": 1, "more": [2], "q": "x"})
    assert json.loads(asked.body) == {"a": 1, "more": [2]}
    assert asked.query == "q=x"


def test_a_form_is_encoded_and_its_lists_are_repeated(tmp_path, service):
    form = "application/x-www-form-urlencoded"
    schema = object_of(a={}, tags={}, where={}, deep={}, csv={}, told={}, gone={})
    encoding = {
        "deep": {"style": "deepObject", "explode": True},
        "csv": {"style": "form", "explode": False},
        "told": {"contentType": "application/json"},
    }
    item = described(tmp_path, service, method="post", **body(form, schema, encoding=encoding))
    asked = arrived(
        item,
        {
            "a": "x & y=z+ü",
            "tags": ["1", "2"],
            "where": {"x": 1},
            "deep": {"k": "v"},
            "csv": ["p", "q"],
            "told": ["j"],
            "gone": None,
        },
    )
    assert asked.header("content-type") == form
    assert parse_qsl(asked.body.decode()) == [
        ("a", "x & y=z+ü"),
        ("tags", "1"),
        ("tags", "2"),
        ("where", '{"x":1}'),
        ("deep[k]", "v"),
        ("csv", "p,q"),
        ("told", '["j"]'),
    ]


@given(
    st.dictionaries(st.text(min_size=1, max_size=6), st.text(max_size=8), min_size=1, max_size=4)
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_form_comes_as_it_was_given(run, tmp_path, service, value):
    schema = {"type": "object", "minProperties": 1}
    form = body("application/x-www-form-urlencoded", schema)
    result = run(job(described(tmp_path, service, method="post", **form), {"body": value}))
    asked = heard(result.structured)
    assert dict(parse_qsl(asked.body.decode(), keep_blank_values=True)) == value


def parts_of(asked):
    head = f"Content-Type: {asked.header('content-type')}\r\n\r\n".encode()
    whole = BytesParser().parsebytes(head + asked.body)
    assert whole.is_multipart()
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_filename(),
            part.get_content_type() if part["content-type"] else None,
            part.get_payload(decode=True),
        )
        for part in whole.get_payload()
    ]


def test_a_multipart_form_has_files_texts_and_json(tmp_path, service):
    binary = {"type": "string", "format": "binary"}
    schema = object_of(
        title={"type": "string"},
        file=binary,
        note=binary,
        photos={"type": "array", "items": {"$ref": "#/components/schemas/Photo"}},
        meta={"type": "object"},
        tags={"type": "array", "items": {"type": "string"}},
        icon={"type": "string"},
        count={"type": "integer"},
        data={"type": "string"},
    )
    item = described(
        tmp_path,
        service,
        method="post",
        components={"schemas": {"Photo": binary}},
        **body("multipart/form-data", schema, encoding={"icon": {"contentType": "image/png"}}),
    )
    packed = base64.b64encode(b"\x89PNG\x00\xff").decode()
    asked = arrived(
        item,
        {
            "title": 'Ünï "quoted"',
            "file": f"data:application/pdf;name=a%20b.pdf;base64,{packed}",
            "note": "plain text",
            "photos": [f"data:image/png;base64,{packed}", "data:,hello%20there"],
            "meta": {"a": [1]},
            "tags": ["x", "y"],
            "icon": f"data:;base64,{packed}",
            "count": 3,
            "data": "data:text/plain,not a file",
        },
    )
    assert parts_of(asked) == [
        ("title", None, None, 'Ünï "quoted"'.encode()),
        ("file", "a b.pdf", "application/pdf", b"\x89PNG\x00\xff"),
        ("note", "note", "application/octet-stream", b"plain text"),
        ("photos", "photos", "image/png", b"\x89PNG\x00\xff"),
        ("photos", "photos", "application/octet-stream", b"hello there"),
        ("meta", None, "application/json", b'{"a":[1]}'),
        ("tags", None, None, b"x"),
        ("tags", None, None, b"y"),
        ("icon", "icon", "image/png", b"\x89PNG\x00\xff"),
        ("count", None, None, b"3"),
        ("data", None, None, b"data:text/plain,not a file"),
    ]


def test_a_name_cannot_break_out_of_its_part(tmp_path, service):
    schema = {"type": "object", "minProperties": 1}
    item = described(tmp_path, service, method="post", **body("multipart/form-data", schema))
    asked = arrived(item, {"body": {'a"\r\nX-Evil: 1\r\n\r\nb': "value"}})
    [(name, _, _, content)] = parts_of(asked)
    assert content == b"value"
    assert "\r" not in name
    assert b"\r\nX-Evil" not in asked.body


def test_a_file_that_is_no_base64_is_refused(tmp_path, service):
    schema = object_of(file={"type": "string", "format": "binary"})
    item = described(tmp_path, service, method="post", **body("multipart/form-data", schema))
    assert called(item, {"file": "data:image/png;base64,?"}).outcome is Outcome.INVALID_ARGUMENTS
    broken = "data:image/png\r\nX-Evil: 1;base64,AA=="
    [(_, _, kind, content)] = parts_of(arrived(item, {"file": broken}))
    assert (kind, content) == ("application/octet-stream", broken.encode())


def test_texts_and_bytes_are_sent_as_they_are(tmp_path, service):
    plain = described(tmp_path, service, method="post", **body("text/plain", {"type": "string"}))
    assert arrived(plain, {"body": "data:,Grüße"}).body == "data:,Grüße".encode()
    assert arrived(plain, {"body": 5}).body == b"5"
    octets = described(tmp_path, service, method="post", **body("application/octet-stream"))
    assert arrived(octets, {"body": "data:;base64,AP8="}).body == b"\x00\xff"
    image = described(tmp_path, service, method="post", **body("image/*"))
    asked = arrived(image, {"body": "data:image/gif;base64,AP8="})
    assert (asked.header("content-type"), asked.body) == ("image/gif", b"\x00\xff")
    xml = described(tmp_path, service, method="post", **body("application/xml", {"type": "string"}))
    assert arrived(xml, {"body": "<a/>"}).body == b"<a/>"


def test_what_cannot_be_written_from_arguments_says_so(tmp_path, service):
    item = described(tmp_path, service, method="post", **body("application/xml", object_of(a={})))
    result = called(item, {"a": 1})
    assert result.outcome is Outcome.UNAVAILABLE
    assert "'application/xml', which cannot be written from an object" in result.error


def test_a_body_that_is_no_text_is_refused(tmp_path, service):
    item = described(tmp_path, service, method="post", **body("application/json"))
    for value in ("\ud800", {"a": float("nan")}):
        assert called(item, {"body": value}).outcome is Outcome.INVALID_ARGUMENTS
    query = described(tmp_path, service, parameters=[parameter("q")])
    assert called(query, {"q": "\ud800"}).outcome is Outcome.INVALID_ARGUMENTS


# Servers


def test_variables_of_a_server_have_their_defaults(tmp_path, service):
    url = service.url.replace("127.0.0.1", "{host}") + "/{base}"
    item = described(tmp_path, url)
    servers = [
        {"url": url, "variables": {"host": {"default": "127.0.0.1"}, "base": {"enum": ["v2"]}}}
    ]
    item = item._replace(executor={**item.executor, "servers": servers})
    assert arrived(item).path == "/v2/echo"
    del servers[0]["variables"]["host"]
    result = called(item)
    assert result.outcome is Outcome.UNAVAILABLE
    assert "has no default for host; set SHOP_HOST" in result.error
    assert arrived(item, secrets={"SHOP_HOST": "127.0.0.1"}).path == "/v2/echo"
    assert secret_names(item.executor, "shop") == ["SHOP_HOST"]


def test_a_token_in_the_address_is_a_secret_and_cannot_change_the_host(tmp_path, service):
    item = described(tmp_path, service)
    servers = [{"url": f"{service.url}/bot{{token}}"}]
    item = item._replace(executor={**item.executor, "servers": servers})
    assert arrived(item, secrets={"SHOP_TOKEN": "1:a/b"}).path == "/bot1%3Aa%2Fb/echo"
    servers[0]["url"] = f"http://{{token}}:{service.port}"
    result = called(item, secrets={"SHOP_TOKEN": "127.0.0.1/x?"})
    assert result.outcome is Outcome.UNAVAILABLE


def test_a_document_from_a_file_with_relative_servers_says_what_to_do(tmp_path):
    result = called(described(tmp_path, "/api/v1"))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "pegboard add openapi https://... --name shop" in result.error


def test_a_relative_server_counts_from_where_the_document_is_served(service):
    tool = items(f"{service.url}/openapi.json")["query_form_1"]
    assert arrived(tool, {"value": "x"}).path == "/echo/query/form/1"


def test_of_two_servers_that_differ_in_safety_the_safe_one_is_asked(tmp_path, service):
    item = described(tmp_path, service)
    safe = service.url.replace("http:", "https:")
    servers = [{"url": "/"}, {"url": service.url}, {"url": safe}]
    result = called(item._replace(executor={**item.executor, "servers": servers}))
    assert result.outcome is Outcome.UNAVAILABLE
    assert safe in result.error


def test_what_swagger_says_in_its_own_words_arrives_too(tmp_path, service):
    host = service.url.removeprefix("http://")
    document = {
        "swagger": "2.0",
        "info": {"title": "Old", "version": "1"},
        "host": host,
        "basePath": "/echo",
        "schemes": ["http"],
        "paths": {
            "/old/{id}": {
                "post": {
                    "operationId": "call",
                    "consumes": ["multipart/form-data"],
                    "parameters": [
                        {"name": "id", "in": "path", "type": "integer", "required": True},
                        *(
                            {
                                "name": kind,
                                "in": "query",
                                "type": "array",
                                "items": {"type": "string"},
                                "collectionFormat": kind,
                            }
                            for kind in ("csv", "ssv", "tsv", "pipes", "multi")
                        ),
                        {"name": "file", "in": "formData", "type": "file"},
                        {"name": "note", "in": "formData", "type": "string"},
                    ],
                    "responses": {"200": {"description": "Fine."}},
                }
            }
        },
    }
    file = tmp_path / "old.json"
    file.write_text(json.dumps(document), "utf-8")
    given = {kind: ["a", "b"] for kind in ("csv", "ssv", "tsv", "pipes", "multi")}
    asked = arrived(items(str(file))["call"], {"id": 7, **given, "file": "data:,x", "note": "n"})
    assert asked.path == "/echo/old/7"
    assert asked.query == "csv=a,b&ssv=a%20b&tsv=a%09b&pipes=a%7Cb&multi=a&multi=b"
    assert parts_of(asked) == [
        ("file", "file", "application/octet-stream", b"x"),
        ("note", None, None, b"n"),
    ]
