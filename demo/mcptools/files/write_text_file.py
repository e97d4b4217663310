import os
from pathlib import Path
from typing import Literal


def run(
    path: str, content: str, mode: Literal["create", "replace", "append"] = "create"
) -> dict[str, str | int]:
    """Save text to disk.

    A replacement is written next to the old file and swapped in at the end, so readers never
    see half of it. Missing parent folders are made.

    Args:
        path: File to write.
        content: Text to store, as UTF-8.
        mode: "create" insists that nothing exists yet, "append" adds at the end.

    Returns:
        Absolute path and size in bytes afterwards.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if mode == "replace":
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        draft.write_text(content, "utf-8")
        draft.replace(target)
    else:
        with target.open("x" if mode == "create" else "a", encoding="utf-8") as stream:
            stream.write(content)
    return {"path": str(target.resolve()), "size": target.stat().st_size}
