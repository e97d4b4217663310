"""What tools cost a model's context: all of them in the prompt, or Pegboard's own and one search.

A tool counts as the JSON that a client gives a model: name, description, schema of the input. A
search counts as the text of its answer, and as text and structured content together, because some
clients show both. Counted by the larger of Pegboard's own estimate and the packaged WordPiece
tokenizer. Everything is asked of the real server, by a real client.
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
from pegboard.app import located
from pegboard.embed.local import WEIGHTS
from pegboard.measure import evaluation_board
from pegboard.search.budget import tokens
from pegboard.serve.face import make_face
from replay import configs, replaying
from report import Check, at_most, options, quantile, save

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


def main() -> None:
    args = options(__doc__).parse_args()
    count = counter()
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
    found = boards["demo"]["search, text and structure"]
    median = found["median"] if isinstance(found, dict) else 0
    return {"demo, one search, text and structure, median": at_most(median, MEDIAN)}


def demo_queries() -> list[str]:
    """Those that some tool of the demo serves, so that answers have hits in them."""
    files = (NO_TOOL / "served.jsonl", NO_TOOL / "hard" / "served.jsonl")
    lines = (line for path in files for line in path.read_text("utf-8").splitlines())
    return [json.loads(line)["query"] for line in lines if line.strip()]


def counter() -> Count:
    tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: max(tokens(text), len(tokenizer.encode(text, add_special_tokens=False).ids))


def measure(board: Pegboard, texts: Sequence[str], count: Count) -> dict[str, object]:
    outcome = board.sync()
    if outcome.waiting or outcome.notices or any(each.error for each in outcome.sources):
        raise SystemExit(f"the board is not whole: {outcome.notices}")
    items = [entry.item for entry in board.listed(limit=MOST_ITEMS)]
    shown = (as_shown(each.name, each.description, dict(each.input_schema)) for each in items)
    everything = sum(count(text) for text in shown)
    ours, instructions, answers = asyncio.run(ask(board, texts, count))
    text = spread([each.text for each in answers])
    both = spread([each.both for each in answers])
    return {
        "tools": len(items),
        "all tools": everything,
        "Pegboard's tools": sum(ours.values()),
        "its instructions": instructions,
        "queries": len(texts),
        "hits, mean": round(sum(each.hits for each in answers) / len(answers), 2),
        "search, text": text,
        "search, text and structure": both,
        "tools and one search": sum(ours.values()) + text["median"],
        "all tools / tools and one search": round(
            everything / (sum(ours.values()) + text["median"]), 1
        ),
        "by tool": ours,
    }


async def ask(
    board: Pegboard, texts: Sequence[str], count: Count
) -> tuple[dict[str, int], int, list[Cost]]:
    async with Client(make_face(board).server) as client:
        listed = (await client.list_tools()).tools
        ours = {
            tool.name: count(as_shown(tool.name, tool.description or "", tool.input_schema))
            for tool in listed
        }
        answers = [
            cost(await client.call_tool("search_tools", {"query": text, "limit": LIMIT}), count)
            for text in texts
        ]
        return ours, count(client.instructions or ""), answers


def cost(result: CallToolResult, count: Count) -> Cost:
    if result.is_error or result.structured_content is None:
        raise SystemExit(f"a search failed: {result.content}")
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    structured = result.structured_content
    return Cost(len(structured["hits"]), count(text), count(text) + count(plain(structured)))


def as_shown(name: str, description: str, schema: object) -> str:
    return plain({"name": name, "description": description, "input_schema": schema})


def plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def spread(costs: Iterable[int]) -> dict[str, float]:
    found: list[float] = list(costs)
    return {"median": quantile(found, 0.5), "p95": quantile(found, 0.95), "most": max(found)}


if __name__ == "__main__":
    main()
