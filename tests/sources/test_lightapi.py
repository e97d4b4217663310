import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.errors import SourceError
from pegboard.gate.admission import admit
from pegboard.model import Candidate, Item, LeftOut, Rejection, ToolType, Unchanged
from pegboard.sources.lightapi.document import MAX_OPERATIONS
from pegboard.sources.lightapi.lines import lines_of
from pegboard.sources.lightapi.source import LightApiSource

PARCELS = Path(__file__).parent / "parcels.lightapi.yaml"
INFO = {"title": "Parcels", "namespace": "courier", "version": "1.0.0"}
DEPOT = {"type": "mcp", "transport": "sse", "version": "1.0.0"}
HTTP = {"protocol": "http", "method": "GET", "endpoint": "https://courier.example/parcels"}


def described(*operations, **sections):
    """A document with these operations, called first, second and so on."""
    names = ("first", "second", "third")
    return {
        "lightapi": "0.1.0",
        "info": INFO,
        "operations": dict(zip(names, operations, strict=False)),
        **sections,
    }


def scan(document, tmp_path, known=None, **options):
    path = tmp_path / "parcels.lightapi.json"
    text = document if isinstance(document, str | bytes) else json.dumps(document, indent=1)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(LightApiSource("parcels", str(path), **options).scan(known or {}))


def one(document, tmp_path):
    [found] = scan(document, tmp_path)
    return found


def fields_of(operation, tmp_path, **sections):
    found = one(described(operation, **sections), tmp_path)
    assert isinstance(found, Candidate), found
    return found.fields


def rejection_of(operation, tmp_path, **sections):
    found = one(described(operation, **sections), tmp_path)
    assert isinstance(found, Rejection), found
    return found


@pytest.fixture(scope="module")
def parcels():
    findings = LightApiSource("parcels", str(PARCELS), namespace="blue").scan({})
    return {found.origin: found for found in findings}


def test_every_operation_in_use_passes_the_gate(parcels):
    found = [each for each in parcels.values() if isinstance(each, Candidate)]
    items = [admit(each) for each in found]
    assert all(isinstance(item, Item) for item in items), items
    assert [item.id for item in items] == [
        "parcels:shipping:trackParcel",
        "parcels:shipping:bookPickup",
        "parcels::cancelPickup",
        "parcels::quote",
        "parcels::bookings",
        "parcels::weigh",
        "parcels::shelve",
        "parcels::depotPlan",
    ]
    assert {item.namespace for item in items} == {"blue"}
    assert {item.source_protocol for item in items} == {"lightapi"}


def test_an_operation_says_what_it_does_in_its_own_words(parcels):
    fields = parcels["trackParcel"].fields
    assert fields["description"] == (
        "Where a parcel is now.\n\nReturns every scan of the parcel, newest first."
    )
    assert fields["endpoint"] == "GET /parcels/{parcelId}/events"
    assert fields["examples"] == ["The parcel has left the depot."]
    assert (fields["category"], fields["subcategory"]) == ("shipping", "parcel")


def test_routing_metadata_is_for_search_and_leaves_the_description_alone(parcels):
    fields = parcels["trackParcel"].fields
    assert fields["keywords"] == [
        "shipment status",
        "consignment",
        "read parcel",
        "Answers where is my order and when will it arrive.",
    ]
    assert fields["routing_domain"] == "logistics.tracking"
    assert fields["semantic_namespace"] == "prod.courier"
    assert fields["sensitivity_tier"] == "Internal-Only"
    assert fields["target_personas"] == ["support-agent"]
    assert fields["semantic_weight"] == 1.5
    assert "order" not in fields["description"]


def test_without_routing_metadata_the_document_itself_tells(parcels):
    fields = parcels["bookPickup"].fields
    assert fields["routing_domain"] == "shipping"
    assert fields["semantic_namespace"] == "courier"
    assert fields["sensitivity_tier"] == "internal"
    assert fields["semantic_weight"] == 1.0
    assert fields["target_personas"] == []


