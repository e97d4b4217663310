"""The curves of search/confidence.py: how sure the evidence for a best hit can make one.

Fitted on four small sets. Each board is asked its own queries, which it can serve, and queries of
the other sets, most of which it cannot. The questions of benchmarks/sets/no_tool have no part in
it: they are what the result is measured on.
"""

import math
import random
from collections.abc import Sequence

from boards import add_options, board_file, filled, folder_for
from pegboard import Pegboard
from pegboard.board.find.answering import FindSettings
from pegboard.board.find.gathering import gather
from pegboard.board.measure.evaluating import find_catalogue, read_queries
from pegboard.model.items import Filters, Mode
from pegboard.search.fusion import FusionSettings, fuse
from pegboard.search.query import parse
from report import options, save

BOARDS = ("mcpproxy_golden", "restbench", "toolalpaca", "metatool")
OTHERS = (*BOARDS, "bfcl", "sealtools")
MODES = (Mode.HYBRID, Mode.VECTOR, Mode.BM25)
OWN, STRANGE = 200, 40
STEPS = 100


def main() -> None:
    parser = options(__doc__)
    add_options(parser)
    args = parser.parse_args()
    sets = args.data / "retrieval"
    texts = {name: [q.text for q in read_queries(sets / name / "queries.jsonl")] for name in OTHERS}
    rows: dict[Mode, list[tuple[float, bool]]] = {mode: [] for mode in MODES}
    chance = random.Random(1)
    with folder_for(args.keep) as folder:
        for name in BOARDS:
            with filled(find_catalogue(sets / name), board_file(folder, name)) as board:
                own = chance.sample(texts[name], min(OWN, len(texts[name])))
                strange = [
                    text
                    for other in OTHERS
                    if other != name
                    for text in chance.sample(texts[other], min(STRANGE, len(texts[other])))
                ]
                for mode in MODES:
                    rows[mode] += [(best(board, text, mode), True) for text in own]
                    rows[mode] += [(best(board, text, mode), False) for text in strange]
            print(name, "asked", flush=True)
    save(args, "calibrate", {mode.value: curve(rows[mode]) for mode in MODES})


def best(board: Pegboard, text: str, mode: Mode) -> float:
    """The evidence for the best hit, before it becomes a score."""
    found = gather(board.store, board.embedder, parse(text), mode, Filters(), FindSettings().depth)
    ranked = fuse(found.evidence, FusionSettings())
    return ranked[0].fused if ranked else 0.0


def curve(rows: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """A logistic regression on one number, both kinds weighing the same; Newton's method."""
    served = sum(kind for _, kind in rows) / len(rows)
    slope = offset = 0.0
    for _ in range(STEPS):
        g0 = g1 = h00 = h01 = h11 = 0.0
        for x, kind in rows:
            weight = 0.5 / served if kind else 0.5 / (1 - served)
            p = 1 / (1 + math.exp(-(slope * x + offset)))
            error, spread = weight * (p - kind), weight * p * (1 - p)
            g0, g1 = g0 + error, g1 + error * x
            h00, h01, h11 = h00 + spread, h01 + spread * x, h11 + spread * x * x
        fixed = h00 * h11 - h01 * h01 + 1e-9
        offset -= (h11 * g0 - h01 * g1) / fixed
        slope -= (h00 * g1 - h01 * g0) / fixed
    return {"middle": round(-offset / slope, 4), "steepness": round(slope, 2)}


if __name__ == "__main__":
    main()
