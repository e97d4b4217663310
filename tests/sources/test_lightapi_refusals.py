"""What is refused, with which words, and that nothing a document can say does harm."""

import json

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lightapi_parts import DEPOT, HTTP, INFO, PARCELS, described, rejection_of, scan

from pegboard.errors import SourceError
from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Item, LeftOut, Rejection
from pegboard.sources.lightapi.document import MAX_OPERATIONS
from pegboard.sources.lightapi.lines import lines_of


@pytest.mark.parametrize(
    "reference", ["#/components/schemas/Nobody", "../other.json", "/etc/passwd", "file:///x"]
)
def test_a_reference_that_leads_nowhere_or_away_is_refused(reference, tmp_path):
    schema = {"properties": {"at": {"$ref": reference}}}
    found = rejection_of(HTTP | {"input": {"schema": schema}}, tmp_path)
    assert found.code == "bad_reference"
    assert reference in found.reason


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("./lost.json", "unreadable"),
        ("../courier.json", "bad_source"),
        ("https://elsewhere.example/openapi.json", "bad_source"),
    ],
)
def test_an_openapi_document_that_is_not_beside_it_is_not_looked_for(document, code, tmp_path):
    sources = {"courier": {"type": "openapi", "version": "2", "document": document}}
    operation = {"protocol": "http", "source": "courier", "operationId": "getParcel"}
    assert rejection_of(operation, tmp_path, sources=sources).code == code


@pytest.mark.parametrize(
    ("operation", "place"),
    [
        ({"authentication": {"type": "bearer", "token": "s3cr3t-of-mine"}}, "token"),
        ({"authentication": {"type": "apiKey", "name": "k", "value": "abc"}}, "value"),
        ({"authentication": {"type": "oauth2", "client": {"secret": "hush"}}}, "client.secret"),
        ({"endpoint": "https://ada:hush@courier.example/parcels"}, "first.endpoint"),
        ({"request": {"headers": {"Authorization": "Bearer abcdef"}}}, "headers.Authorization"),
        ({"request": {"query": {"api_key": "abcdef"}}}, "query.api_key"),
        ({"request": {"body": {"login": {"password": "hush"}}}}, "login.password"),
    ],
)
def test_a_secret_in_the_document_is_refused_and_not_repeated(operation, place, tmp_path):
    found = rejection_of(HTTP | operation, tmp_path)
    assert found.code == "inline_secret"
    assert place in found.reason
    for secret in ("s3cr3t", "abc", "hush"):
        assert secret not in found.reason


def test_a_secret_among_the_variables_is_refused_where_it_is_used(tmp_path):
    environments = {"live": {"variables": {"apiToken": "abc123xyz"}}}
    operation = HTTP | {"request": {"query": {"t": "${env.apiToken}"}}}
    found = rejection_of(operation, tmp_path, environments=environments)
    assert found.code == "inline_secret"
    assert "environments.live.variables.apiToken" in found.reason


