"""Pegboard itself, in a process of its own like the others: its default, a hybrid search."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from pegboard import Pegboard
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import fill
from pegboard.embed.local import LocalEmbedder
from pegboard.model.items import Fingerprint, Vector
from pegboard.store.sqlite.store import SqliteStore
from protocol import Tool, Wire, bytes_of, serve


class Ready:
    """The embedder of the packaged model, whose vectors are made already."""

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self._known = {tool.text: Vector(bytes_of(tool.vector)) for tool in tools}
        self._model = LocalEmbedder()
        self.query = Vector(b"")

    @property
    def fingerprint(self) -> Fingerprint:
        return self._model.fingerprint

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._known[text] for text in texts]

    def embed_query(self, text: str) -> Vector:
        return self.query

    def close(self) -> None:
        self._model.close()


class PegboardPeer:
    version = version("pegboard")

    def prepare(self, tools: list[Tool], catalogue: Path, folder: Path, wire: Wire) -> None:
        self._ready = Ready(tools)
        self._catalogue = catalogue

    def index(self, folder: Path) -> None:
        with self._opened(folder, create=True) as board:
            fill(board.store, self._catalogue, board.sync)

    def open(self, folder: Path, tools: Path) -> None:
        self._ready = Ready()
        self._board = self._opened(folder)

    def search(self, text: str, vector: str) -> list[str]:
        self._ready.query = Vector(bytes_of(vector))
        answer = self._board.search(text, limit=10, threshold=0.0)
        return [hit.id for hit in answer.hits]

    def _opened(self, folder: Path, create: bool = False) -> Pegboard:
        store = SqliteStore(folder / "board.db", create=create)
        board = Pegboard(store, located().settings)
        board.embedder = self._ready
        return board


if __name__ == "__main__":
    serve(PegboardPeer)
