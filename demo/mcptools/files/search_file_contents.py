import re
from pathlib import Path


def run(
    folder: str, query: str, glob: str = "**/*", regex: bool = False, max_results: int = 100
) -> list[dict[str, str | int]]:
    """Search inside files for a phrase, like grep over a directory tree.

    Binary files are skipped.

    Args:
        folder: Where to begin.
        query: Phrase to find, compared without regard to case.
        glob: Which files to open.
        regex: Treat the query as a regular expression.
        max_results: Stop after this many hits.

    Returns:
        File, line number and line for each hit.
    """
    wanted = re.compile(query if regex else re.escape(query), re.IGNORECASE)
    hits: list[dict[str, str | int]] = []
    for path in sorted(p for p in Path(folder).glob(glob) if p.is_file()):
        data = path.read_bytes()
        if b"\0" in data[:1024]:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if wanted.search(line):
                hits.append({"file": str(path), "line": number, "text": line.strip()[:300]})
                if len(hits) >= max_results:
                    return hits
    return hits