@pytest.mark.parametrize(
    ("operation", "code", "told"),
    [
        ("nothing", "bad_field", "operations.first is 'nothing'; it must be a mapping"),
        ({}, "incomplete", "operations.first has no protocol"),
        ({"protocol": "ftp"}, "bad_field", "one of http, jsonrpc, openrpc, grpc, mcp"),
        ({"protocol": "http"}, "incomplete", "neither method and endpoint nor source"),
        (HTTP | {"method": "get"}, "bad_field", "method is 'get'; it must be one of GET"),
        (HTTP | {"endpoint": 5}, "bad_field", "operations.first.endpoint is 5; it must be text"),
        (HTTP | {"endpointId": "x"}, "bad_field", "endpointId is 'x'"),
        (HTTP | {"summary": ["a"]}, "bad_field", "summary is a list; it must be text"),
        (HTTP | {"tags": "a"}, "bad_field", "tags is 'a'; it must be a list of texts"),
        (HTTP | {"lifecycle": "new"}, "bad_field", "draft, active, deprecated, retired"),
        (HTTP | {"visibility": "secret"}, "bad_field", "public, internal, restricted"),
        (HTTP | {"capability": {"group": "a"}}, "incomplete", "capability has no action"),
        (HTTP | {"input": {"schema": {"type": "array"}}}, "bad_schema", "describes no object"),
        (HTTP | {"input": {"schema": 5}}, "bad_field", "it must be a JSON Schema"),
        (HTTP | {"request": {"query": {"a": {}}}}, "bad_field", "request.query.a is a mapping"),
        (HTTP | {"safety": {"destructive": "no"}}, "bad_field", "it must be true or false"),
        (HTTP | {"authentication": "none"}, "unknown_authentication", "none is not among"),
        (HTTP | {"authentication": {}}, "incomplete", "authentication has no type"),
        (HTTP | {"metadata": {"routing": {"semanticWeight": "5"}}}, "bad_field", "a number"),
        ({"protocol": "jsonrpc", "endpoint": "x"}, "incomplete", "has no method"),
        ({"protocol": "jsonrpc", "method": "x"}, "incomplete", "has no endpoint"),
        ({"protocol": "openrpc", "method": "x"}, "incomplete", "has no source"),
        ({"protocol": "openrpc", "method": "x", "source": "y"}, "unknown_source", "y is not"),
        ({"protocol": "grpc", "method": "x"}, "incomplete", "has no service"),
        ({"protocol": "mcp", "name": "x"}, "incomplete", "has no kind"),
        ({"protocol": "mcp", "kind": "tool"}, "incomplete", "has no name"),
        ({"protocol": "mcp", "kind": "resource", "name": "x"}, "incomplete", "has no uri"),
    ],
)
def test_a_malformed_operation_is_refused_with_its_place(operation, code, told, tmp_path):
    found = rejection_of(operation, tmp_path)
    assert (found.code, found.origin) == (code, "first")
    assert told in found.reason
    assert found.reason.startswith("line ")


@pytest.mark.parametrize(
    ("section", "code"),
    [
        ({"type": "mcp", "version": "1"}, "incomplete"),
        ({"type": "http", "version": "1"}, "bad_source"),
        ({"type": "mcp", "transport": "sse"}, "incomplete"),
        (DEPOT | {"servers": {"a": {}}}, "incomplete"),
        ({"type": "fax", "version": "1"}, "bad_field"),
        (
            DEPOT | {"servers": {"a": {"endpoint": "https://ada:hush@courier.example"}}},
            "inline_secret",
        ),
        (DEPOT | {"version": "1" * 20_000}, "too_long"),
    ],
)
def test_a_malformed_source_is_told_by_every_operation_that_uses_it(section, code, tmp_path):
    operation = {"protocol": "mcp", "kind": "tool", "name": "x", "server": "depot"}
    findings = scan(described(operation, operation, sources={"depot": section}), tmp_path)
    assert [found.code for found in findings] == [code, code]


def test_environments_that_extend_each_other_in_a_circle_are_refused(tmp_path):
    circle = {"a": {"extends": "b"}, "b": {"extends": "a", "variables": {"x": 1}}}
    operation = HTTP | {"endpoint": "${env.x}/y"}
    assert rejection_of(operation, tmp_path, environments=circle).code == "bad_environment"
    lost = {"a": {"extends": "nobody"}}
    assert isinstance(scan(described(HTTP, environments=lost), tmp_path)[0], Candidate)
    assert rejection_of(operation, tmp_path, environments=lost).code == "unknown_environment"


def test_two_operations_cannot_share_an_endpoint_id(tmp_path):
    operation = HTTP | {"endpointId": "courier/track"}
    first, second = scan(described(operation, operation), tmp_path)
    assert isinstance(first, Candidate)
    assert (second.code, second.origin) == ("duplicate_id", "second")
    assert "first has the endpointId courier/track too" in second.reason


