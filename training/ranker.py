"""Train the ranker of hybrid search and write src/pegboard/search/ranker.json.

    python training/ranker.py --data DATA --keep build/boards [--judge]

Needs the packages of training/requirements.txt at build time only. The labelled questions come
from DATA/retrieval (seven sets), DATA/train/pairs.jsonl.gz (eight sources as catalogues of their
own), benchmarks/sets/lookalikes and benchmarks/sets/services (all groups but the held-out one).
With `--judge` nothing is written: each set is ranked by a ranker that was trained without it, and
the gain over the fused value is printed.
"""

import argparse
import gzip
import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import lightgbm
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

import services  # noqa: E402
from boards import SETS, board_file, filled, folder_for  # noqa: E402
from lookalikes import KINDS, asked_questions, look_alike_board, names  # noqa: E402
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
from pegboard.text import stems  # noqa: E402

SEED = 1
TREES, LEAVES, DEPTH, RATE = 120, 12, 5, 0.06
MOST_QUERIES = 400
"""Questions of one set that are trained on, so that a large set does not outweigh the others."""
CANDIDATES = 50
EVERYTHING = Filters()
WEIGHED = 4_000
"""Commonest stems whose weight is kept; all others are equally rare."""
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
WITHOUT_VERBS, THEIR_WEIGHT = ("tldr", "clinc150", "apibench-train"), 3.0
"""Sources whose tools are not named by verbs, and their weight: the others are the majority."""
TRAINED = (*(group for group in services.GROUPS if group != services.HELD_OUT), "documents")
"""Groups of services whose questions are trained on."""
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


class Pair(NamedTuple):
    """nDCG@10 and whether the first hit is right, by the fused value and by the ranker."""

    id: str
    fused: tuple[float, float]
    ranked: tuple[float, float]


class Weighted(NamedTuple):
    """A question to train on."""

    row: Row
    weight: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="folder where boards are kept")
    parser.add_argument("--judge", action="store_true", help="leave one set out at a time")
    args = parser.parse_args()
    known = stem_weights(args.data / "scale")
    with folder_for(args.keep) as folder:
        rows = collect(args.data, folder, known)
    if args.judge:
        judge(rows)
        return
    write(known, exported(fit(chosen(rows))))


# Tables


