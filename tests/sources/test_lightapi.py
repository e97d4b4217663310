import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from lightapi_parts import HTTP, PARCELS, described, fields_of, rejection_of, scan

from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Item, LeftOut, ToolType, Unchanged
from pegboard.sources.lightapi.source import LightApiSource

pytestmark = pytest.mark.server


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


class Answers(ThreadingHTTPServer):
    pages: dict[str, object]
    asked: list[tuple[str, str | None]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers["X-Desk"]))
        page = self.server.pages[self.path]
        self.send_response(302 if isinstance(page, str) else 200)
        self.send_header("Location", page if isinstance(page, str) else "")
        self.end_headers()
        self.wfile.write(json.dumps(page).encode())

    def log_message(self, *args):
        pass


@contextmanager
def serving(pages):
    server = Answers(("127.0.0.1", 0), Handler)
    server.pages, server.asked = pages, []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def test_a_document_is_fetched_with_its_headers_which_go_nowhere_else():
    sources = {"courier": {"type": "openapi", "version": "2", "document": "courier.json"}}
    pointing = {"protocol": "http", "source": "courier", "operationId": "getParcel"}
    pages = {
        "/all.json": described(pointing, sources=sources),
        "/courier.json": {
            "openapi": "3.1.0",
            "paths": {"/x": {"get": {"operationId": "getParcel"}}},
        },
    }
    with serving(pages) as server, serving({"/moved.json": f"{server.url}/all.json"}) as other:
        for url in (f"{server.url}/all.json", f"{other.url}/moved.json"):
            [found] = LightApiSource("parcels", f"{url}#header=X-Desk:seven").scan({})
            assert found.fields["endpoint"] == "GET /x"
        assert server.asked == [
            ("/all.json", "seven"),
            ("/courier.json", "seven"),
            ("/all.json", None),
            ("/courier.json", None),
        ]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ({"title": "Find a parcel", "summary": "Look it up."}, "Find a parcel"),
        ({"summary": "Look \n it up."}, "Look it up."),
        ({}, ""),
    ],
)
def test_the_title_is_that_of_the_operation_or_its_summary(tmp_path, said, title):
    found = fields_of(HTTP | said, tmp_path)
    assert (found["title"], "Find a parcel" in found["aliases"]) == (title, False)
