import difflib
from typing import Literal


def run(
    before: str, after: str, style: Literal["unified", "context"] = "unified", context: int = 3
) -> dict[str, str | float]:
    """Show line by line how two versions of a text differ.

    Args:
        before: Older version.
        after: Newer version.
        style: Layout of the listing.
        context: Unchanged lines to keep around each change.

    Returns:
        "diff" with the listing and "similarity" between 0 and 1.
    """
    make = difflib.unified_diff if style == "unified" else difflib.context_diff
    old, new = before.splitlines(), after.splitlines()
    lines = make(old, new, "before", "after", n=context, lineterm="")
    ratio = difflib.SequenceMatcher(None, before, after).ratio()
    return {"diff": "\n".join(lines), "similarity": round(ratio, 4)}