def test_a_rejection_names_the_line_of_the_fault(tmp_path):
    text = yaml.safe_dump(described(HTTP, HTTP | {"summary": 5}), sort_keys=False)
    [found] = [each for each in scan(text, tmp_path) if isinstance(each, Rejection)]
    line = text[: text.index("summary: 5")].count("\n") + 1
    assert found.reason.startswith(f"line {line}: operations.second.summary is 5")


def test_a_rejection_ends_when_what_was_missing_is_there(tmp_path):
    operation = {"protocol": "openrpc", "method": "x", "source": "ledger"}
    before = rejection_of(operation, tmp_path)
    ledger = {"type": "openrpc", "version": "1"}
    document = described(operation, sources={"ledger": ledger})
    [after] = scan(document, tmp_path, {before.origin: before.origin_hash})
    assert isinstance(after, Candidate)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([], "the document is a list; it must be a mapping"),
        ("just text", "the document is 'just text'"),
        ({}, "there is no lightapi in it"),
        ({"lightapi": "0.2.0"}, "lightapi is '0.2.0'; only version 0.1.0 is known"),
        ({"lightapi": 0.1}, "lightapi is 0.1; only version 0.1.0 is known"),
        (described(HTTP) | {"info": {}}, "info has no title"),
        (described(HTTP) | {"info": INFO | {"namespace": " "}}, "info.namespace is ' '"),
        (described(HTTP) | {"info": INFO | {"version": 1}}, "info.version is 1; it must be text"),
        (described(), "the document has no operations"),
        (described() | {"operations": []}, "operations is a list; it must be a mapping"),
        (described(HTTP, sources=[]), "sources is a list; it must be a mapping"),
        (described(HTTP, components={"schemas": 5}), "components.schemas is 5"),
        (described(HTTP, HTTP, profile="endpoint"), "there are 2 operations"),
        (described(HTTP, profile="page"), "profile is 'page'; it must be one of catalog"),
    ],
)
def test_a_document_that_is_no_description_is_refused_with_what_is_missing(
    document, told, tmp_path
):
    with pytest.raises(SourceError, match=r"parcels\.lightapi\.json, line \d+: ") as raised:
        scan(document, tmp_path)
    assert told in raised.value.message


def test_an_openapi_document_is_sent_where_it_belongs(tmp_path):
    with pytest.raises(SourceError, match="no lightapi") as raised:
        scan({"openapi": "3.1.0", "paths": {}}, tmp_path)
    assert "pegboard add openapi" in raised.value.hint


def test_the_line_of_what_is_wrong_with_the_document_is_named(tmp_path):
    text = "# parcels\n\nlightapi: 0.1.0\ninfo:\n  title: Parcels\n  namespace: 5\n"
    with pytest.raises(SourceError, match=r"line 4: info has no version"):
        scan(text, tmp_path)
    text += "  version: 1.0.0\noperations: {a: {}}\n"
    with pytest.raises(SourceError, match=r"line 6: info\.namespace is 5"):
        scan(text, tmp_path)


def test_too_many_operations_are_refused_as_a_whole(tmp_path):
    many = {f"o{n}": {} for n in range(MAX_OPERATIONS + 1)}
    with pytest.raises(SourceError, match="10,001 entries; at most 10,000"):
        scan(described() | {"operations": many}, tmp_path)


def test_schemas_that_refer_to_one_another_do_not_grow_without_end(tmp_path):
    big = {"enum": ["x"] * 3_000}
    operations = {
        f"o{n}": HTTP
        | {"input": {"schema": {"properties": {"a": {"$ref": "#/components/schemas/B"}}}}}
        for n in range(1_000)
    }
    document = described(components={"schemas": {"B": big}}) | {"operations": operations}
    found = scan(document, tmp_path)
    assert {type(each) for each in found} == {Candidate, Rejection}
    assert {each.code for each in found if isinstance(each, Rejection)} == {"too_long"}


