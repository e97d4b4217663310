"""A cold `pegboard search` against a bare script that only loads the model.

Both run as new processes, in turn, so that whatever else the machine does hits both alike.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import parser, save

DEMO = Path(__file__).parent.parent / "demo"
QUERY = "let the team know the build is broken"
NOTHING_FOUND = 1
BARE = """
import onnxruntime, tokenizers
from pathlib import Path
import importlib.util
weights = Path(importlib.util.find_spec("pegboard").origin).parent / "embed" / "weights"
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
onnxruntime.InferenceSession(
    str(weights / "model.onnx"), options, providers=["CPUExecutionProvider"])
tokenizers.Tokenizer.from_file(str(weights / "tokenizer.json"))
"""


def main() -> None:
    args = parser(__doc__, runs=25)
    with tempfile.TemporaryDirectory() as folder:
        board = str(Path(folder) / "board.db")
        pegboard = [sys.executable, "-m", "pegboard"]
        for command in (["init"], ["add", "folder", str(DEMO)], ["sync"]):
            subprocess.run([*pegboard, *command, "--board", board], check=True, capture_output=True)
        commands = {
            "bare script": [sys.executable, "-c", BARE],
            "search, hybrid": [*pegboard, "search", QUERY, "--board", board],
            "search, bm25": [*pegboard, "search", QUERY, "--board", board, "--mode", "bm25"],
            "--help": [*pegboard, "--help"],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(args.runs):
            for name, command in commands.items():
                seconds[name].append(timed(command))
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    bare = medians["bare script"]
    save(
        args,
        "cold_start",
        {
            "runs": args.runs,
            "target": "search, hybrid: at most 1.5",
            "ratio to bare script": {name: round(m / bare, 3) for name, m in medians.items()},
            "median ms": {name: round(m * 1000) for name, m in medians.items()},
        },
    )


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode not in (0, NOTHING_FOUND):
        raise SystemExit(f"{command} failed: {done.stderr.decode()}")
    return seconds


if __name__ == "__main__":
    main()
