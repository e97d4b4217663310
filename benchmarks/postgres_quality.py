"""nDCG@10 on the retrieval sets, on SQLite and on PostgreSQL.

Each set goes the whole way on both: catalogue, gate, store, worker, search. The only difference is
where the board is, so the figures should be the same.
"""

from contextlib import ExitStack
from pathlib import Path

from boards import add_options, board_file, folder_for
from pegboard.app.measure import evaluate, evaluation_board
from pegboard.app.pegboard import located
from pegboard.store.opening import scratch_beside
from postgres_scale import serving
from report import Check, at_most, options, save

MODES = ("hybrid", "bm25", "vector")
MOST = 0.01
"""How far the two may be apart on any set."""


def main() -> None:
    found = options(__doc__)
    add_options(found)
    found.add_argument("--server", help="address of a server with pgvector that is there already")
    args = found.parse_args()
    table: dict[str, dict[str, dict[str, float]]] = {}
    with folder_for(args.keep) as folder, serving(args) as server:
        for name in args.sets:
            data = args.data / "retrieval" / name
            with scratch_beside(server) as address:
                table[name] = compared(data, board_file(folder, name), address)
            print(name, table[name], flush=True)
    save(args, "postgres_quality", {"checks": checks(table), "sets": table})


def compared(data: Path, sqlite: Path, postgres: str) -> dict[str, dict[str, float]]:
    measured: dict[str, dict[str, float]] = {}
    with ExitStack() as stack:
        boards = {
            "sqlite": stack.enter_context(evaluation_board(sqlite, located().settings)),
            "postgres": stack.enter_context(evaluation_board(postgres, located().settings)),
        }
        for mode in MODES:
            measured[mode] = {}
            for store, board in boards.items():
                found, notices = evaluate(board, data, mode=mode, limit=10)
                if notices:
                    raise SystemExit(f"{data.name} on {store}: {notices}")
                measured[mode][store] = float(str(found["ndcg@10"]))
    return measured


def checks(table: dict[str, dict[str, dict[str, float]]]) -> dict[str, Check]:
    return {
        f"{name}, {mode}: PostgreSQL and SQLite apart": at_most(
            abs(found["postgres"] - found["sqlite"]), MOST
        )
        for name, modes in table.items()
        for mode, found in modes.items()
    }


if __name__ == "__main__":
    main()
