"""Whatever a document says, only candidates, rejections, what is left out or an error come out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openapi_parts import OK, document, json_body, operation, scan

from pegboard.errors import SourceError
from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Item, LeftOut, Rejection

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=4)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=5,
)
references = st.sampled_from(
    [
        "#/components/schemas/A",
        "#/components/parameters/A",
        "#",
        "#/paths/~1x",
        "x.json",
        "",
        "#/a/b",
    ]
)


def odd(strategy):
    """What belongs there, something else, or a reference."""
    return strategy | anything | st.fixed_dictionaries({"$ref": references | anything})


schemas = st.recursive(
    odd(st.fixed_dictionaries({"type": st.sampled_from(["string", "object", "array", "file"])})),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": odd(st.dictionaries(st.text(max_size=3), inner, max_size=2)),
            "items": inner,
            "allOf": odd(st.lists(inner, max_size=2)),
            "required": odd(st.lists(st.text(max_size=3), max_size=2)),
        },
    ),
    max_leaves=4,
)
parameters = st.fixed_dictionaries(
    {},
    optional={
        "name": odd(st.sampled_from(["id", "a", "x\u200by"])),
        "in": odd(st.sampled_from(["path", "query", "header", "cookie", "body", "formData"])),
        "schema": schemas,
        "content": odd(st.dictionaries(st.text(max_size=3), odd(anything), max_size=2)),
        "required": anything,
        "style": anything,
        "collectionFormat": anything,
        "type": anything,
        "example": anything,
        "examples": anything,
    },
)
contents = odd(
    st.dictionaries(
        st.sampled_from(["application/json", "text/plain", "multipart/form-data", ""]),
        odd(st.fixed_dictionaries({"schema": schemas}, optional={"encoding": odd(anything)})),
        max_size=2,
    )
)
operations = st.fixed_dictionaries(
    {},
    optional={
        "operationId": odd(st.sampled_from(["list", "a b", "x\u200by", "y" * 300])),
        "summary": anything,
        "description": anything,
        "tags": odd(st.lists(scalars, max_size=2)),
        "parameters": odd(st.lists(odd(parameters), max_size=3)),
        "requestBody": odd(st.fixed_dictionaries({"content": contents})),
        "responses": odd(
            st.dictionaries(
                st.sampled_from(["200", "2XX", "default", "x"]),
                odd(st.fixed_dictionaries({"content": contents, "schema": schemas})),
                max_size=2,
            )
        ),
        "security": odd(st.lists(odd(st.dictionaries(st.text(max_size=2), anything, max_size=2)))),
        "servers": odd(
            st.lists(
                odd(st.fixed_dictionaries({"url": anything, "variables": anything})), max_size=2
            )
        ),
        "consumes": anything,
        "schemes": anything,
        "deprecated": anything,
        "x-tool-metadata": odd(st.fixed_dictionaries({"routing": anything})),
    },
)
documents = st.fixed_dictionaries(
    {
        "paths": odd(
            st.dictionaries(
                st.sampled_from(["/x", "/x/{id}", "/{a}/{a}", "x-y", "", "/\u200b", "/"]),
                odd(
                    st.dictionaries(
                        st.sampled_from(["get", "post", "parameters", "servers", "x"]),
                        odd(operations),
                        max_size=3,
                    )
                ),
                max_size=3,
            )
        )
    },
    optional={
        "openapi": st.sampled_from(["3.0.0", "3.1.0", "3.9", 3, 3.1]) | anything,
        "swagger": st.sampled_from(["2.0", 2.0, 2]) | anything,
        "components": odd(
            st.fixed_dictionaries(
                {},
                optional={
                    "schemas": odd(st.dictionaries(st.just("A"), schemas, max_size=1)),
                    "parameters": odd(st.dictionaries(st.just("A"), odd(parameters), max_size=1)),
                    "securitySchemes": odd(anything),
                },
            )
        ),
        "host": anything,
        "basePath": anything,
        "security": odd(anything),
        "servers": odd(anything),
        "securityDefinitions": odd(anything),
    },
)


@given(documents)
def test_any_document_brings_findings_or_an_error_with_a_hint(tmp_path_factory, said):
    try:
        found = scan(tmp_path_factory.getbasetemp(), said)
    except SourceError as error:
        assert error.message
        assert error.hint
        return
    origins = [each.origin for each in found]
    assert len(origins) == len(set(origins))
    for each in found:
        assert isinstance(each, Candidate | Rejection | LeftOut)
        if isinstance(each, Candidate):
            assert isinstance(admit(each), Item), admit(each)
        if isinstance(each, Rejection):
            assert each.code
            assert each.reason


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_an_error_with_a_hint(tmp_path_factory, content):
    with pytest.raises(SourceError) as raised:
        scan(tmp_path_factory.getbasetemp(), content)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "holds no object"),
        ("[]", "holds no object"),
        ("a: 1", "neither 'openapi' nor 'swagger'"),
        ("openapi: 1.2.0", "version '1.2.0'"),
        ("swagger: '1.2'", "version '1.2'"),
        ("openapi: [3]", "which is not known here"),
        ("openapi: 3.0.0\npaths: []", "'paths'"),
    ],
)
def test_what_is_no_openapi_is_told_so(tmp_path, content, told):
    with pytest.raises(SourceError, match=r"api\.json") as raised:
        scan(tmp_path, content)
    assert told in raised.value.message
    assert raised.value.hint


def test_a_document_without_paths_has_no_operations(tmp_path):
    assert scan(tmp_path, {"openapi": "3.1.0", "webhooks": {"x": {"post": OK}}}) == []


def test_an_operation_that_is_no_object_costs_only_itself(tmp_path):
    found = scan(tmp_path, document({"/a": {"get": 7, "put": OK}, "/b": [], "/c": None, "x-d": 1}))
    assert [(each.origin, type(each).__name__) for each in found] == [
        ("GET /a", "Rejection"),
        ("PUT /a", "Candidate"),
        ("/b", "Rejection"),
    ]


def test_two_paths_that_differ_only_in_what_nobody_sees_are_told_apart(tmp_path):
    first, second = scan(tmp_path, document({"/a": {"get": OK}, "/a\u200b": {"get": OK}}))
    assert (first.origin, second.code) == ("GET /a", "duplicate_id")


def test_thousands_of_operations_that_share_a_large_schema_stay_apart(tmp_path, share):
    count = int(3_000 * share)
    shared = {
        f"S{n}": {"properties": {"next": {"$ref": f"#/components/schemas/S{(n + 1) % 50}"}}}
        for n in range(50)
    }
    body = {**OK, "requestBody": json_body({"$ref": "#/components/schemas/S0"})}
    paths = {f"/x{n}": {"post": body} for n in range(count)}
    found = scan(tmp_path, document(paths, components={"schemas": shared}))
    assert len({each.fields["id"] for each in found}) == count


def test_a_chain_of_references_as_long_as_the_document_ends(tmp_path, share):
    links = int(200 + 19_800 * share**2)
    schemas = {
        f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}]} for n in range(links)
    }
    schemas[f"S{links}"] = {"type": "object", "properties": {"a": {}}}
    said = operation(
        requestBody=json_body({"$ref": "#/components/schemas/S0"}),
        components={"schemas": schemas},
    )
    [found] = scan(tmp_path, said)
    assert isinstance(admit(found), Item)


def test_a_schema_that_fans_out_is_converted_once(tmp_path):
    schemas = {
        f"S{n}": {
            "properties": {name: {"$ref": f"#/components/schemas/S{n + 1}"} for name in "abcdefgh"}
        }
        for n in range(30)
    } | {"S30": {"type": "string"}}
    said = operation(
        requestBody=json_body({"$ref": "#/components/schemas/S0"}),
        components={"schemas": schemas},
    )
    [found] = scan(tmp_path, said)
    assert len(json.dumps(found.fields)) < 50_000


def test_objects_that_are_joined_over_and_over_end(tmp_path):
    schemas = {
        f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 9} for n in range(30)
    }
    schemas["S30"] = {"properties": {"a": {}}}
    said = operation(
        requestBody=json_body({"$ref": "#/components/schemas/S0"}),
        components={"schemas": schemas},
    )
    [found] = scan(tmp_path, said)
    assert found.fields["executor"]["body"]["property"] == "body"


def test_a_long_and_deep_document_in_yaml_is_bounded(tmp_path):
    lines = ["openapi: 3.0.0", "paths:", "  /x:", "    post:", "      requestBody:"]
    lines += ["        content:", "          application/json:", "            schema: &s"]
    lines += ["              properties:", "                a: *s"]
    with pytest.raises(SourceError, match="line 10"):
        scan(tmp_path, "\n".join(lines))
