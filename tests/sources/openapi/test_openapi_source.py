"""A service on a board: syncs, changes, and the command that adds it."""

import copy
import json

import pytest
from click.testing import CliRunner
from openapi_parts import OK, document, json_body, scan, written

from pegboard import Pegboard
from pegboard.cli.main import cli
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import SourceError, UsageError
from pegboard.model.items import Candidate, LeftOut, Unchanged

SHOP = document(
    {
        "/orders": {
            "get": {**OK, "operationId": "listOrders", "summary": "List all orders"},
            "post": {
                **OK,
                "operationId": "createOrder",
                "summary": "Place an order",
                "requestBody": json_body({"$ref": "#/components/schemas/Order"}),
            },
        },
        "/stock/{id}": {
            "get": {**OK, "operationId": "getStock", "summary": "How many are left of a product"}
        },
    },
    components={"schemas": {"Order": {"properties": {"product": {"type": "string"}}}}},
)


def hashes(found):
    return {each.origin: each.origin_hash for each in found if isinstance(each, Candidate)}


def test_a_document_that_did_not_change_brings_nothing_new(tmp_path):
    known = hashes(scan(tmp_path, SHOP))
    assert set(known) == {"GET /orders", "POST /orders", "GET /stock/{id}"}
    assert scan(tmp_path, SHOP, known) == [Unchanged(origin) for origin in known]
    text = json.dumps(SHOP, sort_keys=True, indent=3)
    assert all(isinstance(each, Unchanged) for each in scan(tmp_path, text, known))


def test_an_edit_changes_only_the_operations_that_it_is_about(tmp_path):
    known = hashes(scan(tmp_path, SHOP))
    edited = copy.deepcopy(SHOP)
    edited["components"]["schemas"]["Order"]["properties"]["amount"] = {"type": "integer"}
    edited["paths"]["/more"] = {"get": OK}
    found = {each.origin for each in scan(tmp_path, edited, known) if isinstance(each, Candidate)}
    assert found == {"POST /orders", "GET /more"}


def test_another_name_or_namespace_makes_other_items(tmp_path):
    known = hashes(scan(tmp_path, SHOP))
    found = scan(tmp_path, SHOP, known, namespace="team")
    assert {each.fields["namespace"] for each in found} == {"team"}


def test_repairs_are_told_of_line_by_line(tmp_path):
    text = "openapi: 3.0.0\ninfo: it\u0099s\npaths:\n  /x:\n    get: {responses: {}}\n"
    repair, found = scan(tmp_path, text)
    assert repair == LeftOut("line 2", "control character, removed")
    assert found.origin == "GET /x"


@pytest.fixture
def board(store):
    from pegboard.config.settings import Settings

    with Pegboard(store, Settings()) as found:
        found.embedder = HashedEmbedder()
        yield found


def test_a_service_is_found_by_what_its_operations_do(board, tmp_path):
    path = written(tmp_path, SHOP)
    record = board.add_source("openapi", str(path), name="shop")
    assert (record.kind, record.location) == ("openapi", str(path))
    [report] = board.sync().sources
    assert (report.added, report.rejected.total(), report.error) == (3, 0, "")
    first = board.search("place an order").hits[0]
    assert first.id == "shop:orders:createOrder"
    item = board.show("createOrder").item
    assert item.executor["method"] == "POST"
    assert item.input_schema["properties"]["product"] == {"type": "string"}
    [report] = board.sync().sources
    assert (report.added, report.changed, report.unchanged) == (0, 0, 3)


def test_an_operation_that_is_gone_is_retired_and_a_broken_document_retires_nothing(
    board, tmp_path
):
    path = written(tmp_path, SHOP)
    board.add_source("openapi", str(path), name="shop")
    board.sync()
    path.write_text("openapi: [\n")
    [report] = board.sync().sources
    assert "line 2" in report.error
    assert board.show("getStock").active
    left = copy.deepcopy(SHOP)
    del left["paths"]["/stock/{id}"]
    written(tmp_path, left)
    [report] = board.sync().sources
    assert (report.retired, report.unchanged) == (1, 2)


