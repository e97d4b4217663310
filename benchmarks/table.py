"""Write the figures in results/ into the tables of README.md here and of the one above."""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MARK = "<!-- figures: {} -->"


def main() -> None:
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in HERE.glob("results/*.json")}
    fill(HERE / "README.md", "quality", quality(found["quality"]))
    fill(HERE / "README.md", "indexing", ratios(found["indexing"]))
    fill(HERE / "README.md", "cold_start", cold_start(found["cold_start"]))
    fill(HERE.parent / "README.md", "summary", summary(found))


def fill(page: Path, name: str, lines: list[str]) -> None:
    """Replace what stands between the two marks of this name."""
    begin, end = MARK.format(name), MARK.format(f"end of {name}")
    before, _, rest = page.read_text("utf-8").partition(begin)
    _, _, after = rest.partition(end)
    page.write_text("\n".join([before + begin, *lines, end]) + after, encoding="utf-8")


def quality(result: dict[str, Any]) -> list[str]:
    ways = ("hybrid", "rrf", "vector", "bm25")
    rows = [
        [name, row["tools"], *(f"{row[way]:.3f}" for way in ways), f"{row['baseline rrf']:.3f}"]
        for name, row in result["sets"].items()
    ]
    macro = [f"{result['macro ndcg@10'][way]:.3f}" for way in ways]
    rows.append(["mean of the sets", "", *macro, ""])
    head = ["set", "tools", "hybrid (default)", "hybrid, RRF", "vector", "bm25", "baseline RRF"]
    return [commit(result), "", *table(head, rows)]


def ratios(result: dict[str, Any]) -> list[str]:
    rows = [[key, value] for key, value in result.items() if isinstance(value, int | float)]
    return [commit(result), "", *table(["", ""], rows)]


def cold_start(result: dict[str, Any]) -> list[str]:
    rows = [[name, f"{ratio:.2f}"] for name, ratio in result["ratio to bare script"].items()]
    return [commit(result), "", *table(["command", "time, as a ratio to the bare script"], rows)]


def summary(found: dict[str, dict[str, Any]]) -> list[str]:
    macro = found["quality"]["macro ndcg@10"]
    first, second = (value for key, value in found["indexing"].items() if " / " in key)
    cold = found["cold_start"]["ratio to bare script"]["search, hybrid"]
    rows = [
        ["nDCG@10, mean of seven public sets: hybrid", f"{macro['hybrid']:.3f}"],
        ["the same with RRF; by meaning alone; by words alone", spread(macro)],
        ["indexing 10,000 files, against the bare embedder", f"{first:.2f} times"],
        ["syncing them again unchanged, against the first time", f"{100 * second:.1f} %"],
        ["a cold search, against only loading the model", f"{cold:.2f} times"],
    ]
    return [*table(["", ""], rows), "", commit(found["quality"])]


def spread(macro: dict[str, float]) -> str:
    return "; ".join(f"{macro[way]:.3f}" for way in ("rrf", "vector", "bm25"))


def commit(result: dict[str, Any]) -> str:
    return f"Commit {result['commit']}, Python {result['python']}."


def table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines]


if __name__ == "__main__":
    main()
