"""MCP servers as sources: is what comes through the protocol the same, and what does it cost?

The saved servers are served again (replay.py), so that every tool passes through a real session.
First mcpproxy_golden is measured with its tools from the servers, and from its JSON file. Then all
servers go onto one board, in turn with the same tools from a file, and once more without change.
"""

import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from indexing import CountingEmbedder
from pegboard import Pegboard
from pegboard.app.measure import evaluate, evaluate_as_is, evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.maintain.filling import Outcome
from pegboard.board.measure.evaluating import name_of, read_queries
from pegboard.embed.local import LocalEmbedder
from pegboard.model.calls import ServerConfig
from pegboard.model.items import SourceRecord
from pegboard.text import _terms_of
from replay import Definition, configs, dumps, replaying
from report import Check, at_least, at_most, options, save

MODES = ("hybrid", "vector", "bm25")
LIMIT = 10
TAKES_TIME = "latency_ms"
"""What may differ between two runs over the same tools."""
FILE = "catalogue"

Dumps = dict[str, list[Definition]]


class Part(NamedTuple):
    """What was found, and the targets it is held against."""

    figures: dict[str, object]
    checks: dict[str, Check]


def main() -> None:
    args = options(__doc__, runs=3).parse_args()
    saved = args.data / "mcp"
    with replaying(saved / "reference_servers") as urls:
        golden = same_as_from_file(configs(urls), args.data / "retrieval" / "mcpproxy_golden")
    with replaying(saved) as urls, TemporaryDirectory(prefix="pegboard-bench-") as scratch:
        catalogue = Path(scratch) / "tools.jsonl"
        tools = dumps(saved)
        write_catalogue(tools, catalogue)
        ingest = all_servers(configs(urls), tools)
        ratios = against_file(configs(urls), catalogue, args.runs)
    save(
        args,
        "mcp_ingest",
        {
            "checks": golden.checks | ingest.checks,
            "golden": golden.figures,
            "ingest": ingest.figures,
            "time": ratios,
        },
    )


# mcpproxy_golden, both ways


class Ways(NamedTuple):
    """One board that was filled by servers, and one from the file."""

    through: Pegboard
    from_file: Pegboard


def same_as_from_file(servers: list[ServerConfig], folder: Path) -> Part:
    with new_board() as through, new_board() as from_file:
        outcome = fill(through, servers)
        if outcome.notices or outcome.waiting:
            raise SystemExit(f"the board is not whole: {outcome.notices}")
        ways = Ways(through, from_file)
        found = {mode: measured(ways, folder, mode) for mode in MODES}
        rankings = [each for mode in MODES for each in differing(ways, folder, mode)]
    measures = [
        f"{mode}: {name}"
        for mode, (one, other) in found.items()
        for name in one
        if one[name] != other[name]
    ]
    shown = ("tools", "queries", "ndcg@10", "recall@1", "recall@5", "recall@10", "mrr")
    return Part(
        {
            "measures that differ": measures,
            "rankings that differ": rankings,
            "modes": {
                mode: {
                    "through MCP": {name: one[name] for name in shown},
                    "from the file": {name: other[name] for name in shown},
                }
                for mode, (one, other) in found.items()
            },
        },
        {
            "golden: measures that differ": at_most(len(measures), 0),
            "golden: rankings that differ": at_most(len(rankings), 0),
        },
    )


def measured(ways: Ways, folder: Path, mode: str) -> tuple[dict[str, object], dict[str, object]]:
    from_file, notices = evaluate(ways.from_file, folder, mode=mode, limit=LIMIT)
    if notices:
        raise SystemExit(f"{folder.name}: {notices}")
    through, _ = evaluate_as_is(ways.through, folder, mode=mode, limit=LIMIT)
    for each in (through, from_file):
        del each[TAKES_TIME]
    return through, from_file


def differing(ways: Ways, folder: Path, mode: str) -> Iterator[str]:
    """Queries whose hits or scores are not the same."""
    for query in read_queries(folder / "queries.jsonl"):
        through, from_file = (
            [
                (name_of(hit.id, query), hit.score)
                for hit in board.search(query.text, mode=mode, limit=LIMIT, threshold=0.0).hits
            ]
            for board in ways
        )
        if through != from_file:
            yield f"{mode}: {query.id}: {through} {from_file}"


# All servers


