"""OpenAPI services as sources: does everything come in, what does it cost, and is it found?

The real specifications go onto one new board, first without vectors, then with them, then once more
without change. Every schema is held against the metaschema of JSON Schema 2020-12. Then RestBench
is asked of a board with the two services that its queries are about.
"""

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from jsonschema import Draft202012Validator, SchemaError

from indexing import CountingEmbedder
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import EvalQuery, evaluate, read_queries
from pegboard.embed.local import LocalEmbedder
from pegboard.model.items import Item
from pegboard.ports.stages import quiet
from report import Check, at_least, at_most, options, save

METHODS = r"get|put|post|delete|options|head|patch|trace"
MINILM = {"recall@1": 0.275, "recall@5": 0.524, "recall@10": 0.662, "ndcg@10": 0.568}
"""What the data's README gives for all-MiniLM-L6-v2 on RestBench."""
PAGE = 1_000

T = TypeVar("T")


class Part(NamedTuple):
    """What was found, and the targets it is held against."""

    figures: dict[str, object]
    checks: dict[str, Check]


def main() -> None:
    found = options(__doc__)
    found.add_argument("--only-restbench", action="store_true", help="leave out the large ones")
    args = found.parse_args()
    openapi = args.data / "openapi"
    parts: dict[str, Part] = {}
    if not args.only_restbench:
        parts["real"] = real_services(sorted((openapi / "real").glob("*.gz")))
        parts["hard"] = hard_services(sorted((openapi / "hard").glob("*.gz")))
    parts["restbench"] = restbench(openapi, args.data / "retrieval" / "restbench")
    checks = {name: check for part in parts.values() for name, check in part.checks.items()}
    figures = {name: part.figures for name, part in parts.items()}
    save(args, "openapi_ingest", {"checks": checks, **figures})


# All of them on one board


def real_services(files: list[Path]) -> Part:
    written = sum(map(operations_in, files))
    with evaluation_board(None, located().settings) as board:
        embedder = CountingEmbedder(LocalEmbedder())
        board.embedder = embedder
        embedder.embed_query("load the model")
        embedder.texts = 0
        for file in files:
            board.add_source("openapi", str(file), name=None)
        outside, first = timed(lambda: board.sync(embed=False))
        inside, _ = timed(board.backfill)
        embedded, embedder.texts = embedder.texts, 0
        again, second = timed(board.sync)
        invalid = sum(1 for item in items_of(board) if list(faults(item)))
        rejected = sum((each.rejected for each in first.sources), Counter[str]())
        figures: dict[str, object] = {
            "services": {each.source: each.added for each in first.sources},
            "operations in the files": written,
            "rejected": dict(rejected),
            "errors": [each.error for each in first.sources if each.error],
            "ms an operation, without embedding": round(1000 * outside / written, 2),
            "ms an operation, embedding": round(1000 * inside / written, 2),
            "share outside embedding": round(outside / (outside + inside), 3),
            "second sync / first sync": round(again / (outside + inside), 3),
            "embedded": embedded,
        }
        items = sum(each.added for each in first.sources)
    return Part(
        figures,
        {
            "operations on the board": at_least(items, written),
            "operations rejected": at_most(rejected.total(), 0),
            "operations with an invalid schema": at_most(invalid, 0),
            "texts embedded by a second sync": at_most(embedder.texts, 0),
            "changed by a second sync": at_most(
                sum(each.added + each.changed for each in second.sources), 0
            ),
        },
    )


def operations_in(file: Path) -> int:
    """Counted in the text, apart from everything that Pegboard does: methods below a path."""
    text = gzip.decompress(file.read_bytes()).decode()
    begin = re.search(r"(?m)^paths:", text)
    end = re.search(r"(?m)^\w", text[begin.end() :]) if begin else None
    paths = text[begin.end() : begin.end() + end.start() if end else None] if begin else ""
    return len(re.findall(rf"(?m)^    ({METHODS}):", paths))


def hard_services(files: list[Path]) -> Part:
    """Those that strict parsers refuse."""
    found: dict[str, object] = {}
    unread = 0
    with evaluation_board(None, located().settings) as board:
        for file in files:
            board.add_source("openapi", str(file), name=None)
        for each in board.sync(embed=False).sources:
            unread += bool(each.error) or each.rejected.total()
            found[each.source] = each.error or {"added": each.added, "repairs": each.left_out}
        invalid = sum(1 for item in items_of(board) if list(faults(item)))
    return Part(
        found,
        {
            "hard: not read whole": at_most(unread, 0),
            "hard: operations with an invalid schema": at_most(invalid, 0),
        },
    )


def items_of(board: Pegboard) -> Iterator[Item]:
    after = 0
    while page := board.store.items.page(after, PAGE):
        yield from (entry.item for entry in page)
        after = page[-1].key


_checked: dict[str, str] = {}


def faults(item: Item) -> Iterator[str]:
    """What is wrong with its schemas. A definition that many share is looked at once."""
    for schema in (item.input_schema, item.output_schema):
        found = schema.get("$defs")
        definitions = found if isinstance(found, dict) else {}
        root = {key: value for key, value in schema.items() if key != "$defs"}
        for part in (root, *definitions.values()):
            text = json.dumps(part, sort_keys=True)
            if text not in _checked:
                _checked[text] = fault(part)
            if _checked[text]:
                yield f"{item.id}: {_checked[text]}"
        for name in re.findall(r'"\$ref": "#/\$defs/([^"]+)"', json.dumps(schema)):
            if name not in definitions:
                yield f"{item.id}: {name} is not among its definitions"


def fault(schema: Mapping[str, object]) -> str:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return str(error.message)
    return ""


def timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done


# RestBench


def restbench(openapi: Path, folder: Path) -> Part:
    queries = read_queries(folder / "queries.jsonl")
    with evaluation_board(None, located().settings) as board:
        for name in ("tmdb", "spotify"):
            board.add_source("openapi", str(openapi / f"{name}_oas.json"), name=name)
        notices = board.sync().notices
        if notices:
            raise SystemExit(f"restbench: {notices}")
        ids = {f"{item.source} {item.origin}": item.id for item in items_of(board)}
        asked = [
            EvalQuery(each.id, each.text, tuple(ids[gold] for gold in each.gold))
            for each in queries
        ]
        modes = {mode: measured(board, asked, mode) for mode in ("hybrid", "vector", "bm25")}
    hybrid = modes["hybrid"]
    return Part(
        {"tools": len(ids), "MiniLM": MINILM, **modes},
        {f"restbench: {name}": at_least(hybrid[name], MINILM[name]) for name in MINILM},
    )


def measured(board: Pegboard, queries: list[EvalQuery], mode: str) -> dict[str, float]:
    found = evaluate(
        queries,
        lambda text: board.search(text, mode=mode, limit=10, threshold=0.0),
        board.settings.search.threshold,
        quiet,
    )
    return {name: float(str(found[name])) for name in MINILM}


if __name__ == "__main__":
    main()