def test_the_input_is_one_object_with_what_is_required(parcels):
    assert parcels["trackParcel"].fields["input_schema"] == {
        "type": "object",
        "description": "Which parcel.",
        "properties": {
            "parcelId": {"type": "string", "description": "The number on the label."},
            "since": {"type": "string", "format": "date-time"},
        },
        "required": ["parcelId"],
    }


def test_schemas_bring_along_what_they_refer_to(parcels):
    schema = parcels["bookPickup"].fields["input_schema"]
    assert schema["properties"]["address"] == {"$ref": "#/$defs/Address"}
    assert schema["$defs"] == {
        "Address": {"type": "object", "properties": {"street": {"type": "string"}}}
    }
    scan = parcels["trackParcel"].fields["output_schema"]["$defs"]["Scan"]
    assert scan["properties"]["next"] == {"$ref": "#/$defs/Scan"}


def test_a_schema_may_lie_in_a_file_beside_the_document(tmp_path):
    street = {"type": "object", "properties": {"at": {"$ref": "#/definitions/Place"}}}
    street["definitions"] = {"Place": {"type": "string"}}
    (tmp_path / "street.json").write_text(json.dumps(street))
    schema = fields_of(HTTP | {"input": {"schema": "./street.json"}}, tmp_path)["input_schema"]
    assert schema["properties"] == {"at": {"$ref": "#/$defs/Place"}}
    assert schema["$defs"] == {"Place": {"type": "string"}}


def test_definitions_that_a_schema_brings_stay_its_own(tmp_path):
    own = {
        "properties": {"a": {"$ref": "#/$defs/Pet"}, "b": {"$ref": "#/components/schemas/Pet"}},
        "$defs": {"Pet": {"type": "string"}},
    }
    components = {"schemas": {"Pet": {"type": "integer"}}}
    fields = fields_of(HTTP | {"input": {"schema": own}}, tmp_path, components=components)
    assert fields["input_schema"]["properties"] == {
        "a": {"$ref": "#/$defs/Pet"},
        "b": {"$ref": "#/$defs/Pet_"},
    }
    assert fields["input_schema"]["$defs"] == {
        "Pet": {"type": "string"},
        "Pet_": {"type": "integer"},
    }


@pytest.mark.parametrize(
    "reference", ["#/components/schemas/Nobody", "../other.json", "/etc/passwd", "file:///x"]
)
def test_a_reference_that_leads_nowhere_or_away_is_refused(reference, tmp_path):
    schema = {"properties": {"at": {"$ref": reference}}}
    found = rejection_of(HTTP | {"input": {"schema": schema}}, tmp_path)
    assert found.code == "bad_reference"
    assert reference in found.reason


def test_the_request_of_an_http_operation_has_a_place_for_each_argument(parcels):
    executor = parcels["trackParcel"].fields["executor"]
    assert executor["method"] == "GET"
    assert executor["endpoint"] == "${env.baseUrl}/parcels/{parcelId}/events"
    assert executor["request"] == {
        "path": {"parcelId": "${input.parcelId}"},
        "query": {"since": "${input.since}"},
    }
    assert executor["endpoint_id"] == "courier/parcel.track"
    assert executor["idempotency"] == {"safeToRetry": True}


def test_a_mapping_in_the_document_is_kept_as_it_is_written(parcels):
    assert parcels["bookPickup"].fields["executor"]["request"] == {
        "headers": {"Idempotency-Key": "${input.reference}"},
        "body": {"when": "${input.when}", "address": "${input.address}"},
    }


def test_metadata_can_tell_the_places_of_arguments(parcels):
    assert parcels["cancelPickup"].fields["executor"]["request"] == {
        "path": {"pickupId": "${input.pickupId}"},
        "headers": {"reason": "${input.reason}"},
    }


