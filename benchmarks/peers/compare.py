"""Pegboard beside its peers: freeact's search, FastMCP's BM25 transform, Chroma with its vectors.

All get the same tools and the same queries in one run on one machine, each in a process and an
environment of its own (`make peers` installs them). For each query they are asked in turn, so that
whatever else the machine does hits all alike. Vectors are made beforehand by the packaged model:
embedding is in nobody's time, neither that of tools nor that of queries.
"""

import gzip
import json
import os
import random
import re
import statistics
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from protocol import Tool, packed

sys.path.insert(1, str(Path(__file__).parent.parent))

from boards import SEED, add_options, board_file, filled, folder_for, sampled
from growth_search import questions
from pegboard import Pegboard
from pegboard.board.measure.evaluating import EvalQuery, find_catalogue, name_of, scores
from pegboard.embed.local import LocalEmbedder
from pegboard.model.items import Item
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import embedding_text
from report import mean, options, save

HERE = Path(__file__).parent
ENVIRONMENTS = Path("build/peers")
OURS = "Pegboard"
PEERS = {
    OURS: "pegboard",
    "freeact": "freeact",
    "FastMCP": "fastmcp",
    "Chroma": "chroma",
}
"""How each is called, and its file and environment."""
MEASURES = ("recall@1", "recall@5", "ndcg@10")
CORPORA = ("openapi_corpus", "mcp_corpus", "google_corpus")
WARM_UP = 20
LONGEST = 60
"""Two such names and a number make no more than the 128 characters that MCP allows."""
QUIET = {"ANONYMIZED_TELEMETRY": "False", "FASTMCP_CHECK_FOR_UPDATES": "off"}
VECTORS = "SELECT item_key, vector FROM vectors WHERE passage = 0"


def main() -> None:
    found = options(__doc__, runs=3)
    add_options(found)
    found.add_argument("--peers", type=listed, default=list(PEERS), help="which of them (all)")
    found.add_argument("--most", type=int, default=400, help="queries of a set (%(default)s)")
    found.add_argument(
        "--sizes", type=listed, default=["1000", "10000"], help="boards out of scale/ (1000,10000)"
    )
    found.add_argument(
        "--environments", type=Path, default=ENVIRONMENTS, help="where peers are (%(default)s)"
    )
    args = found.parse_args()
    peers = interpreters(args.peers, args.environments)
    model = LocalEmbedder()
    sets: dict[str, Any] = {}
    sizes: dict[str, Any] = {}
    with folder_for(args.keep) as keep:
        for name in args.sets:
            folder = args.data / "retrieval" / name
            queries = sampled(folder / "queries.jsonl", args.most)
            corpus = Corpus(find_catalogue(folder), board_file(keep, name), model)
            sets[name] = corpus.compared(peers, queries, args.runs)
            print(name, json.dumps(sets[name]), flush=True)
        for size in args.sizes:
            catalogue = drawn(args.data / "scale", int(size), keep / f"peers-{size}.jsonl")
            texts = questions(args.data, min(args.most, 200))
            queries = [EvalQuery(text, text, ("none",)) for text in texts]
            corpus = Corpus(catalogue, board_file(keep, f"peers-{size}"), model)
            sizes[size] = corpus.compared(peers, queries, args.runs)
            print(size, json.dumps(sizes[size]), flush=True)
    save(
        args,
        "peers",
        {
            "queries at most": args.most,
            "indexed, times": args.runs,
            "versions": versions([*sets.values(), *sizes.values()]),
            "mean of the sets": {
                peer: {
                    each: mean([row["peers"][peer][each] for row in sets.values()])
                    for each in MEASURES
                }
                for peer in peers
            },
            "sets": sets,
            "sizes": {size: without_quality(row) for size, row in sizes.items()},
        },
    )


def listed(text: str) -> list[str]:
    return [each for each in text.split(",") if each]


