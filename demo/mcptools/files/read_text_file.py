from itertools import islice
from pathlib import Path


def run(path: str, start_line: int = 1, max_lines: int = 500, encoding: str = "utf-8") -> str:
    """Open a text file and return its contents, or only a range of lines.

    Args:
        path: File to open.
        start_line: First line wanted, counting from 1.
        max_lines: How many lines at most.
        encoding: Character encoding of the file.

    Returns:
        The lines as one string.
    """
    with Path(path).open(encoding=encoding, errors="replace") as stream:
        return "".join(islice(stream, start_line - 1, start_line - 1 + max_lines))
