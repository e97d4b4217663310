"""What the gate refuses is on no board: not found, not queued, not embedded, by any source."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pegboard.board.sync.one_source import Sync
from pegboard.gate.admission import admit
from pegboard.model.calls import Listing, ServerConfig, Transport
from pegboard.model.items import Filters, SourceRecord
from pegboard.ports.stages import quiet
from pegboard.sources.mcp.source import McpSource

STORES = ("sqlite", "postgres")
HIDDEN = "\u202e"
"""Turns the direction of writing: readers see other words than models do."""


class Broken(NamedTuple):
    """One candidate of a source that must not pass, and what would make it pass."""

    kind: str
    write: Callable[[Path, bool], None]
    """Writes it into a folder, broken or mended."""
    code: str
    location: str = ""


def _file(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def python_tool(root: Path, good: bool) -> None:
    said = "Plays the xylophone." if good else f"Plays the xylophone{HIDDEN}."
    _file(root, "mcptools/music/play.py", f'def run():\n    """{said}"""\n')


def single_script(root: Path, good: bool) -> None:
    said = "Plays the xylophone." if good else f"Plays the xylophone{HIDDEN}."
    _file(root, "tools/music/play.py", f'def run():\n    """{said}"""\n')


def manifest(root: Path, good: bool) -> None:
    entry = "main.sh" if good else "../../../main.sh"
    text = (
        "tool_id: play\ntool_type: bash\nversion: 1.0.0\ndescription: Plays the xylophone.\n"
        f"executor_config:\n  entrypoint: {entry}\n"
    )
    _file(root, "tools/music/play/tool.yaml", text)
    _file(root, "tools/music/play/main.sh", "echo\n")


def directive(root: Path, good: bool) -> None:
    head = "" if good else '<!DOCTYPE x [<!ENTITY a "b">]>\n'
    _file(
        root,
        "directives/music/play.md",
        f'# Play\n\n```xml\n{head}<directive name="play" version="1.0.0">\n'
        "<metadata><description>Plays the xylophone.</description></metadata>\n"
        '<process><step name="play"><description>Play it.</description></step></process>\n'
        "</directive>\n```\n",
    )


def knowledge(root: Path, good: bool) -> None:
    title = "title: Xylophones" if good else "title: [Xylophones"
    text = f"---\nid: play\n{title}\n---\nHow the xylophone is played.\n"
    _file(root, "knowledge/music/play.md", text)


def skill(root: Path, good: bool) -> None:
    name = "play" if good else "another-name"
    text = f"---\nname: {name}\ndescription: Plays the xylophone.\n---\n# Play\n"
    _file(root, "skills/play/SKILL.md", text)


def operation(root: Path, good: bool) -> None:
    reference = "#/components/schemas/Tune" if good else "#/components/schemas/Missing"
    schema = {"type": "object", "properties": {"tune": {"$ref": reference}}}
    body = {"content": {"application/json": {"schema": schema}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Music", "version": "1"},
        "servers": [{"url": "https://music.example"}],
        "paths": {
            "/play": {
                "post": {
                    "operationId": "play",
                    "summary": "Plays the xylophone.",
                    "requestBody": body,
                    "responses": {},
                }
            }
        },
        "components": {"schemas": {"Tune": {"type": "string"}}},
    }
    _file(root, "music.json", json.dumps(document))


def described(root: Path, good: bool) -> None:
    document = {
        "lightapi": "0.1.0",
        "info": {"title": "Music", "namespace": "music", "version": "1.0.0"},
        "operations": {
            "play": {
                "summary": "Plays the xylophone.",
                "protocol": "http",
                "method": "GET",
                "endpoint": "https://music.example/play",
                "input": {"schema": {"type": "object" if good else "music"}},
            }
        },
    }
    _file(root, "music.json", json.dumps(document))


def line(root: Path, good: bool) -> None:
    said = "Plays the xylophone." if good else f"Plays the xylophone{HIDDEN}."
    _file(root, "tools.jsonl", json.dumps({"id": "play", "name": "play", "description": said}))


BROKEN = (
    Broken("pytools", python_tool, "hidden_characters"),
    Broken("folder", single_script, "hidden_characters"),
    Broken("folder", manifest, "bad_path"),
    Broken("folder", directive, "bad_xml"),
    Broken("folder", knowledge, "bad_yaml"),
    Broken("folder", skill, "wrong_name"),
    Broken("user_folder", skill, "wrong_name"),
    Broken("openapi", operation, "bad_reference", "music.json"),
    Broken("lightapi", described, "bad_schema", "music.json"),
    Broken("jsonl", line, "hidden_characters", "tools.jsonl"),
)


def found(board):
    filters = Filters(active=None)
    asked = [board.search("xylophone", mode=mode, filters=filters) for mode in ("bm25", "hybrid")]
    return {hit.name for answer in asked for hit in (*answer.hits, *answer.nearest)}


def queued(sql):
    return sql("SELECT 1 FROM embedding_tasks")


def assert_nowhere(board, sql):
    assert found(board) == set()
    assert queued(sql) == []
    assert sql("SELECT id FROM items") == []
    assert board.check() == []


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case.kind}-{case.write.__name__}")
def test_what_is_refused_is_nowhere_until_it_is_mended(opened, tmp_path, sql, case):
    board, root = opened(), tmp_path / "content"
    case.write(root, False)
    board.store.ledger.add_source(SourceRecord("it", case.kind, str(root / case.location)))
    board.sync()
    [refused] = board.rejections()
    assert (refused.source, refused.code) == ("it", case.code), refused.reason
    assert refused.rejected_at
    assert_nowhere(board, sql)

    case.write(root, True)
    board.sync()
    assert len(found(board)) == 1
    assert board.rejections() == []

    case.write(root, False)
    board.sync(embed=False)
    assert found(board) == set() or not sql("SELECT id FROM items WHERE active")
    assert queued(sql) == []
    assert [each.code for each in board.rejections()] == [case.code]


def test_a_tool_of_a_server_that_is_refused_is_nowhere(opened, sql):
    board = opened()
    record = SourceRecord("it", "mcp", "music-server")
    board.store.ledger.add_source(record)
    tools = [{"name": "play", "description": "Plays the xylophone.", "inputSchema": {"type": 3}}]
    config = ServerConfig("it", Transport.STDIO, command="music-server")
    source = McpSource(config, lambda: Listing(tuple(tools)))

    def sync():
        passing = Sync(board.store, admit, record, board.target, quiet)
        passing.run(source, keep_missing_days=30, stop=threading.Event())

    sync()
    assert [each.code for each in board.rejections()] == ["bad_schema"]
    assert_nowhere(board, sql)
    tools[0]["inputSchema"] = {"type": "object"}
    sync()
    assert found(board) == {"play"}
    assert board.rejections() == []
