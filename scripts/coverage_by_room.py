"""How much of each room the tests reach, from the report that `make coverage` leaves.

python scripts/coverage_by_room.py build/coverage/report.json
"""

import json
import sys
from collections import Counter
from pathlib import Path

HOUSE = ("src", "pegboard")
COUNTED = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def room_of(file: str) -> str:
    inside = Path(file).parts[len(HOUSE) :]
    return inside[0] if len(inside) > 1 else "(root)"


def by_room(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> dict[str, Counter[str]]:
    rooms: dict[str, Counter[str]] = {}
    for file, found in report["files"].items():
        if Path(file).parts[: len(HOUSE)] != HOUSE:
            continue  # a copy that a test installed
        counted = {name: found["summary"][name] for name in COUNTED}
        for room in (room_of(file), "total"):
            rooms.setdefault(room, Counter()).update(counted)
    return dict(sorted(rooms.items(), key=lambda each: (each[0] == "total", each[0])))


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def main() -> None:
    print(f"{'room':<10} {'lines':>7} {'reached':>9} {'branches':>9} {'taken':>9}")
    for room, found in by_room(json.loads(Path(sys.argv[1]).read_text("utf-8"))).items():
        lines, reached, branches, taken = (found[name] for name in COUNTED)
        print(
            f"{room:<10} {lines:>7,} {percent(reached, lines):>9}"
            f" {branches:>9,} {percent(taken, branches):>9}"
        )


if __name__ == "__main__":
    main()