def all_servers(servers: list[ServerConfig], tools: Dumps) -> Part:
    with new_board() as board:
        embedder = CountingEmbedder(LocalEmbedder())
        board.embedder = embedder
        first = fill(board, servers)
        embedded, embedder.texts = embedder.texts, 0
        again = board.sync()
        items = sum(line.items for line in board.census())
        altered = list(wrong(board, tools))
    rejected = sum((report.rejected for report in first.sources), Counter[str]())
    errors = [f"{each.source}: {each.error}" for each in first.sources if each.error]
    every = sum(map(len, tools.values()))
    return Part(
        {
            "servers": len(servers),
            "tools": every,
            "items": items,
            "rejected": dict(rejected),
            "errors": errors,
            "altered": altered,
            "embedded": embedded,
            "embedded by a second sync": embedder.texts,
            "changed by a second sync": sum(each.added + each.changed for each in again.sources),
        },
        {
            "servers that could not be read": at_most(len(errors), 0),
            "tools on the board": at_least(items, every),
            "definitions that changed on the way": at_most(len(altered), 0),
            "texts embedded by a second sync": at_most(embedder.texts, 0),
        },
    )


def wrong(board: Pegboard, tools: Dumps) -> Iterator[str]:
    """Tools whose name, description or schema is not on the board as their server wrote it."""
    for server, definitions in tools.items():
        for each in definitions:
            item = board.show(f"mcp:{server}:{each['name']}").item
            kept = (item.name, item.description, item.input_schema)
            if kept != (each["name"], each["description"], each["inputSchema"]):
                yield item.id


def against_file(servers: list[ServerConfig], catalogue: Path, runs: int) -> dict[str, object]:
    """Both ways in turn, so that whatever else the machine does hits both alike."""
    ways: dict[str, Callable[[Pegboard, bool], Outcome]] = {
        "through MCP": lambda board, embed: fill(board, servers, embed=embed),
        "from the file": lambda board, embed: fill_from(board, catalogue, embed=embed),
    }
    seconds: dict[tuple[str, bool], list[float]] = {}
    for _ in range(runs):
        for embed in (True, False):
            for name, way in ways.items():
                seconds.setdefault((name, embed), []).append(timed(way, embed))
    median = {key: statistics.median(values) for key, values in seconds.items()}
    tools = len(catalogue.read_text("utf-8").splitlines())
    return {
        "runs": runs,
        "ratio, with embedding": ratio(median, embed=True),
        "ratio, without embedding": ratio(median, embed=False),
        "ms a tool": {
            f"{name}, {'with' if embed else 'without'} embedding": round(1000 * each / tools, 3)
            for (name, embed), each in median.items()
        },
    }


def ratio(median: dict[tuple[str, bool], float], *, embed: bool) -> float:
    return round(median["through MCP", embed] / median["from the file", embed], 3)


def timed(way: Callable[[Pegboard, bool], Outcome], embed: bool) -> float:
    """A sync of a new board; the model is loaded before, and the sessions are closed after."""
    with new_board() as board:
        if embed and board.embedder is not None:
            board.embedder.embed_query("load the model")
        _terms_of.cache_clear()  # no way may profit from the one before it
        began = time.perf_counter()
        way(board, embed)
        return time.perf_counter() - began


@contextmanager
def new_board() -> Iterator[Pegboard]:
    with evaluation_board(None, located().settings) as board:
        yield board


def fill(board: Pegboard, servers: list[ServerConfig], *, embed: bool = True) -> Outcome:
    board.add_servers(servers)
    return board.sync(embed=embed)


def fill_from(board: Pegboard, catalogue: Path, *, embed: bool) -> Outcome:
    board.store.ledger.add_source(SourceRecord(FILE, "jsonl", str(catalogue)))
    return board.sync(embed=embed)


def write_catalogue(tools: Dumps, path: Path) -> None:
    """The same tools in the form that JsonlSource reads."""
    with path.open("w", encoding="utf-8") as file:
        for server, definitions in tools.items():
            for each in definitions:
                row = {"id": f"{server}:{each['name']}", "name": each["name"], "category": server}
                row |= {"description": each["description"], "parameters": parameters(each)}
                file.write(json.dumps(row) + "\n")


def parameters(tool: Definition) -> list[dict[str, object]]:
    schema = tool["inputSchema"]
    if not isinstance(schema, dict):
        return []
    required = schema.get("required") or ()
    return [
        {
            "name": name,
            "description": each.get("description", ""),
            "type": each.get("type", ""),
            "required": name in required,
        }
        for name, each in (schema.get("properties") or {}).items()
    ]


if __name__ == "__main__":
    main()
