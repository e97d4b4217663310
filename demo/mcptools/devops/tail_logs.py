import re
from collections import deque
from pathlib import Path


def run(path: str, lines: int = 100, contains: str | None = None) -> list[str]:
    """Return the last lines of a log file, optionally filtered by a regular expression.

    Args:
        path: Log file.
        lines: How many lines.
        contains: Only lines that match this expression are taken into account.

    Returns:
        The lines, oldest first.
    """
    wanted = re.compile(contains) if contains else None
    with Path(path).open(encoding="utf-8", errors="replace") as stream:
        kept = (line.rstrip("\n") for line in stream if not wanted or wanted.search(line))
        return list(deque(kept, maxlen=lines))
