"""The picture of `growth.py`: search against embedding the query, by the number of items."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def plot(rows: Mapping[int, dict[str, Any]], targets: Mapping[int, float], place: Path) -> None:
    try:
        # By name, so that types can be checked where the packages of `bench` are not installed.
        matplotlib = importlib.import_module("matplotlib")
    except ImportError:
        print("no picture: matplotlib is missing; install it with: pip install -e '.[bench]'")
        return
    matplotlib.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(8, 5), dpi=150, layout="constrained")
    sizes = sorted(rows)
    for share, colour, style in (("p50", "#1f5fa8", "o-"), ("p95", "#d9822b", "s-")):
        ratios = [rows[size]["search / embedding"][share] for size in sizes]
        axes.plot(sizes, ratios, style, color=colour, linewidth=2, label=f"search, {share}")
        for size, ratio in zip(sizes, ratios, strict=True):
            below = share == "p50"
            axes.annotate(
                f"{ratio:.2f}",
                (size, ratio),
                textcoords="offset points",
                xytext=(0, -16 if below else 9),
                ha="center",
                color=colour,
            )
    wanted = {size: target for size, target in targets.items() if size in rows}
    axes.plot(list(wanted), list(wanted.values()), "v", color="#b3261e", markersize=9)
    for size, target in wanted.items():
        axes.annotate(
            f"target: at most {target:g}",
            (size, target),
            textcoords="offset points",
            xytext=(10, -4),
            color="#b3261e",
            fontsize=9,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )
    axes.axhline(1.0, color="#888888", linewidth=1, linestyle=":")
    axes.text(
        0.99,
        0.97,
        "dotted line: as long as embedding the query",
        transform=axes.transAxes,
        ha="right",
        va="top",
        color="#666666",
        fontsize=9,
    )
    dress(axes, sizes)
    figure.savefig(place if place.suffix == ".png" else place / "growth.png")


def dress(axes: Any, sizes: list[int]) -> None:  # noqa: ANN401 (matplotlib has no types here)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ticks = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    low, high = axes.get_ylim()
    axes.set_ylim(min(low / 1.3, 0.2), max(high * 1.3, 10))
    axes.set_xlim(sizes[0] / 2, sizes[-1] * 2)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("items on the board")
    axes.set_ylabel("time of a search / time to embed its query")
    axes.set_title("Hybrid search without the embedding, against embedding the query")
    axes.legend(loc="upper left", frameon=False, labelspacing=0.8)