def test_arguments_go_into_the_body_where_the_method_has_one(tmp_path):
    operation = HTTP | {"method": "POST", "input": {"schema": {"properties": {"grams": {}}}}}
    request = fields_of(operation, tmp_path)["executor"]["request"]
    assert request == {"body": {"grams": "${input.grams}"}}


def test_an_operation_may_point_to_an_openapi_document_beside_it(tmp_path):
    path = {"name": "parcelId", "in": "path", "required": True, "schema": {"type": "string"}}
    get = {"operationId": "getParcel", "summary": "Get a parcel.", "tags": ["parcels"]}
    service = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://courier.example/v2"}],
        "paths": {"/parcels/{parcelId}": {"get": get | {"parameters": [path]}}},
    }
    (tmp_path / "courier.json").write_text(json.dumps(service))
    operation = {
        "protocol": "http",
        "source": "courier",
        "operationId": "getParcel",
        "metadata": {"routing": {"semanticKeywords": ["consignment"]}},
    }
    sources = {"courier": {"type": "openapi", "version": "2", "document": "./courier.json"}}
    fields = fields_of(operation, tmp_path, sources=sources)
    assert (fields["name"], fields["aliases"]) == ("first", ["getParcel"])
    assert fields["description"] == "Get a parcel."
    assert fields["endpoint"] == "GET /parcels/{parcelId}"
    assert fields["input_schema"]["required"] == ["parcelId"]
    assert fields["keywords"] == ["consignment"]
    assert fields["executor"]["protocol"] == "http"
    assert (fields["executor"]["method"], fields["executor"]["path"]) == (
        "GET",
        "/parcels/{parcelId}",
    )
    assert fields["executor"]["servers"] == [{"url": "https://courier.example/v2"}]
    own = fields_of(operation | {"summary": "Ours."}, tmp_path, sources=sources)
    assert own["description"] == "Ours."
    lost = rejection_of(operation | {"operationId": "lost"}, tmp_path, sources=sources)
    assert (lost.code, "operationId 'lost'" in lost.reason) == ("unknown_operation", True)


@pytest.mark.parametrize(
    "document", ["./lost.json", "../courier.json", "https://elsewhere.example/openapi.json"]
)
def test_an_openapi_document_that_is_not_beside_it_is_not_looked_for(document, tmp_path):
    sources = {"courier": {"type": "openapi", "version": "2", "document": document}}
    operation = {"protocol": "http", "source": "courier", "operationId": "getParcel"}
    assert rejection_of(operation, tmp_path, sources=sources).code == "bad_source"


def test_other_protocols_are_given_all_arguments_together(parcels):
    quote, weigh = parcels["quote"].fields, parcels["weigh"].fields
    assert quote["executor"]["request"] == {"params": "${input}"}
    assert (quote["endpoint"], quote["aliases"]) == ("price.quote", ["price.quote"])
    assert weigh["executor"]["request"] == {"message": "${input}"}
    assert weigh["executor"]["endpoint"] == {"host": "scales.example", "port": 443}
    assert weigh["endpoint"] == "courier.Scales/Weigh"
    assert quote["tool_type"] == weigh["tool_type"] == ToolType.API


def test_an_operation_of_an_mcp_server_is_an_mcp_tool(parcels):
    fields = parcels["shelve"].fields
    assert fields["tool_type"] == ToolType.MCP
    assert fields["executor"]["tool"] == "depot_shelve"
    assert fields["executor"]["source"]["transport"] == "streamable-http"
    assert fields["executor"]["request"] == {"arguments": "${input}"}
    assert parcels["depotPlan"].fields["executor"]["uri"] == "plan://depot/today"


def test_a_document_cannot_name_a_server_that_somebody_else_has_set_up(parcels):
    assert parcels["shelve"].fields["executor"]["server"] == "parcels/depot"


