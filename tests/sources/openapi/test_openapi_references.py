"""References lead into the document and around it, and nowhere else."""

import json
import os

import pytest
from openapi_parts import OK, document, only, operation, refused, scan, written

from pegboard.model.items import Candidate


def with_schema(reference):
    schema = {"properties": {"a": {"$ref": reference}}}
    return operation(requestBody={"content": {"application/json": {"schema": schema}}})


def test_schemas_of_other_files_come_along(tmp_path):
    written(
        tmp_path, "type: object\nproperties:\n  owner: {$ref: './owner.yaml'}\n", "parts/pet.yaml"
    )
    written(
        tmp_path,
        'properties: {pet: {$ref: "../api.json#/components/schemas/X"}}',
        "parts/owner.yaml",
    )
    said = with_schema("parts/pet.yaml")
    said["components"] = {"schemas": {"X": {"type": "string"}}}
    found = only(tmp_path, said)["input_schema"]["$defs"]
    assert found == {
        "pet": {"type": "object", "properties": {"owner": {"$ref": "#/$defs/owner"}}},
        "owner": {"properties": {"pet": {"$ref": "#/$defs/X"}}},
        "X": {"type": "string"},
    }


def test_paths_parameters_and_answers_of_other_files_come_along(tmp_path):
    path = {
        "get": {
            "operationId": "list",
            "parameters": [{"$ref": "shared.json#/parameters/page"}],
            "responses": {"200": {"$ref": "shared.json#/answers/list"}},
        }
    }
    shared = {
        "parameters": {"page": {"name": "page", "in": "query", "schema": {"type": "integer"}}},
        "answers": {"list": {"content": {"application/json": {"schema": {"type": "array"}}}}},
    }
    written(tmp_path, path, "parts/path.json")
    written(tmp_path, shared, "parts/shared.json")
    found = only(tmp_path, document({"/x": {"$ref": "parts/path.json"}}))
    assert found["input_schema"]["properties"] == {"page": {"type": "integer"}}
    assert found["output_schema"] == {"type": "array"}


def test_escapes_in_pointers_are_read(tmp_path):
    written(tmp_path, {"a/b": {"c~d": [{"é x": {"type": "string"}}]}}, "other.json")
    found = only(tmp_path, with_schema("other.json#/a~1b/c~0d/0/%C3%A9%20x"))
    assert list(found["input_schema"]["$defs"].values()) == [{"type": "string"}]


def test_what_stands_beside_a_reference_counts_more(tmp_path):
    said = operation(
        parameters=[{"$ref": "#/components/parameters/page", "description": "Which page."}],
        components={"parameters": {"page": {"name": "p", "in": "query", "description": "Old."}}},
    )
    found = only(tmp_path, said)["input_schema"]["properties"]["p"]
    assert found["description"] == "Which page."


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("../outside.json", "leads out of the document's folder"),
        ("parts/../../outside.json", "leads out of the document's folder"),
        ("%2e%2e/outside.json", "leads out of the document's folder"),
        ("link.json", "leads out of the document's folder"),
        ("folder/outside.json", "leads out of the document's folder"),
        ("loop", "cannot be followed"),
        ("https://example.com/x.json", "leads out of the file system"),
        ("file:///etc/passwd", "leads out of the file system"),
        ("nul%00.json", "is no path"),
    ],
)
def test_references_out_of_the_folder_are_refused(tmp_path, reference, why):
    folder = tmp_path / "inside"
    written(tmp_path, {"type": "string"}, "outside.json")
    folder.mkdir()
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "loop").symlink_to(folder / "loop")
    found = refused(folder, with_schema(reference))
    assert found.code == "bad_reference"
    assert ascii(reference) in found.reason
    assert why in found.reason


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("missing.json", "No such file"),
        ("broken.json", "line 1, column 2"),
        ("parts", "is no file"),
    ],
)
def test_references_to_what_cannot_be_read_are_refused_as_that(tmp_path, reference, why):
    written(tmp_path, "[", "broken.json")
    (tmp_path / "parts").mkdir()
    found = refused(tmp_path, with_schema(reference))
    assert found.code == "unreadable"
    assert ascii(reference) in found.reason
    assert why in found.reason


def test_an_absolute_path_is_refused(tmp_path):
    outside = written(tmp_path, {"type": "string"}, "outside.json")
    assert "no path relative" in refused(tmp_path / "inside", with_schema(str(outside))).reason


def test_a_pipe_is_no_document(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "is no file" in refused(tmp_path, with_schema("pipe")).reason


def test_a_document_that_is_a_link_itself_reads_what_is_beside_its_target(tmp_path):
    written(tmp_path / "real", {"type": "string"}, "part.json")
    target = written(tmp_path / "real", with_schema("part.json"), "api.json")
    (tmp_path / "shown").mkdir()
    link = tmp_path / "shown" / "api.json"
    link.symlink_to(target)
    from pegboard.sources.openapi.source import OpenApiSource

    [found] = OpenApiSource("shop", str(link)).scan({})
    assert isinstance(found, Candidate)


@pytest.mark.parametrize(
    "parameters",
    [
        {"a": {"$ref": "#/components/parameters/a"}},
        {"a": {"$ref": "#/components/parameters/b"}, "b": {"$ref": "#/components/parameters/a"}},
    ],
)
def test_a_parameter_that_refers_to_itself_refuses_the_operation(tmp_path, parameters):
    said = operation(
        parameters=[{"$ref": "#/components/parameters/a"}], components={"parameters": parameters}
    )
    assert "leads back to itself" in refused(tmp_path, said).reason


def test_one_bad_reference_costs_one_operation(tmp_path):
    bad = {**OK, "parameters": [{"$ref": "#/nowhere"}]}
    said = document({"/a": {"get": bad}, "/b": {"get": OK}, "/c": {"$ref": "#/nowhere"}})
    found = {each.origin: type(each).__name__ for each in scan(tmp_path, said)}
    assert found == {"GET /a": "Rejection", "GET /b": "Candidate", "/c": "Rejection"}


def test_a_thousand_files_are_too_many(tmp_path):
    for n in range(600):
        written(tmp_path, json.dumps({"type": "string"}), f"p{n}.json")
    schema = {"properties": {f"p{n}": {"$ref": f"p{n}.json"} for n in range(600)}}
    said = operation(requestBody={"content": {"application/json": {"schema": schema}}})
    assert "more than 500 documents" in refused(tmp_path, said).reason
