"""Look-alikes: does the right operation come first on a board of eleven services?

Six OpenAPI documents and five MCP servers on one board; 396 questions of three kinds
(benchmarks/sets/lookalikes), each asked with and without the service named. Then 200 summaries of
GitHub's operations are asked word for word.
"""

import json
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from boards import board_file, folder_for
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.model.items import Filters, Item
from replay import configs, replaying
from report import at_least, mean, options, save

SET = Path(__file__).parent / "sets" / "lookalikes"
DOCUMENTS = ("github", "stripe", "kubernetes", "slack", "trello", "gitlab")
SERVERS = ("zscaler-mcp-server", "keboola-mcp", "sonarqube", "buildkite", "maestro-mcp-server")
KINDS = {"plain": 0.88, "lookalike": 0.80, "paraphrase": 0.45}
"""Wanted share of right first hits, with the service named."""
SUMMARIES, SUMMARY_FIRST = 200, 0.99
PAGE = 1_000
SENTENCES = {
    "create a pull request": "pulls/create",
    "create an issue": "issues/create",
    "merge a pull request": "pulls/merge",
    "create a release": "repos/create-release",
    "fork a repository": "repos/create-fork",
    "list my repositories": "repos/list-for-authenticated-user",
    "add a comment to an issue": "issues/create-comment",
    "refund a payment": "PostRefunds",
}
"""Sentences of new users on a board with GitHub and Stripe, and the operation that serves them."""


class Asked(NamedTuple):
    id: str
    kind: str
    service: str
    query: str
    named: str
    gold: tuple[str, ...]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", type=Path, help="folder where boards are kept for the next run")
    args = parser.parse_args()
    with folder_for(args.keep) as folder, look_alike_board(args.data, folder) as board:
        called = names(board)
        found = {
            way: {kind: first(board, called, kind, way) for kind in KINDS}
            for way in ("named", "query")
        }
        wrong = [text for text, name in SENTENCES.items() if not is_first(board, text, name)]
        summaries = own_summaries(board)
    checks = {
        f"{kind}, service named": at_least(found["named"][kind], wanted)
        for kind, wanted in KINDS.items()
    }
    checks["own summary"] = at_least(summaries, SUMMARY_FIRST)
    checks["sentences of new users"] = at_least(1 - len(wrong) / len(SENTENCES), 1)
    save(
        args,
        "lookalikes",
        {
            "checks": checks,
            "questions": len(asked_questions()),
            "first, service named": found["named"],
            "first, service not named": found["query"],
            "sentences that fail": wrong,
        },
    )


def asked_questions() -> list[Asked]:
    files = sorted(SET.glob("*.jsonl"))
    lines = [line for path in files for line in path.read_text("utf-8").splitlines()]
    rows = [json.loads(line) for line in lines if line.strip()]
    return [
        Asked(
            row["id"],
            row["kind"],
            row["service"],
            row["query"],
            row["named"],
            tuple(f"{row['service']} {each}" for each in row["gold"]),
        )
        for row in rows
    ]


@contextmanager
def look_alike_board(data: Path, folder: Path) -> Iterator[Pegboard]:
    """The board with all services, built once."""
    path = board_file(folder, "lookalikes")
    with evaluation_board(path, located().settings) as board:
        if not board.sources():
            fill(board, data)
        yield board


def fill(board: Pegboard, data: Path) -> None:
    for name in DOCUMENTS:
        file = next((data / "openapi" / "real").glob(f"{name}.*gz"))
        board.add_source("openapi", str(file), name=name)
    with TemporaryDirectory(prefix="pegboard-bench-") as scratch:
        for name in SERVERS:
            shutil.copy(data / "mcp" / "docker_mcp_registry" / f"{name}.json", scratch)
        with replaying(Path(scratch)) as urls:
            board.add_servers(configs(urls))
            board.sync()


def first(board: Pegboard, called: dict[str, str], kind: str, way: str) -> float:
    """The share of questions whose first hit is right."""
    right = []
    for each in asked_questions():
        if each.kind == kind:
            found = board.search(getattr(each, way), limit=1, threshold=0.0).hits
            right.append(float(any(called[hit.id] in each.gold for hit in found)))
    return mean(right)


def items_of(board: Pegboard) -> list[Item]:
    found: list[Item] = []
    after = 0
    while page := board.store.items.page(after, PAGE):
        found += [entry.item for entry in page]
        after = page[-1].key
    return found


def names(board: Pegboard) -> dict[str, str]:
    """The items of the board by id, as the questions name them."""
    return {item.id: f"{item.source} {item.endpoint or item.name}" for item in items_of(board)}


def is_first(board: Pegboard, text: str, name: str) -> bool:
    two = Filters(sources=("github", "stripe"))
    found = board.search(text, limit=1, threshold=0.0, filters=two).hits
    return bool(found) and found[0].name == name


def own_summaries(board: Pegboard) -> float:
    titled = [item for item in items_of(board) if item.source == "github" and item.title]
    right = []
    for item in random.Random(3).sample(titled, SUMMARIES):
        found = board.search(item.title, limit=1, threshold=0.0).hits
        right.append(float(bool(found) and found[0].title == item.title))
    return mean(right)


if __name__ == "__main__":
    main()