def test_an_operation_nested_too_deeply_is_refused_and_the_others_are_not(tmp_path):
    deep = "[" * 700 + "]" * 700
    text = json.dumps(described(HTTP | {"input": {"schema": {"enum": "DEEP"}}}, HTTP))
    refused, fine = sorted(scan(text.replace('"DEEP"', deep), tmp_path), key=lambda f: f.origin)
    assert isinstance(fine, Candidate)
    assert isinstance(refused if isinstance(refused, Rejection) else admit(refused), Rejection)


def test_names_that_cannot_be_shown_are_counted_instead(tmp_path):
    document = described() | {"operations": {"a\u202eb": {}, "": {}, "x" * 300: {}}}
    assert [each.origin for each in scan(document, tmp_path)] == [
        "operation 1",
        "operation 2",
        "operation 3",
    ]


def test_lines_are_found_in_yaml_and_json_alike():
    data = {"a": {"b": [{"c": 1}], "d": {"e": 2}}, "f": 3}
    paths = [("a",), ("a", "d"), ("a", "d", "e"), ("f",), ("a", "lost", "deeper"), ()]
    for text in (yaml.safe_dump(data), json.dumps(data, indent=1)):
        lines = [""] + [line.strip(' "') for line in text.splitlines()]
        found = lines_of(text.encode(), paths)
        for path in paths[:4]:
            assert lines[found[path]].startswith(path[-1])
        assert found["a", "lost", "deeper"] == found["a",]
        assert found[()] == 1


_KEYS = st.sampled_from(
    (
        *("lightapi", "info", "title", "namespace", "version", "operations", "sources", "profile"),
        *("environments", "authentications", "components", "schemas", "protocol", "method", "$ref"),
        *("endpoint", "input", "schema", "request", "result", "type", "extends", "variables"),
        *("capability", "metadata", "routing", "examples", "kind", "name", "server", "a", "${b}"),
    )
)
_LEAVES = st.sampled_from(
    (
        *(None, True, 0, -1.5, "", "a", "0.1.0", "http", "mcp", "jsonrpc", "GET", "object", "tool"),
        *(
            "${env.a}",
            "${input.a}/{a}",
            "#/components/schemas/a",
            "./b.json",
            "\ud800",
            "\0",
            "a/b",
        ),
    )
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=40,
)
_OPERATIONS = st.dictionaries(_KEYS | st.text(max_size=5), _VALUES, max_size=4)
_DOCUMENTS = st.builds(
    lambda operations, sections: described() | sections | {"operations": operations},
    _OPERATIONS,
    st.dictionaries(_KEYS, _VALUES, max_size=4),
)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(document=_DOCUMENTS | _VALUES)
def test_any_document_gives_only_findings_or_says_what_is_wrong(document, tmp_path):
    try:
        findings = scan(json.dumps(document), tmp_path)
    except SourceError:
        return
    for found in findings:
        assert isinstance(found, Candidate | LeftOut | Rejection)
        if isinstance(found, Candidate):
            assert isinstance(admit(found), Item | Rejection)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes=st.lists(st.tuples(st.integers(0, 10_000), _VALUES), min_size=1, max_size=6))
def test_any_change_of_a_real_document_gives_only_findings_or_says_what_is_wrong(changes, tmp_path):
    document = yaml.safe_load(PARCELS.read_text())
    for number, value in changes:
        places = list(_places(document))
        owner, key = places[number % len(places)]
        owner[key] = value
    try:
        findings = scan(document, tmp_path)
    except SourceError:
        return
    assert all(isinstance(each, Candidate | LeftOut | Rejection) for each in findings)


def _places(node):
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode()))
def test_any_bytes_give_only_findings_or_say_what_is_wrong(content, tmp_path):
    try:
        assert scan(content, tmp_path) is None
    except SourceError as error:
        assert "parcels.lightapi.json" in error.message
