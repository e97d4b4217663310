import subprocess
from typing import Literal


def run(
    repository: str, action: Literal["save", "restore", "list"] = "save", label: str = "demo"
) -> list[str]:
    """Shelve unfinished work, or bring back what was shelved last.

    Untracked files are included.

    Args:
        repository: Path of the working copy.
        action: What to do.
        label: Comment stored with the shelved work.

    Returns:
        All entries that are on the shelf afterwards.
    """
    if action == "save":
        _git(repository, "stash", "push", "--include-untracked", f"--message={label}")
    elif action == "restore":
        _git(repository, "stash", "pop")
    return _git(repository, "stash", "list").splitlines()


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
