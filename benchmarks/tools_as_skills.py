"""The same things as tools and as skills: is a skill found as well as the tool would be?

Each set is asked twice: of a board with its tools, and of a board on which each of them is a skill,
a SKILL.md with the same name and description and the parameters in its body.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from boards import filled, folder_for, sampled
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import EvalQuery, evaluate, find_catalogue
from pegboard.model.items import Item
from pegboard.ports.stages import quiet
from pegboard.text import parameters, spoken
from report import at_least, mean, options, save

SETS = ("mcpproxy_golden", "restbench", "toolalpaca", "metatool")
"""Those whose questions are in other words than their tools, small enough to hang twice."""
MEASURES = ("recall@1", "recall@5", "ndcg@10")
MOST_QUERIES = 600
MOST_TOOLS = 1_000
AS_WELL = 0.99
"""Of the nDCG@10 that tools reach, at least so much is to be reached by skills."""
LONGEST_NAME, LONGEST_DESCRIPTION = 64, 1024
"""As the format of skills allows."""


def main() -> None:
    args = options(__doc__).parse_args()
    found = {name: measured(args.data / "retrieval" / name) for name in SETS}
    shares = [row["skill"]["ndcg@10"] / row["tool"]["ndcg@10"] for row in found.values()]
    check = {"nDCG@10 as skills / as tools, mean of the sets": at_least(mean(shares), AS_WELL)}
    save(args, "tools_as_skills", {"checks": check, "sets": found})


def measured(folder: Path) -> dict[str, Any]:
    queries = sampled(folder / "queries.jsonl", MOST_QUERIES)
    with folder_for(None) as scratch:
        with filled(find_catalogue(folder), scratch / "tools.db") as board:
            as_tools = asked(board, queries)
            places = {item.origin: written(item, scratch) for item in items_of(board)}
        with evaluation_board(scratch / "skills.db", located().settings) as board:
            board.add_folder(scratch / ".ai", name="skills")
            refused = sum(each.rejected.total() for each in board.sync().sources)
            if refused:
                raise SystemExit(f"{folder.name}: {refused} skills were refused")
            ids = {item.origin: item.id for item in items_of(board)}
            as_skills = asked(board, renamed(queries, {t: ids[s] for t, s in places.items()}))
    return {"tools": len(places), "queries": len(queries), "tool": as_tools, "skill": as_skills}


def items_of(board: Pegboard) -> list[Item]:
    return [entry.item for entry in board.store.items.page(0, MOST_TOOLS)]


def written(item: Item, scratch: Path) -> str:
    """The tool as a skill; where in the folder it is."""
    group = scratch / ".ai" / "skills" / (worded(item.category) or "other")
    folder = next(each for each in folders(group, worded(item.name)) if not each.exists())
    folder.mkdir(parents=True)
    said = (item.description or spoken(item.name))[:LONGEST_DESCRIPTION]
    front = yaml.safe_dump({"name": folder.name, "description": said}, allow_unicode=True)
    takes = [f"- `{name}`: {text}" for name, text in parameters(item.input_schema)]
    body = ["## Parameters", "", *takes] if takes else []
    (folder / "SKILL.md").write_text(
        "\n".join(["---", front + "---", "", *body, ""]), encoding="utf-8"
    )
    return folder.relative_to(scratch / ".ai").as_posix()


def worded(name: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", spoken(name).lower()))


def folders(group: Path, name: str) -> Iterator[Path]:
    yield group / name[:LONGEST_NAME].strip("-")
    yield from (group / f"{name[: LONGEST_NAME - 4].strip('-')}-{place}" for place in count(2))


def renamed(queries: Sequence[EvalQuery], ids: Mapping[str, str]) -> list[EvalQuery]:
    return [
        query._replace(
            gold=tuple(ids[each] for each in query.gold),
            alt={ids[one]: tuple(ids[each] for each in same) for one, same in query.alt.items()},
        )
        for query in queries
    ]


def asked(board: Pegboard, queries: Sequence[EvalQuery]) -> dict[str, object]:
    found = evaluate(
        queries,
        lambda text: board.search(text, limit=10, threshold=0.0),
        board.settings.search.threshold,
        quiet,
    )
    return {each: found[each] for each in MEASURES}


if __name__ == "__main__":
    main()
