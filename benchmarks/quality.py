"""nDCG@10 on the retrieval sets, by mode, against the RRF baseline of the data's README.

Each set goes the whole way: catalogue, gate, store, worker, search.
"""

import tempfile
from pathlib import Path

from pegboard.app import evaluation_board, located
from report import parser, save

# Measured by the data's authors: MiniLM and bm25s, RRF with k 60 over the first 50 of each.
BASELINE = {
    "mcpproxy_golden": 0.812,
    "restbench": 0.584,
    "toolalpaca": 0.841,
    "metatool": 0.644,
    "bfcl": 0.762,
    "sealtools": 0.797,
    "aws": 0.738,
}
WAYS: dict[str, tuple[str, dict[str, object]]] = {
    "hybrid": ("hybrid", {}),
    "rrf": ("hybrid", {"search.fusion": "rrf"}),
    "vector": ("vector", {}),
    "bm25": ("bm25", {}),
}


def main() -> None:
    args = parser(__doc__, runs=1)
    table: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, baseline in BASELINE.items():
            row: dict[str, object] = {"baseline rrf": baseline}
            for way, (mode, flags) in WAYS.items():
                folder = args.data / "retrieval" / name
                found = measure(folder, Path(scratch) / f"{name}.db", mode, flags)
                row[way] = found["ndcg@10"]
                if way == "hybrid":
                    row |= {key: found[key] for key in ("recall@1", "recall@5", "zero_hit")}
                    row |= {"tools": found["tools"], "latency_ms": found["latency_ms"]}
            table[name] = row
            print(name, row, flush=True)
    below = [name for name, row in table.items() if number(row["hybrid"]) < BASELINE[name]]
    macro = {way: mean([number(row[way]) for row in table.values()]) for way in WAYS}
    save(
        args,
        "quality",
        {
            "target": "hybrid at least the baseline on each set",
            "below the baseline": below,
            "macro ndcg@10": macro,
            "sets": table,
        },
    )


def measure(folder: Path, board: Path, mode: str, flags: dict[str, object]) -> dict[str, object]:
    with evaluation_board(board, located(flags=flags).settings) as pegboard:
        found, notices = pegboard.evaluate(folder, mode=mode, limit=10)
    if notices:
        raise SystemExit(f"{folder.name}: {notices}")
    return found


def number(value: object) -> float:
    return value if isinstance(value, float) else 0.0


def mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4)


if __name__ == "__main__":
    main()
