"""The OpenAPI document, the table of routes, the table of errors, and what is written of them."""

import json
import re
from pathlib import Path

import pytest
from http_parts import published

from making_releases import Publisher
from pegboard.errors import BoardUnreachable, PegboardError
from pegboard.formats.plain import plain
from pegboard.serve.http.document import document
from pegboard.serve.http.problems import OTHERS, STATUS, problem, status_of
from pegboard.serve.http.routes import ROUTES
from pegboard.serve.http.shapes import Record, Shapes
from pegboard.serve.outward import outward

ROOT = Path(__file__).parents[3]
HTTP = ROOT / "src" / "pegboard" / "serve" / "http"
DOCS = (ROOT / "docs" / "reference" / "http.md").read_text("utf-8")
DOCUMENT = document(ROUTES)


def kinds(kind=PegboardError):
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == "pegboard.errors":
            yield from kinds(each)


# Every answer of every other test is held against the document as well; see http_parts.


def ask_of_releases(api, folder):
    publisher = Publisher(folder / "published", api.board.settings.data_folder)
    for kind in ("tools", "items"):
        assert published(api, publisher.parcel()).status in (200, 201)
        place = f"/{kind}/tools:paper:fold"
        for what in ("", "/bundle", "/signature"):
            api.ask("GET", f"{place}/versions/1.0.0{what}")
        api.ask("GET", f"{place}/diff?from=1.0.0&to=1.0.0")
        for what in ("yank", "unyank"):
            api.ask("POST", f"{place}/versions/1.0.0/{what}")
        api.ask("PATCH", f"{place}/release", {"deprecated": True})


def test_every_route_answers_as_the_document_says(api, tmp_path):
    manifest = {
        "tool_id": "fold_paper",
        "tool_type": "python",
        "category": "paper",
        "description": "Fold a sheet of paper into a crane.",
    }
    made = {"manifest": manifest, "files": {"main.py": "def run(): return 1\n"}}
    for kind in ("tools", "items"):
        created = api.ask("POST", "/tools", made).headers["location"]
        name = created.rpartition("/")[2]
        api.ask("GET", f"/{kind}/{name}")
        api.ask("PATCH", f"/{kind}/{name}", {"tags": ["paper"]})
        for what in ("versions", "runs", "history", "links"):
            api.ask("GET", f"/{kind}/{name}/{what}")
        for what in ("call", "refresh", "retry"):
            api.ask("POST", f"/{kind}/{name}/{what}")
        api.ask("DELETE", f"/{kind}/{name}")
    ask_of_releases(api, tmp_path)
    for path in ("/healthz", "/readyz", "/metrics", "/me", "/openapi.json", "/audit", "/registry"):
        api.ask("GET", path)
    for path in ("/tools", "/items", "/runs", "/status", "/categories", "/changes", "/links"):
        api.ask("GET", path)
    for path in ("/rejections", "/sources", "/search?query=paper&explain=true"):
        api.ask("GET", path)
    for path in ("/runtime/tools.ts", "/runtime/tools.py"):
        api.ask("GET", path)
    api.ask("POST", "/search", {"query": "paper", "threshold": 1})
    for path in ("/refresh", "/retry", "/backfill", "/sources/ai/sync"):
        api.ask("POST", path)
    api.ask("DELETE", "/sources/ai")
    elsewhere = {  # with what they need: other servers, changes, streams that do not end
        *(("GET", "/events"), ("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")),
        ("POST", "/sources"),
        ("POST", "/tools/{id}/approve"),
        ("POST", "/items/{id}/approve"),
    }
    well = {(method, path) for method, path, status in api.met if status < 300}
    assert {(route.method, route.path) for route in ROUTES} - well == elsewhere


def test_the_document_is_for_everybody_and_describes_itself(api):
    found = api.ask("GET", "/openapi.json", who="")
    assert found.json["openapi"] == "3.1.0"
    assert "/openapi.json" in found.json["paths"]
    assert json.loads(json.dumps(plain(DOCUMENT)))["paths"].items() <= found.json["paths"].items()


