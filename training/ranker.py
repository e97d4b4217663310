"""Train the ranker of hybrid search and write src/pegboard/search/ranker.json.

    python training/ranker.py --data DATA --keep build/boards [--judge]

Needs the packages of training/requirements.txt at build time only. The labelled questions come
from DATA/retrieval (seven sets), DATA/train/pairs.jsonl.gz (eight sources as catalogues of their
own) and benchmarks/sets/lookalikes. With `--judge` nothing is written: each set is ranked by a
ranker that was trained without it, and the gain over the fused value is printed.
"""

import argparse
import gzip
import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import lightgbm
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

from boards import SETS, board_file, filled, folder_for  # noqa: E402
from lookalikes import KINDS, Asked, asked_questions, look_alike_board, names  # noqa: E402
from pegboard import Pegboard  # noqa: E402
from pegboard.board.find.gathering import gather  # noqa: E402
from pegboard.board.measure.evaluating import (  # noqa: E402
    EvalQuery,
    find_catalogue,
    name_of,
    ndcg,
    places,
    read_queries,
)
from pegboard.model.items import Filters, Mode  # noqa: E402
from pegboard.search import ranker  # noqa: E402
from pegboard.search.fusion import FusionSettings, fuse  # noqa: E402
from pegboard.search.query import parse  # noqa: E402
from pegboard.search.verb_fit import Tables, Verbs  # noqa: E402
from pegboard.text import stems, words  # noqa: E402
from pegboard.verbs import leading_verb, named_verb, requested_verb  # noqa: E402

SEED = 1
TREES, LEAVES, DEPTH, RATE = 120, 12, 5, 0.06
MOST_QUERIES = 400
"""Questions of one set that are trained on, so that a large set does not outweigh the others."""
CANDIDATES = 50
EVERYTHING = Filters()
WEIGHED = 4_000
"""Commonest stems whose weight is kept; all others are equally rare."""
SYNONYMS = {
    "create": "add create insert make open register",
    "get": "describe display fetch get give lookup obtain read retrieve see show tell view",
    "list": "browse enumerate list",
    "search": "discover explore find locate query search",
    "delete": "cancel clear delete destroy drop erase purge remove trash wipe",
    "update": "adjust alter change configure edit modify patch rename replace set update",
    "send": "deliver email forward mail message post send share submit",
    "run": "call execute invoke launch perform run start trigger",
    "stop": "abort end halt kill quit stop terminate",
    "calculate": "calculate compute count determine estimate evaluate measure",
    "convert": "convert transform translate",
    "check": "check confirm test validate verify",
}
"""Verbs that people use for one another. Where one is rare, all of them count."""
CLASSES = {word: name for name, text in SYNONYMS.items() for word in text.split()}
CORPORA = {"openapi": 0.5, "mcp": 1.0, "google": 1.0}
SOURCES = {
    "tldr": 1500,
    "powershell-docs": 1500,
    "graph-docs": 1500,
    "oc+kubectl": 800,
    "clinc150": 1000,
    "nestful": 780,
    "apibench-train": 837,
    "gh": 129,
}
"""Sources of training pairs, and the questions of each that are asked at most."""
WITHOUT_VERBS = ("tldr", "clinc150", "metatool-dev", "apibench-train")
"""Sources whose tools are not named by verbs."""
OWN_PAIRS = {"aws": "aws-dev", "bfcl": "bfcl-dev", "sealtools": "sealtools-dev"}
LOOK_GROUPS = (
    ("github", "trello"),
    ("stripe", "slack"),
    ("kubernetes", "buildkite", "sonarqube"),
    ("gitlab", "zscaler-mcp-server", "keboola-mcp", "maestro-mcp-server"),
)
"""Services of the look-alikes that are left out together when they are judged."""


class Question(NamedTuple):
    text: str
    query: EvalQuery
    service: str = ""


class Row(NamedTuple):
    """The candidates of one question."""

    features: list[list[float]]
    ids: list[str]
    question: Question

    @property
    def labels(self) -> list[int]:
        gold = set(self.question.query.gold)
        same = {each for alt in self.question.query.alt.values() for each in alt}
        return [2 if each in gold else int(each in same) for each in self.ids]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="folder where boards are kept")
    parser.add_argument("--judge", action="store_true", help="leave one set out at a time")
    args = parser.parse_args()
    pairs = list(read_pairs(args.data / "train" / "pairs.jsonl.gz"))
    weights, rare = stem_weights(args.data / "scale")
    known = Tables(weights, rare, verb_counts(pairs, ()), CLASSES)
    with folder_for(args.keep) as folder:
        rows = collect(args.data, folder, pairs, known)
    if args.judge:
        judge(rows)
        return
    write(known, exported(fit([row for some in rows.values() for row in sampled(some)])))


# Tables


