"""The comparison with peers measures what `pegboard eval` measures; the peers need not be there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.app.measure import evaluate, evaluation_board
from pegboard.app.pegboard import located

ROOT = Path(__file__).parent.parent
COMPARE = ROOT / "benchmarks" / "peers" / "compare.py"
TOOLS = [
    ("mail:send", "send", "mail", "Send an e-mail to one or more people."),
    ("mail:send-later", "send-later", "mail", "Send an e-mail at a time you choose."),
    ("mail/send", "send", "mail", "Post a letter, by somebody who walks."),
    ("weather", "forecast", "", "How warm and how wet it will be tomorrow."),
    ("stocks", "quote", "money", "What a share of a company costs now."),
    ("convert", "convertCurrency", "money", "Turn an amount of euros into dollars."),
]
QUERIES = [
    ("write to Ada tonight at nine", ["mail:send-later"], {"mail:send-later": ["mail:send"]}),
    ("letter by post", ["mail/send"], {}),
    ("will it rain, and can I tell them by mail", ["weather", "mail:send"], {}),
    ("price of a share in dollars", ["stocks", "convert"], {}),
    ("forecast", ["quote that is not there"], {}),
]


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "retrieval" / "toy"
    folder.mkdir(parents=True)
    takes = [{"name": "to", "description": "whom", "type": "str", "required": True}]
    tools = [
        {"id": i, "name": n, "category": c, "description": d, "parameters": takes}
        for i, n, c, d in TOOLS
    ]
    queries = [
        {"id": str(number), "query": text, "gold": gold, "alt": alt}
        for number, (text, gold, alt) in enumerate(QUERIES)
    ]
    for name, rows in (("tools.jsonl", tools), ("queries.jsonl", queries)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
    return tmp_path


def compare(data, *options):
    command = [sys.executable, COMPARE, "--data", data, "--results", data, "--sets", "toy"]
    return subprocess.run(
        [*command, "--sizes", "", "--runs", "1", *options], capture_output=True, text=True
    )


def test_pegboard_compared_is_pegboard_evaluated(data):
    done = compare(data, "--peers", "Pegboard")
    assert done.returncode == 0, done.stderr
    row = json.loads((data / "peers.json").read_text("utf-8"))["sets"]["toy"]
    with evaluation_board(None, located().settings) as board:
        wanted, _ = evaluate(board, data / "retrieval" / "toy", mode="hybrid", limit=10)
    found = row["peers"]["Pegboard"]
    assert {key: found[key] for key in ("recall@1", "recall@5", "ndcg@10")} == {
        key: wanted[key] for key in ("recall@1", "recall@5", "ndcg@10")
    }
    assert 0 < found["ndcg@10"] < 1
    assert (row["tools"], row["queries"]) == (len(TOOLS), len(QUERIES))
    assert min(found[key] for key in ("search, ms", "indexing, ms", "disk, bytes")) > 0


@pytest.mark.parametrize(
    ("peer", "told"),
    [("Chroma", "install them with: make peers"), ("Nobody", "there are Pegboard")],
)
def test_a_peer_that_cannot_be_asked_is_named_with_the_next_step(data, peer, told):
    done = compare(data, "--peers", f"Pegboard,{peer}", "--environments", data / "nowhere")
    assert done.returncode == 1
    assert peer in done.stderr
    assert told in done.stderr