def test_every_reference_in_the_document_leads_somewhere():
    text = json.dumps(DOCUMENT)
    for name in set(re.findall(r'"#/components/schemas/([^"]+)"', text)):
        assert name in DOCUMENT["components"]["schemas"]
    assert text.count("$ref") == text.count("#/components/schemas/")


def test_every_operation_has_a_name_of_its_own_and_says_who_may_ask():
    names = [route.name for route in ROUTES]
    assert len(set(names)) == len(names)
    for route in ROUTES:
        operation = DOCUMENT["paths"][route.path][route.method.lower()]
        assert operation["security"] == ([{"bearer": []}] if route.role else [])
        assert operation["summary"].endswith(".")
        if route.role:
            assert str(route.role) in operation["description"]
            assert {"401", "403"} <= set(operation["responses"])


def test_no_vector_goes_in_or_out():
    for name, schema in DOCUMENT["components"]["schemas"].items():
        numbers = [
            field
            for field, each in schema.get("properties", {}).items()
            if each.get("type") == "array" and each["items"].get("type") == "number"
        ]
        assert numbers == [], name


def test_two_types_of_one_name_are_not_mixed_up():
    shapes = Shapes({})
    shapes.of(Record("Same", {"a": int}))
    with pytest.raises(TypeError, match="two types are called Same"):
        shapes.of(Record("Same", {"b": int}))


def test_what_has_no_shape_is_noticed_when_the_document_is_made():
    with pytest.raises(TypeError, match="has no shape in JSON"):
        Shapes({}).of(complex)


# Errors.


@pytest.mark.parametrize("kind", [*kinds()], ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_and_is_a_problem_with_its_code(kind):
    whole = kind("it went wrong", "try again")
    answer = problem(whole)
    said = json.loads(answer.body)
    assert answer.status_code == said["status"] == status_of(kind()) in STATUS.values()
    assert (said["code"], said["detail"], said["hint"]) == (kind().code, *outward(whole))
    assert said["detail"] == "it went wrong" or kind is BoardUnreachable
    assert answer.media_type == "application/problem+json"


def test_no_code_means_two_things():
    assert not {kind().code for kind in kinds()} & set(OTHERS)


def test_no_code_is_told_that_is_not_in_the_table():
    texts = [each.read_text("utf-8") for each in HTTP.glob("*.py")]
    codes = re.findall(r'(?:Declined|Refusal\.by)\(\s*"(\w+)"', "\n".join(texts))
    assert {"busy", "stopping", "wrong_host", "too_slow"} <= set(codes) <= set(OTHERS)
    assert not re.search(r"told\(\s*\d", "\n".join(texts)), "a status that is in no table"


def test_every_code_is_written_down_with_its_status():
    rows = re.findall(r"^\| (\d{3}) \| ((?:`[a-z_]+`(?:, )?)+) \|", DOCS, re.MULTILINE)
    written = {code: int(status) for status, codes in rows for code in re.findall(r"\w+", codes)}
    assert written == OTHERS | {kind().code: status_of(kind()) for kind in kinds()}


# The page about all this.


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_is_written_down(route):
    path = route.path.replace("/items/{id}", "/tools/{id}")
    assert f"| `{route.method} {path}` | {route.role or 'anybody'} |" in DOCS


def test_nothing_is_written_down_that_is_not_there():
    written = re.findall(r"^\| `([A-Z]+ /[^`]*)` \|", DOCS, re.MULTILINE)
    there = {f"{route.method} {route.path}" for route in ROUTES} | {"GET /openapi.json"}
    assert set(written) <= there
    assert len(set(written)) == len(written)


def test_every_parameter_is_written_down():
    for route in ROUTES:
        for model in (route.query, route.body):
            for name in model.model_fields if model else ():
                assert f"`{name}`" in DOCS, f"{route.name} takes {name}"
