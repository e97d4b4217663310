"""One operation becomes one candidate: what it is called, what it takes, where it goes."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_parts import OK, build, document, json_body, only, operation, refused, scan, undo

from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Item
from pegboard.sources.openapi.naming import unique


def parameter(name, place, **parts):
    return {"name": name, "in": place, "schema": {"type": "string"}, **parts}


def names_of(folder, paths, **parts):
    return [found.fields["name"] for found in scan(folder, document(paths, **parts))]


# Names and words


def test_the_id_says_source_first_tag_and_operation(tmp_path):
    found = only(tmp_path, operation(tags=["Pets", "All"]))
    assert (found["id"], found["category"], found["tags"]) == (
        "shop:Pets:change",
        "Pets",
        ["Pets", "All"],
    )
    assert (found["kind"], found["tool_type"], found["source_protocol"]) == (
        "tool",
        "api",
        "openapi",
    )
    assert found["endpoint"] == "POST /things/{id}"


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("/pets/{id}", "pets"),
        ("/pets", "pets"),
        ("/v1/pets", "pets"),
        ("/api/v2.1/{account}/pets", "pets"),
        ("/sendMessage", ""),
        ("/chat.postMessage", ""),
        ("/{id}", ""),
        ("/", ""),
    ],
)
def test_without_tags_the_path_says_what_it_is_about(tmp_path, path, category):
    assert only(tmp_path, document({path: {"get": OK}}))["category"] == category


@pytest.mark.parametrize(
    ("said", "name", "aliases"),
    [
        ("repos/list-hooks", "repos/list-hooks", None),
        ("GetAccount", "GetAccount", None),
        ("List all pets!", "List_all_pets", ["List all pets!"]),
        ("zero\u200bwidth", "zerowidth", None),
        ("", "get_pets_toys", None),
        (7, "get_pets_toys", None),
    ],
)
def test_a_name_is_the_operation_id_or_method_and_path(tmp_path, said, name, aliases):
    found = only(tmp_path, document({"/pets/{petId}/toys": {"get": {**OK, "operationId": said}}}))
    assert (found["name"], found.get("aliases")) == (name, aliases)


def test_operations_of_the_same_name_are_told_apart_and_keep_their_names(tmp_path):
    same = {**OK, "operationId": "list"}
    first = names_of(tmp_path, {"/a": {"get": same}, "/b": {"get": same}, "/c": {"get": same}})
    assert first == ["list", "list_get_b", "list_get_c"]
    assert names_of(tmp_path, {"/a": {"get": same}, "/c": {"get": same}}) == ["list", "list_get_c"]
    moved = names_of(tmp_path, {"/c": {"get": same}, "/b": {"get": same}, "/a": {"get": same}})
    assert moved == first[::-1]


def test_paths_that_read_alike_get_different_names(tmp_path):
    names = names_of(tmp_path, {"/a/{b}": {"get": OK}, "/a/b": {"get": OK}, "/a_b": {"get": OK}})
    assert len(set(names)) == 3
    assert names[1] == "get_a_b"


def test_a_very_long_name_is_shortened_and_stays_its_own(tmp_path):
    paths = {f"/{'x' * 300}/{n}": {"get": OK} for n in range(2)}
    names = names_of(tmp_path, paths)
    assert len(set(names)) == 2
    assert all(len(name) <= 120 for name in names)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"summary": "List pets", "description": "All of them."}, "List pets.\n\nAll of them."),
        ({"summary": "List pets", "description": "List pets of a user."}, "List pets of a user."),
        ({"summary": "List pets"}, "List pets"),
        ({"description": "<p>All of <b>them</b>.</p>"}, "All of them."),
        ({}, "About pets."),
    ],
)
def test_the_description_is_summary_and_description(tmp_path, said, told):
    found = only(tmp_path, document({"/pets": {"summary": "About pets.", "get": {**OK, **said}}}))
    assert found["description"] == told


def test_an_operation_that_says_nothing_is_described_by_its_endpoint(tmp_path):
    assert only(tmp_path, document({"/pets": {"get": OK}}))["description"] == "GET /pets"


def test_hints_for_search_are_kept_out_of_the_description(tmp_path):
    metadata = {
        "routing": {"semanticKeywords": ["dog", "cat"], "domain": "animals"},
        "personas": ["vet"],
    }
    found = only(tmp_path, operation(**{"x-tool-metadata": metadata, "summary": "Change it."}))
    assert found["keywords"] == ["dog", "cat"]
    assert found["target_personas"] == ["vet"]
    assert found["routing_domain"] == "animals"
    assert found["description"] == "Change it."
    assert only(tmp_path, operation(**{"x-semantic-keywords": "dog"}))["keywords"] == ["dog"]
    assert "keywords" not in only(tmp_path, operation(semanticKeywords=["dog"]))


def test_deprecated_operations_say_so(tmp_path):
    assert only(tmp_path, operation(deprecated=True))["deprecated"] is True
    assert only(tmp_path, operation())["deprecated"] is False


# Parameters


def test_parameters_of_the_path_hold_for_all_its_operations_unless_they_say_otherwise(tmp_path):
    said = document(
        {
            "/things/{id}": {
                "parameters": [
                    {"name": "id", "in": "path", "schema": {"type": "integer"}},
                    {"name": "lang", "in": "query", "schema": {"type": "string"}},
                ],
                "get": {
                    **OK,
                    "parameters": [
                        {"name": "lang", "in": "query", "required": True, "description": "Mine."}
                    ],
                },
            }
        }
    )
    schema = only(tmp_path, said)["input_schema"]
    assert schema["properties"] == {"id": {"type": "integer"}, "lang": {"description": "Mine."}}
    assert schema["required"] == ["id", "lang"]
    assert schema["additionalProperties"] is False


def test_how_a_parameter_is_written_is_kept(tmp_path):
    said = operation(
        parameters=[
            parameter("ids", "query", style="pipeDelimited", explode=False, allowReserved=True),
            parameter("X-Trace", "header"),
            parameter("session", "cookie"),
            {"name": "filter", "in": "query", "content": {"application/json": {"schema": {}}}},
        ]
    )
    sent = {each.pop("wire_name"): each for each in only(tmp_path, said)["executor"]["parameters"]}
    assert sent["id"] == {
        "name": "id",
        "in": "path",
        "required": True,
        "style": "simple",
        "explode": False,
    }
    assert sent["ids"]["style"] == "pipeDelimited"
    assert (sent["ids"]["explode"], sent["ids"]["allow_reserved"]) == (False, True)
    assert (sent["X-Trace"]["style"], sent["X-Trace"]["explode"]) == ("simple", False)
    assert (sent["session"]["style"], sent["session"]["explode"]) == ("form", True)
    assert sent["filter"]["media_type"] == "application/json"


def test_headers_that_are_said_elsewhere_are_no_parameters(tmp_path):
    said = operation(
        parameters=[parameter(name, "header") for name in ("Accept", "Authorization", "X-A")]
    )
    assert set(only(tmp_path, said)["input_schema"]["properties"]) == {"id", "X-A"}


def test_a_part_of_the_path_that_nobody_described_is_a_text(tmp_path):
    schema = only(tmp_path, operation())["input_schema"]
    assert schema["properties"] == {"id": {"type": "string"}}
    assert schema["required"] == ["id"]


def test_parameters_of_the_same_name_get_a_suffix(tmp_path):
    said = operation(
        parameters=[parameter("id", place) for place in ("cookie", "header", "query", "path")],
        requestBody=json_body({"properties": {"id": {"type": "integer"}}}),
    )
    found = only(tmp_path, said)
    assert list(found["input_schema"]["properties"]) == [
        "id",
        "id__query",
        "id__header",
        "id__cookie",
        "id__body",
    ]
    assert found["executor"]["body"]["spread"] == [{"name": "id__body", "wire_name": "id"}]


@pytest.mark.parametrize(
    ("place", "names"), [("header", ["X-Id", "x-id"]), ("query", ["id", "id\u200b"])]
)
def test_what_is_one_name_on_the_wire_is_one_parameter(tmp_path, place, names):
    found = only(tmp_path, operation(parameters=[parameter(name, place) for name in names]))
    assert [each["in"] for each in found["executor"]["parameters"]] == ["path", place]


@pytest.mark.parametrize("broken", [{"in": "query"}, {"name": "", "in": "query"}, {"name": "x"}])
def test_a_parameter_without_name_or_place_counts_only_if_it_is_required(tmp_path, broken):
    only(tmp_path, operation(parameters=[broken]))
    found = refused(tmp_path, operation(parameters=[{**broken, "required": True}]))
    assert found.code == "bad_parameter"
    assert "parameter 1" in found.reason


def test_examples_of_a_parameter_come_along_if_they_are_short(tmp_path):
    said = operation(
        parameters=[
            parameter("a", "query", example="one"),
            parameter("b", "query", examples={"x": {"value": 1}, "y": {"value": "z" * 500}}),
        ]
    )
    properties = only(tmp_path, said)["input_schema"]["properties"]
    assert (properties["a"]["examples"], properties["b"]["examples"]) == (["one"], [1])


# Bodies


def body_of(folder, schema, *, media_type="application/json", **parts):
    content = {media_type: {"schema": schema}}
    found = only(folder, operation(requestBody={"content": content, **parts}))
    return found["input_schema"], found["executor"]["body"]


def test_the_properties_of_an_object_are_arguments_of_their_own(tmp_path):
    schema, body = body_of(
        tmp_path,
        {"type": "object", "required": ["title"], "properties": {"title": {}, "text": {}}},
        required=True,
    )
    assert set(schema["properties"]) == {"id", "title", "text"}
    assert schema["required"] == ["id", "title"]
    assert body["spread"] == [
        {"name": "title", "wire_name": "title"},
        {"name": "text", "wire_name": "text"},
    ]


def test_a_body_that_may_be_left_out_is_whole_if_it_is_sent(tmp_path):
    schema, body = body_of(tmp_path, {"required": ["a"], "properties": {"a": {}, "b": {}}})
    assert body["required"] is False
    valid = Draft202012Validator(schema).is_valid
    assert valid({"id": "1"})
    assert valid({"id": "1", "a": 1})
    assert not valid({"id": "1", "b": 1})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
        {"properties": {"a": {}}, "minProperties": 1},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object"},
        {},
    ],
)
def test_what_cannot_be_taken_apart_is_one_argument(tmp_path, schema):
    found, body = body_of(tmp_path, schema, required=True)
    assert body["property"] == "body"
    assert set(found["properties"]) == {"id", "body"}
    assert found["required"] == ["id", "body"]


def test_objects_that_must_all_hold_are_one_object(tmp_path):
    schema, body = body_of(
        tmp_path,
        {
            "allOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {}, "a": {"maxLength": 3}}},
            ]
        },
        required=True,
    )
    assert schema["properties"]["a"] == {"allOf": [{"type": "string"}, {"maxLength": 3}]}
    assert schema["required"] == ["id", "a"]
    assert [each["name"] for each in body["spread"]] == ["a", "b"]


def test_further_properties_of_a_body_are_further_arguments(tmp_path):
    schema, body = body_of(
        tmp_path, {"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    )
    assert schema["additionalProperties"] == {"type": "integer"}
    assert body["further"] is True


def test_a_body_of_which_there_are_kinds_takes_the_properties_of_all_of_them(tmp_path):
    schema, body = body_of(
        tmp_path, {"properties": {"kind": {}}, "discriminator": {"propertyName": "kind"}}
    )
    assert schema["additionalProperties"] is True
    assert body["further"] is True


def test_a_body_without_properties_takes_no_arguments(tmp_path):
    schema, body = body_of(tmp_path, {"properties": {}, "additionalProperties": False})
    assert set(schema["properties"]) == {"id"}
    assert body["spread"] == []


def test_what_a_body_requires_without_describing_it_can_be_given(tmp_path):
    schema, body = body_of(tmp_path, {"properties": {"a": {}}, "required": ["b"]}, required=True)
    assert schema["properties"]["b"] == {}
    assert schema["required"] == ["id", "b"]
    assert [each["name"] for each in body["spread"]] == ["a", "b"]


def test_an_optional_body_that_requires_very_much_stays_in_one_piece(tmp_path):
    names = [f"p{n}" for n in range(300)]
    said = {"properties": {name: {} for name in names}, "required": names}
    assert "property" in body_of(tmp_path, said)[1]
    assert len(body_of(tmp_path, said, required=True)[1]["spread"]) == 300


@pytest.mark.parametrize(
    ("media_type", "made"),
    [
        ("text/plain", {"type": "string"}),
        ("image/png", {"type": "string", "format": "binary"}),
        ("application/json", {}),
    ],
)
def test_a_body_without_a_schema_is_what_its_media_type_says(tmp_path, media_type, made):
    found, _ = body_of(tmp_path, {}, media_type=media_type)
    assert found["properties"]["body"] == made


def test_json_is_written_before_forms_and_forms_before_the_rest(tmp_path):
    kinds = {
        "application/octet-stream": {"schema": {"type": "string"}},
        "multipart/form-data": {"schema": {"properties": {"m": {}}}},
        "application/x-www-form-urlencoded": {
            "schema": {"properties": {"f": {}}},
            "encoding": {"f": {"style": "form", "allowReserved": True, "headers": {}}},
        },
        "application/vnd.x+json": {"schema": {"properties": {"j": {}}}},
    }
    found = only(tmp_path, operation(requestBody={"content": kinds}))
    assert found["executor"]["body"]["media_types"] == list(reversed(kinds))
    assert set(found["input_schema"]["properties"]) == {"id", "j"}
    del kinds["application/vnd.x+json"]
    found = only(tmp_path, operation(requestBody={"content": kinds}))
    assert found["executor"]["body"]["encoding"] == {"f": {"style": "form", "allowReserved": True}}


def test_any_media_type_is_json(tmp_path):
    _, body = body_of(tmp_path, {"properties": {"a": {}}}, media_type="*/*")
    assert body["media_types"] == ["application/json"]


def test_a_body_can_be_shared(tmp_path):
    said = operation(
        requestBody={"$ref": "#/components/requestBodies/Thing"},
        components={"requestBodies": {"Thing": json_body({"properties": {"a": {}}})}},
    )
    assert set(only(tmp_path, said)["input_schema"]["properties"]) == {"id", "a"}


# Answers, servers, security


def test_the_output_is_that_of_the_first_good_answer_in_json(tmp_path):
    said = operation(
        responses={
            "404": json_body({"type": "string"}),
            "200": {
                "content": {"text/csv": {"schema": {}}, **json_body({"type": "array"})["content"]}
            },
            "201": json_body({"type": "object"}),
            "default": json_body({"type": "boolean"}),
        }
    )
    found = only(tmp_path, said)
    assert found["output_schema"] == {"type": "array"}
    assert found["executor"]["responses"]["media_types"] == ["application/json", "text/csv"]


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ([{"url": "https://a.test/v1/"}], [{"url": "https://a.test/v1"}]),
        ([{"url": "https://user:word@a.test"}], [{"url": "https://a.test"}]),
        ([{"url": "/v1"}, {"url": "/v1"}, 7, {}], [{"url": "/v1"}]),
        (
            [{"url": "https://{region}.test", "variables": {"region": {"default": "eu"}}}],
            [{"url": "https://{region}.test", "variables": {"region": {"default": "eu"}}}],
        ),
        (
            [
                {
                    "url": "https://x.test/{token}",
                    "variables": {"token": {"default": "123:ABC", "enum": ["123:ABC"]}},
                }
            ],
            [{"url": "https://x.test/{token}", "variables": {"token": {}}}],
        ),
        (
            [{"url": "https://me:a@b@x.test/v1?api_key=abc&v=2"}],
            [{"url": "https://x.test/v1?v=2"}],
        ),
    ],
)
def test_servers_are_kept_without_logins(tmp_path, listed, found):
    assert (
        only(tmp_path, document({"/x": {"get": OK}}, servers=listed))["executor"]["servers"]
        == found
    )


def test_the_nearest_servers_count(tmp_path):
    servers = [[{"url": f"https://{name}.test"}] for name in ("all", "path", "own")]
    own = {**OK, "servers": servers[2]}
    said = {"/x": {"get": own, "put": OK, "servers": servers[1]}, "/y": {"get": OK}}
    found = scan(tmp_path, document(said, servers=servers[0]))
    assert [each.fields["executor"]["servers"][0]["url"][8:11] for each in found] == [
        "own",
        "pat",
        "all",
    ]


SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "login": {
        "type": "oauth2",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": "https://a.test/authorize",
                "tokenUrl": "https://a.test/token",
                "scopes": {"read": "Read", "write": "Write"},
            }
        },
    },
    "openid": {"type": "openIdConnect", "openIdConnectUrl": "https://a.test/openid"},
    "tls": {"type": "mutualTLS"},
}


def test_every_kind_of_security_is_understood(tmp_path):
    wanted = [{"key": [], "basic": []}, {"bearer": []}, {"login": ["read"]}, {"openid": []}]
    wanted += [{"tls": []}, {}]
    said = operation(security=wanted, components={"securitySchemes": SCHEMES})
    found = only(tmp_path, said)["executor"]["security"]
    assert found == [
        [
            {"scheme": "key", "type": "apiKey", "in": "header", "name": "X-Key"},
            {"scheme": "basic", "type": "http", "http_scheme": "basic"},
        ],
        [{"scheme": "bearer", "type": "http", "http_scheme": "bearer", "bearer_format": "JWT"}],
        [
            {
                "scheme": "login",
                "type": "oauth2",
                "scopes": ["read"],
                "flows": {
                    "authorizationCode": {
                        "authorization_url": "https://a.test/authorize",
                        "token_url": "https://a.test/token",
                    }
                },
            }
        ],
        [
            {
                "scheme": "openid",
                "type": "openIdConnect",
                "openid_connect_url": "https://a.test/openid",
            }
        ],
        [{"scheme": "tls", "type": "mutualTLS"}],
        [],
    ]


def test_the_addresses_of_tokens_are_kept_without_secrets(tmp_path):
    token = "https://me:abc@a.test/token?p=sign_in&client_secret=abc"
    scheme = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token}}}
    said = operation(security=[{"login": []}], components={"securitySchemes": {"login": scheme}})
    [[found]] = only(tmp_path, said)["executor"]["security"]
    assert found["flows"] == {"clientCredentials": {"token_url": "https://a.test/token?p=sign_in"}}


def test_what_all_operations_need_can_be_waived_by_one(tmp_path):
    said = document(
        {"/x": {"get": OK, "put": {**OK, "security": []}}},
        security=[{"key": []}],
        components={"securitySchemes": SCHEMES},
    )
    get, put = scan(tmp_path, said)
    assert [[each["scheme"] for each in way] for way in get.fields["executor"]["security"]] == [
        ["key"]
    ]
    assert put.fields["executor"]["security"] == []


def test_a_scheme_that_nobody_described_is_named(tmp_path):
    found = only(tmp_path, operation(security=[{"lost": []}]))["executor"]["security"]
    assert found == [[{"scheme": "lost", "type": "unknown"}]]


# There and back again

NAMES = st.sampled_from(["id", "a", "b", "body", "a__query", "a__body", "Ä", "a\u200b"])
TYPES = {"string": st.text(max_size=3), "integer": st.integers(-9, 9), "boolean": st.booleans()}
some_schemas = st.sampled_from([{"type": name} for name in TYPES] + [{"type": "object"}])
some_parameters = st.lists(
    st.builds(
        lambda name, place, schema, required: {
            "name": name,
            "in": place,
            "schema": schema,
            "required": required,
        },
        NAMES,
        st.sampled_from(["path", "query", "header", "cookie"]),
        some_schemas,
        st.booleans(),
    ),
    max_size=6,
)
some_objects = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(NAMES, some_schemas, max_size=4)},
    optional={
        "required": st.lists(NAMES, max_size=2),
        "additionalProperties": st.booleans() | some_schemas,
    },
)
some_bodies = st.none() | st.builds(
    lambda schema, required: json_body(schema, required=required),
    some_schemas
    | some_objects
    | st.builds(lambda parts: {"allOf": parts}, st.lists(some_objects, min_size=1, max_size=2)),
    st.booleans(),
)


@given(some_parameters, some_bodies, st.data())
def test_every_argument_is_found_back_in_its_place(tmp_path_factory, parameters, body, data):
    said = {**OK, "parameters": parameters} | ({"requestBody": body} if body else {})
    [found] = scan(tmp_path_factory.getbasetemp(), document({"/x/{id}/{a}": {"post": said}}))
    assert isinstance(found, Candidate)
    assert isinstance(admit(found), Item)
    schema, executor = found.fields["input_schema"], found.fields["executor"]
    arguments = {}
    for name, part in schema["properties"].items():
        if name in schema.get("required", ()) or data.draw(st.booleans()):
            kind = part.get("type", "string")
            arguments[name] = data.draw(TYPES.get(kind, st.just({"x": 1})))
    if schema["additionalProperties"] is not False and data.draw(st.booleans()):
        arguments["further"] = data.draw(st.integers(0, 9))
    assume(Draft202012Validator(schema).is_valid(arguments))
    request = build(executor, arguments)
    assert "{" not in request.path.replace("%7B", "")
    assert undo(executor, request) == arguments


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ({"summary": "List <b>all</b>\n pets"}, "List all pets"),
        ({"summary": "x" * 400}, f"{'x' * 199}…"),
        ({"summary": "zero\u200bwidth"}, "zerowidth"),
        ({"summary": "listPets", "operationId": "listPets"}, None),
        ({"summary": 5}, "About pets."),
        ({}, "About pets."),
    ],
)
def test_the_title_is_the_summary_on_one_line(tmp_path, said, title):
    found = only(tmp_path, document({"/pets": {"summary": "About pets.", "get": {**OK, **said}}}))
    assert found.get("title") == title


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("post", "/repositories/{workspace}/{repo_slug}/pullrequests", None),
        ("get", "/users", "get_users"),
        ("get", "/users/{id}", "get_users_by_id"),
        ("get", "/users/{user-id}/", "get_users_by_user_id"),
        ("get", "/files/{name}.json", "get_files_json"),
        ("get", "/{id}", "get_by_id"),
        ("get", "/", "get"),
    ],
)
def test_an_operation_without_an_id_is_named_by_the_words_of_its_path(method, path, name):
    expected = name or "post_repositories_pullrequests"
    assert unique([(method, path, "")]) == {(method, path): expected}


def test_variables_are_added_only_where_two_names_would_be_the_same():
    paths = ["/orgs/{org}/repos", "/orgs/{team}/repos", "/orgs/repos", "/orgs/{org}/hooks"]
    named = unique([("get", path, "") for path in paths])
    assert [named["get", path] for path in paths] == [
        *("get_orgs_org_repos", "get_orgs_team_repos", "get_orgs_repos", "get_orgs_hooks")
    ]
    assert unique([("get", path, "") for path in reversed(paths)]) == named


def test_an_operation_id_wins_over_a_name_that_is_made():
    named = unique([("get", "/a", ""), ("get", "/z", "get_a")])
    assert named["get", "/z"] == "get_a"
    assert named["get", "/a"].startswith("get_a_")
