"""Batches against single runs of the packaged model: how quick, and whether a vector stays itself.

docs/decisions/0001-one-text-a-run.md rests on this.
"""

import gzip
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pegboard.embed.local import WEIGHTS
from report import parser, save

Vectors = NDArray[np.float32]
TEXTS = 1_500


def main() -> None:
    args = parser(__doc__, runs=1)
    corpus = args.data / "scale" / "mcp_corpus.jsonl.gz"
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        tools = [json.loads(line) for line in islice(lines, TEXTS)]
    tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    texts = [f"{tool['name']} {tool['category']} {tool['description']}" for tool in tools]
    tokens = sorted((encoded.ids for encoded in tokenizer.encode_batch(texts)), key=len)
    ways: dict[str, Callable[[], Vectors]] = {
        "one text a run, a pool of two threads": lambda: run(tokens, 1, threads=1, pool=2),
        "batches of 32, two threads inside the run": lambda: run(tokens, 32, threads=2, pool=1),
        "batches of 32, a pool of two threads": lambda: run(tokens, 32, threads=1, pool=2),
    }
    alone = run(tokens, 1, threads=1, pool=1)
    result: dict[str, object] = {}
    for name, way in ways.items():
        began = time.perf_counter()
        vectors = way()
        cosines = (vectors * alone).sum(axis=1)
        result[name] = {
            "texts per second": round(TEXTS / (time.perf_counter() - began)),
            "cosine to the vector of the text alone, mean": round(float(cosines.mean()), 4),
            "at worst": round(float(cosines.min()), 4),
        }
    save(args, "batching", result)


def run(tokens: list[list[int]], size: int, *, threads: int, pool: int) -> Vectors:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    session = onnxruntime.InferenceSession(
        str(WEIGHTS / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )

    def embed(batch: list[list[int]]) -> Vectors:
        ids = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(batch):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: Vectors = session.run(None, feeds)[0]
        means = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit

    batches = [tokens[start : start + size] for start in range(0, len(tokens), size)]
    with ThreadPoolExecutor(pool) as workers:
        return np.concatenate(list(workers.map(embed, batches)))


if __name__ == "__main__":
    main()