def interpreters(peers: Sequence[str], environments: Path) -> dict[str, Path]:
    if unknown := [each for each in peers if each not in PEERS]:
        raise SystemExit(f"not known: {', '.join(unknown)}; there are {', '.join(PEERS)}")
    found = {each: environments / PEERS[each] / "bin" / "python" for each in peers}
    found |= {OURS: Path(sys.executable)} if OURS in found else {}
    if missing := [each for each, python in found.items() if not python.exists()]:
        raise SystemExit(f"not installed: {', '.join(missing)}; install them with: make peers")
    return found


def drawn(scale: Path, size: int, catalogue: Path) -> Path:
    """So many real tools, the same at every run."""
    lines: dict[str, str] = {}
    for name in CORPORA:
        with gzip.open(scale / f"{name}.jsonl.gz", "rt", encoding="utf-8") as rows:
            lines |= {json.loads(row)["id"]: row for row in rows}
    picked = random.Random(SEED).sample(sorted(lines), size)
    catalogue.write_text("".join(lines[each] for each in picked), encoding="utf-8")
    return catalogue


class Corpus:
    """Tools, in a file that every peer reads, with the vectors Pegboard has for them."""

    def __init__(self, catalogue: Path, board: Path, model: LocalEmbedder) -> None:
        self.catalogue = catalogue
        self.model = model
        with filled(catalogue, board) as found:
            given = list(given_tools(found))
        self.tools = [tool for _, tool in given]
        self.ids = {tool.handle: name_of(item.id) for item, tool in given}
        self.ids |= {item.id: name_of(item.id) for item, _ in given}

    def compared(
        self, peers: Mapping[str, Path], queries: Sequence[EvalQuery], runs: int
    ) -> dict[str, Any]:
        with TemporaryDirectory(prefix="pegboard-peers-") as scratch:
            place = Path(scratch)
            path = place / "tools.jsonl"
            rows = (json.dumps(tool._asdict()) + "\n" for tool in self.tools)
            path.write_text("".join(rows), encoding="utf-8")
            found = self.indexed(peers, path, runs)
            for peer in peers:
                found[peer]["disk, bytes"] = weight(place / peer / "index")
            for peer, row in self.asked(peers, path, queries).items():
                found[peer] |= row
        return {"tools": len(self.tools), "queries": len(queries), "peers": found}

    def indexed(
        self, peers: Mapping[str, Path], tools: Path, runs: int
    ) -> dict[str, dict[str, Any]]:
        """In turn, each time anew; the last one stays."""
        found: dict[str, dict[str, Any]] = {peer: {} for peer in peers}
        seconds: dict[str, list[float]] = {peer: [] for peer in peers}
        with self.running(peers) as started:
            for peer, process in started.items():
                folder = tools.parent / peer
                folder.mkdir()
                found[peer] = process.ask(
                    do="prepare", tools=tools, catalogue=self.catalogue, folder=folder
                )
            for run in range(runs):
                for peer, process in started.items():
                    last = "index" if run == runs - 1 else f"index {run}"
                    folder = tools.parent / peer / last
                    folder.mkdir()
                    seconds[peer].append(process.ask(do="index", folder=folder)["seconds"])
        for peer in peers:
            found[peer]["indexing, ms"] = round(1000 * statistics.median(seconds[peer]), 1)
        return found

    def asked(
        self, peers: Mapping[str, Path], tools: Path, queries: Sequence[EvalQuery]
    ) -> dict[str, dict[str, Any]]:
        answers: dict[str, list[Asked]] = {peer: [] for peer in peers}
        weights: dict[str, int] = {}
        with self.running(peers) as started:
            for peer, process in started.items():
                process.ask(do="open", folder=tools.parent / peer / "index", tools=tools)
            for query in queries[:WARM_UP]:
                self.ask_all(started, " ".join(reversed(query.text.split())))
            for query in queries:
                for peer, answer in self.ask_all(started, query.text).items():
                    names = [self.ids[each] for each in answer["found"]]
                    spent = (answer["seconds"], answer["processor"])
                    answers[peer].append(Asked(scores(query, names), *spent))
            for peer, process in started.items():
                weights[peer] = process.ask(do="weigh")["bytes"]
        return {peer: measured(answers[peer]) | {"memory, bytes": weights[peer]} for peer in peers}

    def ask_all(self, started: Mapping[str, "Process"], text: str) -> dict[str, dict[str, Any]]:
        vector = packed(self.model.embed_query(text))
        return {
            peer: process.ask(do="search", text=text, vector=vector)
            for peer, process in started.items()
        }

    @contextmanager
    def running(self, peers: Mapping[str, Path]) -> Iterator[dict[str, "Process"]]:
        with ExitStack() as stack:
            yield {
                peer: stack.enter_context(Process(peer, python, self.model))
                for peer, python in peers.items()
            }