def test_an_executor_has_the_variables_that_it_needs_and_no_others(parcels):
    assert parcels["trackParcel"].fields["executor"]["environments"] == {
        "test": {"baseUrl": "https://${env.host}/v2", "host": "test.courier.example"},
        "live": {"baseUrl": "https://${env.host}/v2", "host": "courier.example"},
    }


def test_authentication_is_kept_with_references_for_what_is_secret(parcels):
    assert parcels["trackParcel"].fields["executor"]["authentication"] == {
        "type": "apiKey",
        "name": "X-Tracking-Key",
        "in": "header",
        "value": "${secrets.trackingKey}",
    }
    client = parcels["bookPickup"].fields["executor"]["authentication"]["client"]
    assert client["secret"] == "${secrets.courierSecret}"
    assert parcels["quote"].fields["executor"]["authentication"] == {"type": "none"}
    assert "authentication" not in parcels["shelve"].fields["executor"]


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


def test_what_is_destructive_is_marked(parcels):
    assert parcels["cancelPickup"].fields["executor"]["safety"] == {"destructive": True}
    assert parcels["bookPickup"].fields["executor"]["safety"] == {"requiresConfirmation": True}
    assert parcels["cancelPickup"].fields["deprecated"] is True
    assert parcels["trackParcel"].fields["deprecated"] is False


def test_what_is_not_in_use_is_left_out(parcels):
    assert parcels["teleport"] == LeftOut("teleport", "lifecycle draft")
    assert parcels["pigeonPost"] == LeftOut("pigeonPost", "lifecycle retired")


def test_fields_that_are_not_known_do_no_harm(tmp_path):
    plain = fields_of(HTTP, tmp_path)
    more = fields_of(HTTP | {"x-team": {"deep": [1]}, "servers": 5}, tmp_path, extra=[1])
    assert more == plain


def test_an_endpoint_document_leaves_its_context_to_the_catalog(tmp_path):
    operation = {
        "protocol": "jsonrpc",
        "source": "rpc",
        "method": "price.quote",
        "authentication": "courierToken",
    }
    context = {"catalog": "./courier.yaml", "inherits": ["authentications", "sources"]}
    executor = fields_of(operation, tmp_path, profile="endpoint", context=context)["executor"]
    assert executor["source"] == {"name": "rpc", "catalog": "./courier.yaml"}
    assert executor["authentication"] == {"name": "courierToken", "catalog": "./courier.yaml"}


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


def test_what_has_not_changed_is_not_read_again(tmp_path):
    document = described(HTTP, {"protocol": "ftp"}, tags=["noise"])
    known = {found.origin: found.origin_hash for found in scan(document, tmp_path)}
    assert len(known) == 2
    again = scan(document | {"tags": ["other noise"]}, tmp_path, known)
    assert again == [Unchanged("first"), Unchanged("second")]


def test_a_change_elsewhere_in_the_document_changes_the_operations_that_use_it(tmp_path):
    used = HTTP | {"endpoint": "${env.base}/parcels"}
    document = described(used, HTTP, environments={"live": {"variables": {"base": "https://a"}}})
    known = {found.origin: found.origin_hash for found in scan(document, tmp_path)}
    document["environments"]["live"]["variables"]["base"] = "https://b"
    changed, same = scan(document, tmp_path, known)
    assert isinstance(changed, Candidate)
    assert same == Unchanged("second")


def test_a_rejection_ends_when_what_was_missing_is_there(tmp_path):
    operation = {"protocol": "openrpc", "method": "x", "source": "ledger"}
    before = one(described(operation), tmp_path)
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
        findings = scan(document if document != "" else "{}", tmp_path)
    except SourceError:
        return
    for found in findings:
        assert isinstance(found, Candidate | LeftOut | Rejection)
        if isinstance(found, Candidate):
            assert isinstance(admit(found), Item | Rejection)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode()))
def test_any_bytes_give_only_findings_or_say_what_is_wrong(content, tmp_path):
    try:
        assert scan(content, tmp_path) is None
    except SourceError as error:
        assert "parcels.lightapi.json" in error.message