def read_pairs(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def stem_weights(folder: Path) -> tuple[dict[str, float], float]:
    """The inverse document frequency of common stems over three corpora of tools."""
    counts: Counter[str] = Counter()
    total = 0.0
    for name, share in CORPORA.items():
        with gzip.open(folder / f"{name}_corpus.jsonl.gz", "rt", encoding="utf-8") as file:
            for tool in map(json.loads, file):
                for stem in {*stems(tool["name"]), *stems(tool["description"][:300])}:
                    counts[stem] += share
                total += share
    common = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:WEIGHED]
    least = common[-1][1]
    weights = {stem: round(math.log(1 + total / (count + 0.5)), 2) for stem, count in common}
    return weights, round(math.log(1 + total / (least / 2 + 0.5)), 2)


def verb_counts(
    pairs: Iterable[dict[str, str]], without: Sequence[str]
) -> dict[str, dict[str, int]]:
    """How often a request's verb leads to a tool's verb."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        if pair["source"] in WITHOUT_VERBS or pair["source"] in without:
            continue
        verb = requested_verb(words(pair["query"]))
        named = named_verb(words(pair["name"])), leading_verb(words(pair["description"][:80]))
        for other in dict.fromkeys(filter(None, named)) if verb else ():
            found[verb][other] += 1
    return {verb: dict(sorted(found[verb].items())) for verb in sorted(found)}


# Questions and their candidates


def collect(
    data: Path,
    folder: Path,
    pairs: Sequence[dict[str, str]],
    known: Tables,
) -> dict[str, list[Row]]:
    """The candidates of every question, with a verb table that has not seen its set."""
    rows: dict[str, list[Row]] = {}

    def without(source: str) -> Verbs:
        return Verbs(known._replace(verbs=verb_counts(pairs, (source,))))

    for name in SETS:
        own_verbs = without(OWN_PAIRS.get(name, ""))
        source = data / "retrieval" / name
        with filled(find_catalogue(source), board_file(folder, name)) as board:
            asked = [Question(each.text, each) for each in read_queries(source / "queries.jsonl")]
            rows[name] = [candidates(board, each, own_verbs) for each in asked]
        print(name, len(rows[name]), flush=True)
    for name, most in SOURCES.items():
        own_verbs = without(name)
        own = [pair for pair in pairs if pair["source"] == name and pair["kind"] == "task"]
        catalogue = folder / f"train-{name}.jsonl"
        asked = write_catalogue(own, catalogue, most)
        with filled(catalogue, board_file(folder, f"train-{name}")) as board:
            rows[name] = [candidates(board, each, own_verbs) for each in asked]
        print(name, len(rows[name]), flush=True)
    all_verbs = Verbs(known)
    with look_alike_board(data, folder) as board:
        called = names(board)
        for named in (False, True):
            label = "look-alikes, own service" if named else "look-alikes, all services"
            rows[label] = [
                look_alike(board, called, each, all_verbs, named) for each in asked_questions()
            ]
            print(label, len(rows[label]), flush=True)
    return rows


def candidates(
    board: Pegboard, question: Question, verbs: Verbs, filters: Filters = EVERYTHING
) -> Row:
    query = parse(question.text)
    found = gather(board.store, board.embedder, query, Mode.HYBRID, filters, CANDIDATES)
    scored = fuse(found.evidence, FusionSettings())
    cards = board.store.index.cards([each.candidate.key for each in scored])
    rows = ranker.features(
        ranker.Question(query, verbs, found.read_as),
        [ranker.parse_card(cards[each.candidate.key]) for each in scored],
        [ranker.Signals(each.meaning, each.words, each.fused) for each in scored],
    )
    return Row(rows, [_name(each.candidate.id, question) for each in scored], question)


def _name(item_id: str, question: Question) -> str:
    return item_id if question.service else name_of(item_id, question.query)


def look_alike(
    board: Pegboard, called: dict[str, str], asked: Asked, verbs: Verbs, own_service: bool
) -> Row:
    query = EvalQuery(asked.id, asked.query, asked.gold)
    question = Question(asked.query, query, asked.service)
    filters = Filters(sources=(asked.service,)) if own_service else Filters()
    found = candidates(board, question, verbs, filters)
    return found._replace(ids=[called[each] for each in found.ids])


def write_catalogue(pairs: Sequence[dict[str, str]], catalogue: Path, most: int) -> list[Question]:
    tools: dict[str, dict[str, object]] = {}
    gold: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        known = tools.setdefault(pair["tool"], {"id": pair["tool"], "description": ""})
        known["name"] = pair["name"]
        known["category"] = pair["group"].rpartition("/")[2]
        known["description"] = max(str(known["description"]), pair["description"], key=len)
        gold[pair["query"]].add(pair["tool"])
    text = "".join(f"{json.dumps(tool)}\n" for tool in tools.values())
    if not catalogue.exists() or catalogue.read_text("utf-8") != text:
        catalogue.write_text(text, "utf-8")
    queries = [
        Question(text, EvalQuery(text, text, tuple(sorted(ids))))
        for text, ids in sorted(gold.items())
        if len(ids) <= 6
    ]
    random.Random(SEED).shuffle(queries)
    return queries[:most]


# Trees


def sampled(rows: Sequence[Row]) -> list[Row]:
    served = [row for row in rows if any(row.labels)]
    if len(served) > MOST_QUERIES:
        served = random.Random(SEED).sample(served, MOST_QUERIES)
    return served


def fit(rows: Sequence[Row]) -> lightgbm.Booster:
    table = np.array([line for row in rows for line in row.features], dtype=np.float32)
    fused = table[:, ranker.FEATURES.index("fused")].astype(np.float64)
    found = lightgbm.Dataset(
        table,
        label=[label for row in rows for label in row.labels],
        group=[len(row.features) for row in rows],
        init_score=ranker.SCALE * fused,
    )
    settings = {
        "objective": "lambdarank",
        "lambdarank_truncation_level": 10,
        "label_gain": [0, 1, 1.2],
        "num_leaves": LEAVES,
        "max_depth": DEPTH,
        "learning_rate": RATE,
        "min_data_in_leaf": 200,
        "feature_fraction": 0.6,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "lambda_l2": 10.0,
        "monotone_constraints": [
            1 if name in ranker.INCREASING else -1 for name in ranker.FEATURES
        ],
        "seed": SEED,
        "deterministic": True,
        "num_threads": 2,
        "verbose": -1,
    }
    return lightgbm.train(settings, found, TREES)


def exported(booster: lightgbm.Booster) -> list[list[list[float]]]:
    """Each tree as rows of column, threshold, left, right and value; a leaf has column -1."""
    return [_nodes(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]


def _nodes(root: dict[str, object]) -> list[list[float]]:
    nodes: list[list[float]] = []

    def add(node: dict[str, object]) -> int:
        place = len(nodes)
        nodes.append([])
        if "leaf_value" in node:
            nodes[place] = [-1, 0, 0, 0, round(float(node["leaf_value"]), 5)]  # type: ignore[arg-type]
        else:
            left = add(node["left_child"])  # type: ignore[arg-type]
            right = add(node["right_child"])  # type: ignore[arg-type]
            bound = float(f"{node['threshold']:.6g}")
            nodes[place] = [node["split_feature"], bound, left, right, 0]  # type: ignore[list-item]
        return place

    add(root)
    return nodes


def write(known: Tables, trees: object) -> None:
    data = {"features": ranker.FEATURES, "depth": DEPTH, **known._asdict(), "trees": trees}
    ranker.FILE.write_text(json.dumps(data, separators=(",", ":")) + "\n", "utf-8")
    print(f"{ranker.FILE.name}: {ranker.FILE.stat().st_size:,} bytes")


# Judging


def judge(rows: dict[str, list[Row]]) -> None:
    """Rank each set by a ranker that has not seen it."""
    looks = [name for name in rows if name.startswith("look")]
    for name in SETS:
        others = [row for other, some in rows.items() if other != name for row in sampled(some)]
        report(name, rows[name], fit(others))
    judged: dict[str, list[tuple[Row, lightgbm.Booster]]] = {name: [] for name in looks}
    for group in LOOK_GROUPS:
        others = [
            row
            for some in rows.values()
            for row in sampled([r for r in some if r.question.service not in group])
        ]
        booster = fit(others)
        for name in looks:
            own = [row for row in rows[name] if row.question.service in group]
            judged[name] += [(row, booster) for row in own]
    for name, pairs in judged.items():
        for kind in KINDS:
            own = [pair for pair in pairs if f"-{kind}-" in pair[0].question.query.id]
            before = [measured(row, None, any_gold=True) for row, _ in own]
            after = [measured(row, booster, any_gold=True) for row, booster in own]
            show(f"{name}, {kind}", before, after)


def report(name: str, rows: Sequence[Row], booster: lightgbm.Booster) -> None:
    show(name, [measured(row, None) for row in rows], [measured(row, booster) for row in rows])


def show(name: str, before: list[tuple[float, float]], after: list[tuple[float, float]]) -> None:
    values = [
        sum(each[place] for each in some) / len(some)
        for place in (0, 1)
        for some in (before, after)
    ]
    print(
        f"{name:40} nDCG@10 {values[0]:.4f} -> {values[1]:.4f}"
        f"  first {values[2]:.4f} -> {values[3]:.4f}",
        flush=True,
    )


def measured(
    row: Row, booster: lightgbm.Booster | None, *, any_gold: bool = False
) -> tuple[float, float]:
    table = np.array(row.features, dtype=np.float32)
    values = table[:, ranker.FEATURES.index("fused")] if len(table) else np.zeros(0)
    if booster is not None and len(table):
        values = values + booster.predict(table, num_threads=1) / ranker.SCALE
    order = np.argsort(-values, kind="stable")
    found = places(row.question.query, [row.ids[place] for place in order])
    gold = 1 if any_gold else len(row.question.query.gold)
    found = found[:1] if any_gold else found
    return ndcg(found, gold, 10), float(bool(found) and found[0] == 1)


if __name__ == "__main__":
    main()