class Asked(NamedTuple):
    scores: dict[str, float]
    seconds: float
    processor: float


def measured(answers: Sequence[Asked]) -> dict[str, Any]:
    found = {each: mean([answer.scores[each] for answer in answers]) for each in MEASURES}
    times = {
        "search, ms": [answer.seconds for answer in answers],
        "search, ms of the processor": [answer.processor for answer in answers],
    }
    return found | {key: round(1000 * statistics.median(each), 3) for key, each in times.items()}


def given_tools(board: Pegboard) -> Iterator[tuple[Item, Tool]]:
    """All tools that have a vector, under names that every peer takes."""
    assert isinstance(board.store, SqliteStore)
    vectors = {int(key): bytes(found) for key, found in board.store.database.rows(VECTORS)}
    taken: set[str] = set()
    after = 0
    while entries := board.store.items.page(after, 1_000):
        after = entries[-1].key
        for key, item in ((each.key, each.item) for each in entries if each.key in vectors):
            category, name = plain(item.category), plain(item.name)
            names = (name, *(f"{name}_{number}" for number in range(2, 1_000)))
            name = next(each for each in names if f"{category}_{each}".lower() not in taken)
            taken.add(f"{category}_{name}".lower())
            yield (
                item,
                Tool(
                    handle=f"{category}_{name}",
                    category=category,
                    name=name,
                    description=item.description,
                    parameters=json.loads(json.dumps(item.input_schema)),
                    text=embedding_text(item),
                    vector=packed(vectors[key]),
                ),
            )


def plain(name: str) -> str:
    """Letters of English, digits and underscores, not many, as names of MCP tools may have."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"\W+", "_", letters)[:LONGEST].strip("_") or "tool"


class Process:
    """A peer, started; it ends with the block."""

    def __init__(self, peer: str, python: Path, model: LocalEmbedder) -> None:
        self._peer = peer
        self._python = python
        self._model = model

    def __enter__(self) -> "Process":
        self._process = subprocess.Popen(
            [self._python, HERE / f"peer_{PEERS[self._peer]}.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | QUIET,
            encoding="utf-8",
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def ask(self, **request: object) -> dict[str, Any]:
        """The answer; on the way to it the peer may want texts embedded."""
        answer = self._said(request)
        while "embed" in answer:
            vectors = self._model.embed(answer["embed"])
            answer = self._said({"vectors": [packed(vector) for vector in vectors]})
        return answer

    def _said(self, request: Mapping[str, object]) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request, default=str) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._peer} ended at {str(request)[:200]}; see above for why")
        answer: dict[str, Any] = json.loads(line)
        return answer


def weight(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def versions(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    return {
        peer: found.pop("version") for row in reversed(rows) for peer, found in row["peers"].items()
    }


def without_quality(row: dict[str, Any]) -> dict[str, Any]:
    """The tools of scale/ have no queries with known answers."""
    peers = {
        peer: {key: value for key, value in found.items() if key not in MEASURES}
        for peer, found in row["peers"].items()
    }
    return row | {"peers": peers}


if __name__ == "__main__":
    main()
