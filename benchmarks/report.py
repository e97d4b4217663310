"""What the benchmarks share: their options, and how a result is kept."""

import argparse
import json
import platform
import subprocess
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def parser(about: str | None, runs: int) -> argparse.Namespace:
    options = argparse.ArgumentParser(description=about)
    options.add_argument("--runs", type=int, default=runs, help="repetitions (default %(default)s)")
    options.add_argument(
        "--data", type=Path, default=Path("data"), help="folder with retrieval/ and scale/"
    )
    options.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes")
    return options.parse_args()


def save(args: argparse.Namespace, name: str, result: dict[str, object]) -> None:
    found = {"commit": COMMIT, "python": platform.python_version(), **result}
    text = json.dumps(found, indent=2, ensure_ascii=False)
    args.results.mkdir(parents=True, exist_ok=True)
    (args.results / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(f"{name}: {text}")


def _commit() -> str:
    """The commit that is measured; a plus says that files have changed since."""
    here = Path(__file__).parent
    head = _git(here, "rev-parse", "--short=12", "HEAD")
    changed = _git(here, "status", "--porcelain", "--", "../src", "../demo")
    return f"{head}+" if changed else head


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


COMMIT = _commit()  # read at the start: a long run may outlive it
