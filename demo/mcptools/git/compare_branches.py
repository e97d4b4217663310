import subprocess


def run(repository: str, branch: str, base: str = "main") -> dict[str, int | list[str]]:
    """Tell how far one branch is ahead of and behind another.

    Args:
        repository: Path of the working copy.
        branch: Branch under consideration.
        base: Branch to measure it against.

    Returns:
        "ahead" and "behind" as commit counts, and the "files" that differ.
    """
    span = ["--end-of-options", f"{base}...{branch}", "--"]
    behind, ahead = _git(repository, "rev-list", "--left-right", "--count", *span).split()
    files = _git(repository, "diff", "--name-only", *span).splitlines()
    return {"ahead": int(ahead), "behind": int(behind), "files": files}


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
