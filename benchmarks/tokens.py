"""How many tokens an answer of five hits costs the model that reads it, in the compact form.

The boards have no vectors and are asked by words, which saves embedding 40,000 texts; what a hit
costs does not depend on how it was found. The threshold is 0, so that answers are as long as can
be. Counted by the larger of Pegboard's own estimate and the packaged WordPiece tokenizer.
"""

from pathlib import Path

from tokenizers import Tokenizer

from boards import board_file, filled, folder_for, sampled
from pegboard import Pegboard
from pegboard.board.measure.evaluating import EVALUATED
from pegboard.embed.local import WEIGHTS
from pegboard.search.budget import Detail, tell, tokens
from report import Check, at_most, options, quantile, save

BOARDS = {
    "aws": ("retrieval/aws/tools.jsonl.gz", "retrieval/aws/queries.jsonl"),
    "mcp_corpus": ("scale/mcp_corpus.jsonl.gz", "retrieval/metatool/queries.jsonl"),
}
LIMIT = 5
MEDIAN = 600


def main() -> None:
    found = options(__doc__)
    found.add_argument("--keep", type=Path, help="folder where the boards are kept")
    found.add_argument("--queries", type=int, default=200, help="queries a board (%(default)s)")
    args = found.parse_args()
    tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    table: dict[str, dict[str, float]] = {}
    checks: dict[str, Check] = {}
    with folder_for(args.keep) as folder:
        for name, (catalogue, queries) in BOARDS.items():
            texts = [query.text for query in sampled(args.data / queries, args.queries)]
            path = board_file(folder, f"{name}-words")
            with filled(args.data / catalogue, path, {"embed.provider": "disabled"}) as board:
                table[name] = measure(board, texts, tokenizer)
            checks[f"median tokens, {name}"] = at_most(table[name]["median"], MEDIAN)
    save(args, "tokens", {"checks": checks, "hits in an answer": LIMIT, "boards": table})


def measure(board: Pegboard, texts: list[str], tokenizer: Tokenizer) -> dict[str, float]:
    counted: list[float] = []
    hits = 0
    for text in texts:
        answer = board.search(text, limit=LIMIT, threshold=0.0, filters=EVALUATED)
        told = "\n".join(tell(hit, Detail.COMPACT) for hit in answer.hits)
        pieces = len(tokenizer.encode(told, add_special_tokens=False).ids)
        counted.append(max(tokens(told), pieces))
        hits += len(answer.hits)
    return {
        "queries": len(texts),
        "hits, mean": round(hits / len(texts), 2),
        "median": quantile(counted, 0.5),
        "p95": quantile(counted, 0.95),
        "most": max(counted),
    }


if __name__ == "__main__":
    main()
