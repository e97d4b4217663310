"""Swagger 2.0 comes out as OpenAPI 3 does."""

import pytest
from openapi_parts import OK, document, only, scan


def swagger(parameters=(), **parts):
    top = parts.pop("top", {})
    return document(
        {"/things/{id}": {"post": {**OK, "parameters": list(parameters), **parts}}},
        version="2.0",
        **top,
    )


def by_wire_name(found):
    return {each["wire_name"]: each for each in found["executor"]["parameters"]}


def test_host_base_path_and_schemes_are_the_servers(tmp_path):
    top = {"host": "a.test", "basePath": "/v1/", "schemes": ["https", "http"]}
    found = only(tmp_path, swagger(top=top))["executor"]["servers"]
    assert found == [{"url": "https://a.test/v1"}, {"url": "http://a.test/v1"}]
    found = only(tmp_path, swagger(top=top, schemes=["http"]))["executor"]["servers"]
    assert found == [{"url": "http://a.test/v1"}]
    assert only(tmp_path, swagger(top={"host": "a.test"}))["executor"]["servers"] == [
        {"url": "https://a.test"}
    ]


def test_what_stands_in_a_parameter_is_its_schema(tmp_path):
    said = {
        "name": "page",
        "in": "query",
        "type": "integer",
        "minimum": 1,
        "exclusiveMinimum": True,
        "description": "Which one.",
        "required": True,
    }
    found = only(tmp_path, swagger([said]))
    assert found["input_schema"]["properties"]["page"] == {
        "type": "integer",
        "exclusiveMinimum": 1,
        "description": "Which one.",
    }
    assert found["input_schema"]["required"] == ["id", "page"]


@pytest.mark.parametrize(
    ("place", "said", "style", "explode"),
    [
        ("query", None, "form", False),
        ("query", "csv", "form", False),
        ("query", "ssv", "spaceDelimited", False),
        ("query", "tsv", "tabDelimited", False),
        ("query", "pipes", "pipeDelimited", False),
        ("query", "multi", "form", True),
        ("header", "csv", "simple", False),
    ],
)
def test_collection_formats_are_styles(tmp_path, place, said, style, explode):
    ids = {"name": "ids", "in": place, "type": "array", "items": {"type": "string"}}
    ids |= {"collectionFormat": said} if said else {}
    sent = by_wire_name(only(tmp_path, swagger([ids])))["ids"]
    assert (sent["style"], sent["explode"]) == (style, explode)


def test_the_body_among_the_parameters_is_the_body(tmp_path):
    pet = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"x-nullable": True, "type": "string"}},
    }
    body = {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}
    top = {"definitions": {"Pet": pet}, "consumes": ["application/xml", "application/json"]}
    found = only(tmp_path, swagger([body], top=top))
    assert found["input_schema"]["properties"]["name"] == {"type": ["string", "null"]}
    assert found["input_schema"]["required"] == ["id", "name"]
    assert found["executor"]["body"] == {
        "media_types": ["application/json", "application/xml"],
        "required": True,
        "spread": [{"name": "name", "wire_name": "name"}],
    }


def test_form_data_are_a_form(tmp_path):
    form = [
        {"name": "a", "in": "formData", "type": "string", "required": True, "description": "It."},
        {
            "name": "b",
            "in": "formData",
            "type": "array",
            "items": {"type": "string"},
            "collectionFormat": "multi",
        },
    ]
    found = only(tmp_path, swagger(form))
    assert found["input_schema"]["properties"]["a"] == {"type": "string", "description": "It."}
    assert found["executor"]["body"] == {
        "media_types": ["application/x-www-form-urlencoded"],
        "required": True,
        "encoding": {"b": {"style": "form", "explode": True}},
        "spread": [{"name": "a", "wire_name": "a"}, {"name": "b", "wire_name": "b"}],
    }


def test_a_file_makes_the_form_one_of_several_parts(tmp_path):
    found = only(tmp_path, swagger([{"name": "f", "in": "formData", "type": "file"}]))
    assert found["input_schema"]["properties"]["f"] == {"type": "string", "format": "binary"}
    assert found["executor"]["body"]["media_types"] == ["multipart/form-data"]


def test_shared_parameters_and_answers_are_followed(tmp_path):
    top = {
        "parameters": {"page": {"name": "page", "in": "query", "type": "integer"}},
        "responses": {"Pet": {"schema": {"$ref": "#/definitions/Pet"}}},
        "definitions": {"Pet": {"type": "object", "discriminator": "kind"}},
    }
    said = swagger(
        [{"$ref": "#/parameters/page"}],
        responses={"200": {"$ref": "#/responses/Pet"}},
        produces=["application/json"],
        top=top,
    )
    found = only(tmp_path, said)
    assert found["input_schema"]["properties"]["page"] == {"type": "integer"}
    assert found["output_schema"] == {"type": "object", "x-discriminator": "kind"}
    assert found["executor"]["responses"] == {"media_types": ["application/json"]}


def test_security_definitions_are_security_schemes(tmp_path):
    top = {
        "security": [{"basic": []}, {"key": []}, {"login": ["read"]}],
        "securityDefinitions": {
            "basic": {"type": "basic"},
            "key": {"type": "apiKey", "in": "query", "name": "token"},
            "login": {"type": "oauth2", "flow": "accessCode", "tokenUrl": "https://a.test/token"},
        },
    }
    found = only(tmp_path, swagger(top=top))["executor"]["security"]
    assert found == [
        [{"scheme": "basic", "type": "http", "http_scheme": "basic"}],
        [{"scheme": "key", "type": "apiKey", "in": "query", "name": "token"}],
        [
            {
                "scheme": "login",
                "type": "oauth2",
                "scopes": ["read"],
                "flows": {"authorizationCode": {"token_url": "https://a.test/token"}},
            }
        ],
    ]


def test_a_version_written_as_a_number_is_read(tmp_path):
    text = "swagger: 2.0\npaths:\n  /x:\n    get:\n      responses: {}\n"
    assert [each.origin for each in scan(tmp_path, text)] == ["GET /x"]