def test_an_operation_that_is_called_otherwise_now_is_not_there_twice(board, tmp_path):
    path = written(tmp_path, SHOP)
    board.add_source("openapi", str(path), name="shop")
    board.sync()
    renamed = copy.deepcopy(SHOP)
    renamed["paths"]["/orders"]["post"]["tags"] = ["purchases"]
    written(tmp_path, renamed)
    [report] = board.sync().sources
    assert (report.added, report.retired, report.unchanged) == (1, 1, 2)
    assert board.show("createOrder").item.id == "shop:purchases:createOrder"
    written(tmp_path, SHOP)
    [report] = board.sync().sources
    assert (report.changed, report.retired, report.unchanged) == (1, 1, 2)
    assert board.show("createOrder").item.id == "shop:orders:createOrder"


def test_what_refers_to_a_file_that_is_broken_for_a_while_stays_as_it_was(board, tmp_path):
    said = copy.deepcopy(SHOP)
    orders = {"get": said["paths"]["/orders"]["get"], "delete": {**OK, "operationId": "cancel"}}
    whole = {"orders.json": orders, "part.json": {"properties": {"a": {}}}}
    said["paths"]["/orders"] = {"$ref": "orders.json"}
    said["paths"]["/stock/{id}"]["get"]["requestBody"] = json_body({"$ref": "part.json"})
    for name, content in whole.items():
        written(tmp_path, content, name)
    path = written(tmp_path, said)
    board.add_source("openapi", str(path), name="shop")
    board.sync()
    for name in whole:
        written(tmp_path, "{", name)
    for _ in range(2):
        [report] = board.sync().sources
        assert (report.retired, report.rejected["unreadable"]) == (0, 4)
        assert board.show("cancel").active
        assert board.show("getStock").active
    for name, content in whole.items():
        written(tmp_path, content, name)
    [report] = board.sync().sources
    assert (report.retired, report.rejected.total()) == (0, 0)


def test_what_cannot_be_read_is_not_added(board, tmp_path):
    with pytest.raises(SourceError):
        board.add_source("openapi", str(tmp_path / "missing.json"), name=None)
    assert board.sources() == []


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("github.com.yaml.gz", "github.com"),
        ("Pet Store.json", "pet-store"),
        ("billing/openapi.yaml", "billing"),
        ("billing/swagger.json", "billing"),
        ("Ünïcode!.json", "n-code"),
    ],
)
def test_a_source_is_called_after_its_file(board, tmp_path, file, name):
    assert board.add_source("openapi", str(written(tmp_path, SHOP, file)), name=None).name == name


def test_a_name_that_is_taken_is_refused(board, tmp_path):
    board.add_source("openapi", str(written(tmp_path, SHOP, "a.json")), name="shop")
    with pytest.raises(UsageError, match="already"):
        board.add_source("openapi", str(written(tmp_path, SHOP, "b.json")), name="shop")


# The command


def run(*arguments):
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def test_the_command_adds_a_service_and_reads_it(tmp_path):
    place = ["--board", tmp_path / "board.db"]
    assert run("init", *place).exit_code == 0
    found = run("add", "openapi", written(tmp_path, SHOP, "shop.json"), *place)
    assert found.exit_code == 0, found.output
    assert "added shop: " in found.output
    assert "shop: 3 added" in found.output
    found = run("search", "--mode", "bm25", "stock of a product", *place)
    assert "shop:stock:getStock" in found.output


def test_the_command_prints_json_for_programs(tmp_path):
    place = ["--board", tmp_path / "board.db"]
    run("init", *place)
    path = written(tmp_path, SHOP, "shop.json")
    found = run("add", "openapi", path, "--name", "s", "--no-sync", "--json", *place)
    told = json.loads(found.stdout)
    assert (told["name"], told["kind"], told["location"]) == ("s", "openapi", str(path))


@pytest.mark.parametrize(
    "address",
    [
        "https://me:hunter2@a.test/api.json",
        "https://hunter2@a.test/api.json",
        "https://a.test/api.json?api_key=hunter2",
        "https://a.test/api.json#header=Authorization:Bearer%20hunter2",
    ],
)
def test_the_command_refuses_secrets_in_addresses(tmp_path, address):
    place = ["--board", tmp_path / "board.db"]
    run("init", *place)
    found = run("add", "openapi", address, *place)
    assert isinstance(found.exception, UsageError)
    assert "https://a.test/api.json" in str(found.exception)
    assert "hunter2" not in str(found.exception)


def test_the_command_refuses_secrets_in_headers(tmp_path):
    place = ["--board", tmp_path / "board.db"]
    run("init", *place)
    header = ["--header", "Authorization: Bearer abcdef123456"]
    found = run("add", "openapi", "https://a.test/api.json", *header, *place)
    assert found.exit_code != 0
    assert "secret" in str(found.exception)
