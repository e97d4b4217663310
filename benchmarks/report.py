"""What the benchmarks share: their options, their targets, and how a result is kept."""

import argparse
import json
import platform
import subprocess
from pathlib import Path
from typing import TypedDict

RESULTS = Path(__file__).parent / "results"


class Check(TypedDict):
    """A figure held against its target."""

    found: float
    target: str
    met: bool


def at_least(found: float, target: float) -> Check:
    return {"found": round(found, 4), "target": f"at least {target:g}", "met": found >= target}


def at_most(found: float, target: float) -> Check:
    return {"found": round(found, 4), "target": f"at most {target:g}", "met": found <= target}


def options(about: str | None, runs: int | None = None) -> argparse.ArgumentParser:
    """The options that all have; a benchmark may add its own."""
    found = argparse.ArgumentParser(description=about)
    if runs is not None:
        found.add_argument("--runs", type=int, default=runs, help="repetitions (%(default)s)")
    found.add_argument(
        "--data", type=Path, default=Path("data"), help="folder with retrieval/ and scale/"
    )
    found.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes")
    return found


def parser(about: str | None, runs: int) -> argparse.Namespace:
    return options(about, runs).parse_args()


def save(args: argparse.Namespace, name: str, result: dict[str, object]) -> None:
    found = {"commit": COMMIT, "python": platform.python_version(), **result}
    text = json.dumps(found, indent=2, ensure_ascii=False)
    args.results.mkdir(parents=True, exist_ok=True)
    (args.results / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(f"{name}: {text}")


def mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def quantile(values: list[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


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
