"""freeact's hybrid search: FTS5 and sqlite-vec, fused by RRF, asked as its own server asks it."""

import asyncio
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pysqlite3
from freeact.tools.pytools.search.hybrid import database, server
from freeact.tools.pytools.search.hybrid.embed import ToolEmbedder
from freeact.tools.pytools.search.hybrid.index import Indexer
from freeact.tools.pytools.search.hybrid.search import SearchEngine
from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult, EmbeddingSettings
from pydantic_ai.embeddings.result import EmbedInputType

from protocol import Tool, Wire, serve, unpacked

DIMENSION = 384
database.sqlite3 = pysqlite3
"""Not every Python is built with an SQLite that loads extensions, which freeact needs."""


class Ready(EmbeddingModel):
    """The model of the comparison in the place of Google's: each text is embedded once."""

    def __init__(self) -> None:
        super().__init__()
        self.wire: Wire | None = None
        self.known: dict[str, list[float]] = {}

    @property
    def model_name(self) -> str:
        return "all-MiniLM-L6-v2"

    @property
    def system(self) -> str:
        return "pegboard"

    async def embed(
        self,
        inputs: str | Sequence[str],
        *,
        input_type: EmbedInputType,
        settings: EmbeddingSettings | None = None,
    ) -> EmbeddingResult:
        texts, _ = self.prepare_embed(inputs, settings)
        missing = [text for text in dict.fromkeys(texts) if text not in self.known]
        if missing and self.wire is not None:
            self.known.update(zip(missing, self.wire.embed(missing), strict=True))
        return EmbeddingResult(
            embeddings=[self.known[text] for text in texts],
            inputs=texts,
            input_type=input_type,
            model_name=self.model_name,
            provider_name=self.system,
        )


class FreeactPeer:
    version = version("freeact")

    def __init__(self) -> None:
        self._model = Ready()
        self._embedder = ToolEmbedder(self._model)
        self._loop = asyncio.Runner()

    def prepare(self, tools: list[Tool], catalogue: Path, folder: Path, wire: Wire) -> None:
        self._files = folder / "files"
        for tool in tools:
            write(tool, self._files)
        self._model.wire = wire
        self.index(folder / "first")

    def index(self, folder: Path) -> None:
        self._loop.run(self._sync(folder))

    async def _sync(self, folder: Path) -> None:
        store = database.Database(folder / "search.db", DIMENSION)
        await store.initialize()
        await Indexer(store, self._embedder, self._files).sync()

    def open(self, folder: Path, tools: Path) -> None:
        self._loop.run(self._open(folder))

    async def _open(self, folder: Path) -> None:
        store = database.Database(folder / "search.db", DIMENSION)
        await store.initialize()
        indexer = Indexer(store, self._embedder, folder)
        state = server.ServerState(store, self._embedder, indexer, SearchEngine(store), folder)
        self._context = SimpleNamespace(request_context=SimpleNamespace(lifespan_context=state))

    def search(self, text: str, vector: str) -> list[str]:
        self._model.known = {text: unpacked(vector)}
        asked = server.search_tools(text, limit=10, ctx=self._context)
        return [f"{found.category}_{found.name}" for found in self._loop.run(asked)]


def write(tool: Tool, files: Path) -> None:
    """A file as freeact reads it, with the parameters in the docstring, all of which it indexes."""
    path = files / "mcptools" / tool.category / f"{tool.name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    takes = [
        f"    {name}: {schema.get('description', '')}".rstrip()
        for name, schema in tool.parameters.get("properties", {}).items()
    ]
    said = "\n".join([tool.description, *(["", "Args:", *takes] if takes else [])])
    path.write_text(f"def run(**arguments):\n    {said!r}\n", encoding="utf-8")


if __name__ == "__main__":
    serve(FreeactPeer)
