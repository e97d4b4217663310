"""The retrieval sets, and a board of each, built once and kept if a folder is given for it."""

import argparse
import hashlib
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pegboard
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import EvalQuery, fill, read_queries

SEED = 7


class Baseline(NamedTuple):
    """nDCG@10 as measured by the data's authors: bm25s with stemming, MiniLM, and RRF of both."""

    bm25: float
    minilm: float
    rrf: float


SETS = {
    "mcpproxy_golden": Baseline(0.688, 0.883, 0.812),
    "restbench": Baseline(0.546, 0.568, 0.584),
    "toolalpaca": Baseline(0.805, 0.813, 0.841),
    "metatool": Baseline(0.515, 0.666, 0.644),
    "bfcl": Baseline(0.729, 0.690, 0.762),
    "sealtools": Baseline(0.863, 0.639, 0.797),
    "aws": Baseline(0.668, 0.669, 0.738),
}


def add_options(found: argparse.ArgumentParser) -> None:
    found.add_argument("--keep", type=Path, help="folder where boards are kept for the next run")
    found.add_argument(
        "--sets",
        type=lambda text: text.split(","),
        default=list(SETS),
        help="which of the sets, with commas between them (all)",
    )


@contextmanager
def folder_for(keep: Path | None) -> Iterator[Path]:
    """The folder that was given, or one that is gone afterwards."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with TemporaryDirectory(prefix="pegboard-bench-") as scratch:
        yield Path(scratch)


def board_file(folder: Path, name: str) -> Path:
    """A board is used again only by the code that would build it the same way."""
    root = Path(pegboard.__file__).parent
    parts = [
        root / "text.py",
        root / "verbs.py",
        *sorted(root.glob("embed/*.py")),
        *sorted(root.glob("sources/**/*.py")),
    ]
    parts += sorted(path for path in root.glob("store/**/*") if path.suffix in (".py", ".sql"))
    stamp = hashlib.sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()[:10]
    return folder / f"{name}-{stamp}.db"


@contextmanager
def filled(
    catalogue: Path, board: Path, flags: Mapping[str, object] | None = None
) -> Iterator[Pegboard]:
    """A board with the tools of a catalogue on it, as an evaluation would build it."""
    with evaluation_board(board, located(flags=flags).settings) as found:
        for notice in fill(found.store, catalogue, found.sync).notices:
            print(f"{catalogue}: {notice}", flush=True)
        yield found


@contextmanager
def demo_board() -> Iterator[Pegboard]:
    """A board with the demo's tools on it, all of them embedded."""
    with evaluation_board(None, located().settings) as board:
        board.add_folder(Path(__file__).parents[1] / "demo")
        outcome = board.sync()
        if outcome.notices or outcome.waiting:
            raise SystemExit(f"the demo board is not whole: {outcome.notices}")
        yield board


def sampled(queries: Path, most: int) -> list[EvalQuery]:
    """All queries if they are few, else so many, the same at every run."""
    found = read_queries(queries)
    return found if len(found) <= most else random.Random(SEED).sample(found, most)
