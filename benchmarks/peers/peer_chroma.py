"""Chroma with Pegboard's own vectors: a collection in a folder, compared by cosine."""

from importlib.metadata import version
from pathlib import Path

import chromadb
from chromadb.config import Settings

from protocol import Tool, Wire, serve, unpacked

COLLECTION = "tools"


class ChromaPeer:
    version = version("chromadb")

    def prepare(self, tools: list[Tool], catalogue: Path, folder: Path, wire: Wire) -> None:
        self._handles = [tool.handle for tool in tools]
        self._vectors = [unpacked(tool.vector) for tool in tools]
        self._documents = [tool.description or tool.name for tool in tools]

    def index(self, folder: Path) -> None:
        client = connected(folder)
        collection = client.create_collection(
            COLLECTION, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )
        most = client.get_max_batch_size()
        for start in range(0, len(self._handles), most):
            part = slice(start, start + most)
            collection.add(
                ids=self._handles[part],
                embeddings=self._vectors[part],
                documents=self._documents[part],
            )

    def open(self, folder: Path, tools: Path) -> None:
        self._collection = connected(folder).get_collection(COLLECTION, embedding_function=None)

    def search(self, text: str, vector: str) -> list[str]:
        found = self._collection.query(query_embeddings=[unpacked(vector)], n_results=10)
        handles: list[str] = found["ids"][0]
        return handles


def connected(folder: Path) -> "chromadb.ClientAPI":
    return chromadb.PersistentClient(folder, Settings(anonymized_telemetry=False))


if __name__ == "__main__":
    serve(ChromaPeer)
