"""Indexing 10,000 tool files against the bare embedder on the same texts; then a sync of no change.

The bare embedder takes as many texts at once as a worker does. It runs over one half of the texts
before and the other half after the sync, so that a machine that grows slower or quicker meanwhile
favours neither.
"""

import gzip
import json
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pegboard import Pegboard
from pegboard.embed.local import LocalEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.model.items import Vector
from pegboard.text import _terms_of, embedding_text
from report import parser, save

TOOLS = 10_000
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list"}


class CountingEmbedder(PartsEmbedder):
    """The embedder of a board, which counts the texts."""

    texts = 0

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += len(texts)
        return super().embed(texts)


def main() -> None:
    args = parser(__doc__, runs=1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        written = write_tools(args.data / "scale" / "mcp_corpus.jsonl.gz", root / "tools")
        with Pegboard.open(str(root / "board.db"), create=True) as board:
            embedder = CountingEmbedder(LocalEmbedder())
            board.embedder = embedder
            result = measure(board, embedder, root / "tools")
    save(args, "indexing", {"files": written, **result})


def measure(board: Pegboard, embedder: CountingEmbedder, tools: Path) -> dict[str, object]:
    board.add_folder(tools)
    board.sync(embed=False)
    texts = [embedding_text(entry.item) for entry in board.store.items.page(0, TOOLS)]
    half = len(texts) // 2
    board.remove_source("tools")
    board.add_folder(tools)
    bare = PartsEmbedder(LocalEmbedder())
    bare.embed(texts[:10])
    size = board.settings.embed.batch_size
    before = timed(lambda: embed_all(bare, texts[:half], size))
    embedder.embed_query("load the model")
    _terms_of.cache_clear()  # the sync that gave the texts must not help the one that is timed
    first = timed(board.sync)
    embedded = embedder.texts
    after = timed(lambda: embed_all(bare, texts[half:], size))
    again = timed(board.sync)
    return {
        "tools": len(texts),
        "embedded by the first sync": embedded,
        "embedded by the second sync": embedder.texts - embedded,
        "first sync / bare embedder (target at most 1.15)": round(first / (before + after), 3),
        "second sync / first sync (target under 0.05)": round(again / first, 4),
        "seconds": {
            "bare embedder": round(before + after, 1),
            "first sync": round(first, 1),
            "second sync": round(again, 2),
        },
    }


def embed_all(bare: PartsEmbedder, texts: list[str], size: int) -> None:
    for start in range(0, len(texts), size):
        bare.embed(texts[start : start + size])


def timed(work: object) -> float:
    began = time.perf_counter()
    if callable(work):
        work()
    return time.perf_counter() - began


def write_tools(corpus: Path, root: Path) -> int:
    """The first distinct tools of the corpus as Python files in the pytools layout."""
    seen: set[Path] = set()
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for line in lines:
            tool = json.loads(line)
            category, name = identifier(tool["category"]), identifier(tool["name"])
            path = root / "mcptools" / category / f"{name}.py"
            if path in seen or not (tool.get("description") or "").strip():
                continue
            seen.add(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source(tool), encoding="utf-8")
            if len(seen) == TOOLS:
                break
    return len(seen)


def identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_")[:60] or "x"


def source(tool: dict[str, object]) -> str:
    parameters = tool.get("parameters")
    rows = (
        [row for row in parameters if isinstance(row, dict)] if isinstance(parameters, list) else []
    )
    signature, described = [], []
    for number, row in enumerate(rows):
        name = f"p{number}_{identifier(str(row['name']))}"
        kind = TYPES.get(str(row.get("type")), "object")
        signature.append(f"{name}: {kind}" + ("" if row.get("required") else " | None = None"))
        described.append(f"        {name}: {clean(row.get('description'))}")
    lines = [
        f'    """{clean(tool["description"])}',
        *(["", "    Args:", *described] if rows else []),
    ]
    keywords = "*, " if signature else ""
    return (
        f"def run({keywords}{', '.join(signature)}) -> dict:\n" + "\n".join(lines) + '\n    """\n'
    )


def clean(text: object) -> str:
    return re.sub(r'[\\"\x00-\x1f]+', " ", str(text or "")).strip()


if __name__ == "__main__":
    main()
