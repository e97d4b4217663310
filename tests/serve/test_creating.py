"""What an agent is told of making tools, and what it is told when that went wrong."""

import json
import re

import jsonschema
import pytest
from serve_parts import text_of

from pegboard.app.pegboard import Pegboard
from pegboard.board.create.drafts import draft_of
from pegboard.config.settings import Settings
from pegboard.gate.tool_schema import schema_text
from pegboard.serve.mcp.creating import INPUT_SCHEMA, OUTPUT_SCHEMA, in_words
from pegboard.store.sqlite.store import SqliteStore

SAID = INPUT_SCHEMA["properties"]["manifest"]["description"]
SCHEMA = json.loads(schema_text())


@pytest.fixture
def board(tmp_path):
    with Pegboard(SqliteStore(tmp_path / "board.db", create=True), Settings()) as made:
        yield made


@pytest.mark.parametrize("kind", ["python", "bash", "api"])
def test_the_keys_that_it_names_are_those_that_the_gate_takes(kind):
    [named] = re.findall(rf"{kind} \{{([^}}]*)\}}", SAID)
    config = SCHEMA["$defs"][kind]
    assert set(config.get("required", ())) <= set(named.split(", ")) <= set(config["properties"])


@pytest.mark.program
@pytest.mark.parametrize(
    ("manifest", "files"),
    [
        ({"tool_type": "python"}, {"main.py": "def run(a, b): return a * b"}),
        (
            {"tool_type": "bash", "executor_config": {"entrypoint": "run.sh"}},
            {"run.sh": "echo $((ARG_A * ARG_B))"},
        ),
        (
            {
                "tool_type": "api",
                "executor_config": {"url": "https://example.com/{a}", "query": {"b": "{b}"}},
                "permissions": ["connect network example.com", "read secret KEY"],
            },
            {},
        ),
    ],
)
def test_what_follows_its_words_is_made(board, manifest, files):
    numbers = [{"name": name, "type": "integer", "required": True} for name in "ab"]
    said = {"tool_id": "area", "description": "Measure an area.", "parameters": numbers}
    tried = {"a": 6, "b": 7} if files else None
    made = board.create(draft_of(said | manifest, files), try_with=tried)
    assert made.state == "created", made
    if made.trial is not None:
        assert made.trial.content[0]["text"].strip() == "42"


@pytest.mark.program
def test_a_tool_that_fails_when_it_is_tried_can_be_made_untried(board):
    said = {"tool_id": "fetch", "tool_type": "python", "description": "Fetch a page."}
    draft = draft_of(said, {"main.py": "import no_such_package\ndef run(): ..."})
    made = board.create(draft, try_with={})
    told = "\n".join(in_words(made))
    assert "was not kept: trying it failed; without try_with it is kept untried" in told
    assert "name the package that has it in its dependencies" in told
    assert board.create(draft).state == "created"


FETCH = {"tool_id": "fetch", "tool_type": "python", "description": "Fetch a page."}


def test_a_tool_that_the_gate_refuses_is_an_error_with_its_code_and_its_facts(ask):
    result = ask("create_tool", manifest=FETCH | {"color": "red"})
    assert result.is_error
    jsonschema.validate(result.structured_content, OUTPUT_SCHEMA)
    told = result.structured_content
    assert (told["state"], told["id"]) == ("refused", "created::fetch")
    assert "color" in told["reason"]
    error = result.meta["pegboard"]["error"]
    assert error["code"] == "refused"
    assert error["message"] == f"created::fetch was refused: {told['reason']}" == text_of(result)


@pytest.mark.program
def test_a_tool_that_fails_when_it_is_tried_is_an_error_with_its_code_and_its_facts(ask):
    files = {"main.py": "def run():\n    print('so far')\n    return 1 / 0\n"}
    result = ask("create_tool", manifest=FETCH, files=files, try_with={})
    assert result.is_error
    jsonschema.validate(result.structured_content, OUTPUT_SCHEMA)
    told = result.structured_content
    assert (told["state"], told["id"], told["version"]) == ("failed", "created::fetch", "1.0.0")
    assert told["trial"]["outcome"] == "failed"
    assert "ZeroDivisionError" in told["trial"]["error"]
    assert "so far" in told["trial"]["logs"]
    error = result.meta["pegboard"]["error"]
    assert error["code"] == "trial_failed"
    assert error["message"] in text_of(result)
    assert error["hint"] in text_of(result)


@pytest.mark.program
def test_a_tool_that_was_tried_and_made_is_no_error(ask):
    result = ask("create_tool", manifest=FETCH, files={"main.py": "def run(): ..."}, try_with={})
    assert not result.is_error
    assert "pegboard" not in (result.meta or {})
    assert result.structured_content["state"] == "created"
    assert result.structured_content["trial"]["outcome"] == "ok"