def read_pairs(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def stem_weights(folder: Path) -> ranker.StemWeights:
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
    return ranker.StemWeights(weights, round(math.log(1 + total / (least / 2 + 0.5)), 2))


# Questions and their candidates


def collect(data: Path, folder: Path, known: ranker.StemWeights) -> dict[str, list[Row]]:
    """The candidates of every question."""
    rows: dict[str, list[Row]] = {}
    for name in SETS:
        source = data / "retrieval" / name
        with filled(find_catalogue(source), board_file(folder, name)) as board:
            asked = [Question(each.text, each) for each in read_queries(source / "queries.jsonl")]
            rows[name] = [candidates(board, each, known) for each in asked]
        print(name, len(rows[name]), flush=True)
    pairs = list(read_pairs(data / "train" / "pairs.jsonl.gz"))
    for name, most in SOURCES.items():
        own = [pair for pair in pairs if pair["source"] == name and pair["kind"] == "task"]
        catalogue = folder / f"train-{name}.jsonl"
        asked = write_catalogue(own, catalogue, most)
        with filled(catalogue, board_file(folder, f"train-{name}")) as board:
            rows[name] = [candidates(board, each, known) for each in asked]
        print(name, len(rows[name]), flush=True)
    with look_alike_board(data, folder) as board:
        asked = [
            Question(each.query, EvalQuery(each.id, each.query, each.gold), each.service)
            for each in asked_questions()
        ]
        rows |= on_all_and_own("look-alikes", board, names(board), asked, known)
    for group in TRAINED:
        with services.service_board(data, folder, group) as board:
            asked = [
                Question(row["query"], services.eval_query(row), row["service"])
                for row in services.questions(group)
            ]
            rows |= on_all_and_own(f"services {group}", board, services.names(board), asked, known)
    return rows


def on_all_and_own(
    name: str,
    board: Pegboard,
    called: dict[str, str],
    asked: Sequence[Question],
    known: ranker.StemWeights,
) -> dict[str, list[Row]]:
    """The candidates on a whole board, and among the tools of the service that is meant."""
    found: dict[str, list[Row]] = {f"{name}, all services": [], f"{name}, own service": []}
    for each in asked:
        for rows, filters in zip(
            found.values(), (EVERYTHING, Filters(sources=(each.service,))), strict=True
        ):
            row = candidates(board, each, known, filters)
            rows.append(row._replace(ids=[called[item_id] for item_id in row.ids]))
    print(name, len(asked), flush=True)
    return found


def candidates(
    board: Pegboard,
    question: Question,
    known: ranker.StemWeights,
    filters: Filters = EVERYTHING,
) -> Row:
    query = parse(question.text)
    found = gather(board.store, board.embedder, query, Mode.HYBRID, filters, CANDIDATES)
    scored = fuse(found.evidence, FusionSettings())
    cards = board.store.index.cards([each.candidate.key for each in scored])
    rows = ranker.features(
        ranker.Question(query, found.read_as, known),
        [ranker.parse_card(cards[each.candidate.key]) for each in scored],
        [ranker.Signals(each.meaning, each.words, each.fused) for each in scored],
    )
    return Row(rows, [_name(each.candidate.id, question) for each in scored], question)


def _name(item_id: str, question: Question) -> str:
    return item_id if question.service else name_of(item_id, question.query)


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


def chosen(rows: dict[str, list[Row]]) -> list[Weighted]:
    """The questions to train on, with their weights."""
    return [
        Weighted(row, THEIR_WEIGHT if name in WITHOUT_VERBS else 1.0)
        for name, some in rows.items()
        for row in sampled(some)
    ]


def sampled(rows: Sequence[Row]) -> list[Row]:
    served = [row for row in rows if any(row.labels)]
    if len(served) > MOST_QUERIES:
        served = random.Random(SEED).sample(served, MOST_QUERIES)
    return served


def fit(weighted: Sequence[Weighted]) -> lightgbm.Booster:
    rows = [each.row for each in weighted]
    table = np.array([line for row in rows for line in row.features], dtype=np.float32)
    fused = table[:, ranker.FEATURES.index("fused")].astype(np.float64)
    found = lightgbm.Dataset(
        table,
        label=[label for row in rows for label in row.labels],
        group=[len(row.features) for row in rows],
        weight=[each.weight for each in weighted for _ in each.row.features],
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


def write(known: ranker.StemWeights, trees: object) -> None:
    data = {"features": ranker.FEATURES, "depth": DEPTH, **known._asdict(), "trees": trees}
    ranker.FILE.write_text(json.dumps(data, separators=(",", ":")) + "\n", "utf-8")
    print(f"{ranker.FILE.name}: {ranker.FILE.stat().st_size:,} bytes")


# Judging


def judge(rows: dict[str, list[Row]]) -> None:
    """Rank each set, and each group of services, by a ranker that has not seen it."""
    for name in SETS:
        others = {other: some for other, some in rows.items() if other != name}
        show(name, rows[name], fit(chosen(others)))
    for group in TRAINED:
        own = [name for name in rows if name.startswith(f"services {group},")]
        others = {name: some for name, some in rows.items() if name not in own}
        booster = fit(chosen(others))
        for name in own:
            show(name, rows[name], booster, any_gold=True)
    looks = [name for name in rows if name.startswith("look")]
    judged: dict[str, list[Pair]] = {name: [] for name in looks}
    for left_out in LOOK_GROUPS:
        others = {
            name: [row for row in some if row.question.service not in left_out]
            for name, some in rows.items()
        }
        booster = fit(chosen(others))
        for name in looks:
            own_rows = [row for row in rows[name] if row.question.service in left_out]
            judged[name] += compared(own_rows, booster, any_gold=True)
    for name, pairs in judged.items():
        for kind in KINDS:
            print_means(f"{name}, {kind}", [each for each in pairs if f"-{kind}-" in each.id])


def show(
    name: str, rows: Sequence[Row], booster: lightgbm.Booster, *, any_gold: bool = False
) -> None:
    print_means(name, compared(rows, booster, any_gold=any_gold))


def compared(rows: Sequence[Row], booster: lightgbm.Booster, *, any_gold: bool) -> list[Pair]:
    return [
        Pair(
            row.question.query.id,
            measured(row, None, any_gold=any_gold),
            measured(row, booster, any_gold=any_gold),
        )
        for row in rows
    ]


def print_means(name: str, pairs: Sequence[Pair]) -> None:
    values = [
        sum(some[place] for some in column) / len(column)
        for place in (0, 1)
        for column in ([each.fused for each in pairs], [each.ranked for each in pairs])
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
