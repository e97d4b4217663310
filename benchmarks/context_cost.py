"""What tools cost a model's context: all of them in the prompt, or Pegboard's own and one search.

A tool counts as the JSON that a client gives a model: name, description, schema of the input. A
search counts as the text of its answer, and as text and structured content together, because some
clients show both. Counted by Pegboard's own estimate or, with --tokenizer, by a tokenizer.
Everything is asked of the real server, by a real client.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from mcp import Client
from mcp_types import CallToolResult, TextContent
from tokenizers import Tokenizer

from boards import sampled
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.search.budget import tokens
from pegboard.serve.mcp.face import make_face
from replay import configs, replaying
from report import Check, at_most, mean, options, quantile, save

HERE = Path(__file__).parent
NO_TOOL = HERE / "sets" / "no_tool"
LIMIT = 5
QUERIES = 200
MEDIAN = 600
MOST_ITEMS = 10_000

Count = Callable[[str], int]


class Cost(NamedTuple):
    """Tokens of one answer."""

    hits: int
    text: int
    both: int


class Asked(NamedTuple):
    """What a client was given."""

    tools: dict[str, int]
    instructions: int
    answers: list[Cost]


def main() -> None:
    found = options(__doc__)
    found.add_argument("--tokenizer", type=Path, help="a tokenizer.json to count with")
    args = found.parse_args()
    count = counter(args.tokenizer) if args.tokenizer else tokens
    retrieval = args.data / "retrieval"
    boards: dict[str, dict[str, object]] = {}
    with evaluation_board(None, located().settings) as board:
        board.add_folder(HERE.parent / "demo")
        boards["demo"] = measure(board, demo_queries(), count)
    with replaying(args.data / "mcp") as urls, evaluation_board(None, located().settings) as board:
        board.add_servers(configs(urls))
        asked = sampled(retrieval / "mcpproxy_golden" / "queries.jsonl", QUERIES)
        asked += sampled(retrieval / "metatool" / "queries.jsonl", QUERIES)
        boards[f"{len(urls)} MCP servers"] = measure(board, [each.text for each in asked], count)
    save(args, "context_cost", {"checks": checks(boards), "limit": LIMIT, "boards": boards})


def checks(boards: dict[str, dict[str, object]]) -> dict[str, Check]:
    found: dict[str, Check] = {}
    for what in ("search, text", "search, text and structure"):
        costs = boards["demo"][what]
        if isinstance(costs, dict):
            found[f"demo, {what}, median"] = at_most(costs["median"], MEDIAN)
    return found


def demo_queries() -> list[str]:
    """Those that some tool of the demo serves, so that answers have hits in them."""
    files = (NO_TOOL / "served.jsonl", NO_TOOL / "hard" / "served.jsonl")
    lines = (line for path in files for line in path.read_text("utf-8").splitlines())
    return [json.loads(line)["query"] for line in lines if line.strip()]


def counter(file: Path) -> Count:
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def measure(board: Pegboard, texts: Sequence[str], count: Count) -> dict[str, object]:
    outcome = board.sync()
    if outcome.waiting or outcome.notices or any(each.error for each in outcome.sources):
        raise SystemExit(f"the board is not whole: {outcome.notices}")
    items = [entry.item for entry in board.listed(limit=MOST_ITEMS)]
    shown = (as_shown(each.name, each.description, dict(each.input_schema)) for each in items)
    everything = sum(count(text) for text in shown)
    ours, instructions, answers = asyncio.run(ask(board, texts, count))
    text = spread(each.text for each in answers)
    both = spread(each.both for each in answers)
    least = sum(ours.values()) + text["median"]
    most = sum(ours.values()) + instructions + both["median"]
    return {
        "tools": len(items),
        "all tools": everything,
        "Pegboard's tools": sum(ours.values()),
        "its instructions": instructions,
        "queries": len(texts),
        "hits, mean": mean([each.hits for each in answers]),
        "search, text": text,
        "search, text and structure": both,
        "tools and a search's text": least,
        "tools, instructions and all of a search": most,
        "all tools / that": round(everything / most, 1),
        "by tool": ours,
    }


async def ask(board: Pegboard, texts: Sequence[str], count: Count) -> Asked:
    async with Client(make_face(board).server) as client:
        tools = {
            tool.name: count(as_shown(tool.name, tool.description or "", tool.input_schema))
            for tool in (await client.list_tools()).tools
        }
        answers = [
            cost(await client.call_tool("search_tools", {"query": text, "limit": LIMIT}), count)
            for text in texts
        ]
        return Asked(tools, count(client.instructions or ""), answers)


def cost(result: CallToolResult, count: Count) -> Cost:
    if result.is_error or result.structured_content is None:
        raise SystemExit(f"a search failed: {result.content}")
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    structured = plain(result.structured_content)
    return Cost(
        hits=len(result.structured_content["hits"]),
        text=count(text),
        both=count(text) + count(structured),
    )


def as_shown(name: str, description: str, schema: object) -> str:
    return plain({"name": name, "description": description, "input_schema": schema})


def plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def spread(costs: Iterable[int]) -> dict[str, float]:
    found: list[float] = list(costs)
    return {"median": quantile(found, 0.5), "p95": quantile(found, 0.95), "most": max(found)}


if __name__ == "__main__":
    main()
