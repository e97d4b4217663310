"""The gateway under requests that are made from its own document, good ones and bad ones."""

import os
import subprocess
import sys

import pytest
from http_parts import serving, write_tools

from making_releases import Publisher
from pegboard.app.pegboard import Pegboard
from pegboard.board.create.drafts import draft_of

CHECKED = """\
[generation]
deterministic = true
max-examples = 4

[dictionaries]
ids.values = ["greet", "created:paper:fold", "tools:text:shout", "deploy", "nothing", "a/b"]
numbers.values = ["1.0.0", "latest", "9.9.9", "1.0"]
names.values = ["ai", "nothing"]
marks.values = ["", "WyJnZW50b29sczp0ZXh0OmNvdW50X3dvcmRzIiwgInB1YmxpYyJd"]

[parameters]
"path.id" = {dictionary = "ids", probability = 0.8}
"path.name" = {dictionary = "names", probability = 0.8}
"path.version" = {dictionary = "numbers", probability = 0.8}
"query.after" = {dictionary = "marks"}

[phases.stateful]
max-steps = 5

# What is put well can still be refused: by the gate, by a tool's own schema, by what there is.
[[operations]]
include-path = ["/items", "/tools"]
checks.positive_data_acceptance.enabled = false

[[operations]]
include-method = ["POST", "PATCH", "DELETE"]
exclude-path = "/search"
checks.positive_data_acceptance.enabled = false

# Names at their longest, as many as there may be, are no line of a request any more.
[[operations]]
include-path-regex = "/runtime/"
phases.coverage.enabled = false
checks.positive_data_acceptance.enabled = false

# What does not end, or speaks another protocol, has tests of its own.
[[operations]]
include-path = ["/events", "/mcp"]
enabled = false

# These are the same handlers as under /tools.
[[operations]]
include-path-regex = "/items/.id./"
enabled = false
"""
MAIN = "from schemathesis.cli import schemathesis; schemathesis()"
PHASES = {"sqlite": "coverage,fuzzing,stateful", "postgres": "fuzzing,stateful"}
MANIFEST = {
    "tool_id": "fold",
    "tool_type": "python",
    "category": "paper",
    "description": "Fold a sheet of paper into a crane.",
    "parameters": [{"name": "sheet", "type": "string"}],
}


@pytest.fixture(params=["sqlite", "postgres"])
def board(request, tmp_path, monkeypatch):
    """Of tools that end by themselves, whatever they are given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_REGISTRY", "off")
    monkeypatch.setenv("PEGBOARD_DATA_DIR", str(tmp_path / "data"))
    on_postgres = request.param == "postgres"
    place = request.getfixturevalue("postgres_url") if on_postgres else str(tmp_path / "board.db")
    with Pegboard.open(place, create=not on_postgres) as found:
        for each in write_tools(tmp_path, but="wait"):
            found.add_folder(each)
        found.sync()
        draft = draft_of(MANIFEST, {"main.py": "def run(sheet): return sheet"})
        assert found.create(draft).entry is not None
        publisher = Publisher(tmp_path / "published", found.settings.data_folder)
        parcel = publisher.parcel("1.0.0", name="shout", category="text")
        assert found.releases.publish(parcel, by="olga").state == "published"
        yield found


def test_no_request_breaks_it_and_every_answer_is_as_the_document_says(request, board, tmp_path):
    (tmp_path / "schemathesis.toml").write_text(CHECKED)
    phases = PHASES[request.node.callspec.params["board"]]
    with serving(board) as api:
        said = ["run", f"{api.url}/openapi.json", "--header=Authorization: Bearer owner"]
        run = subprocess.run(
            [sys.executable, "-c", MAIN, *said, "--no-shrink", "--workers=1", f"--phases={phases}"],
            cwd=tmp_path,
            env=os.environ | {"NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=float(request.config.getini("timeout")) - 10,
        )
        assert run.returncode == 0, run.stdout[:30_000]
        assert api.ask("GET", "/healthz").status == 200
    assert board.check() == []
