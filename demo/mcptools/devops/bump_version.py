import re
from pathlib import Path
from typing import Literal


def run(
    path: str, part: Literal["major", "minor", "patch"] = "patch", dry_run: bool = False
) -> dict[str, str]:
    """Raise the semantic version number in pyproject.toml, package.json or a VERSION file.

    Args:
        path: File with the version number; the first x.y.z in it after "version" counts, or
            the first of all if that word does not occur.
        part: Which component to raise. Lower components go back to zero.
        dry_run: Leave the file alone and only say what would happen.

    Returns:
        "old" and "new" version.
    """
    text = Path(path).read_text("utf-8")
    number = r"(\d+)\.(\d+)\.(\d+)"
    match = re.search(rf"\bversion\W{{1,6}}{number}", text, re.I) or re.search(number, text)
    if not match:
        raise ValueError(f"no version number in {path}")
    major, minor, patch = (int(group) for group in match.groups())
    fresh = {"major": (major + 1, 0, 0), "minor": (major, minor + 1, 0)}
    new = "{}.{}.{}".format(*fresh.get(part, (major, minor, patch + 1)))
    if not dry_run:
        Path(path).write_text(text[: match.start(1)] + new + text[match.end(3) :], "utf-8")
    return {"old": text[match.start(1) : match.end(3)], "new": new}
