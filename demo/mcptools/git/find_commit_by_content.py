import subprocess


def run(repository: str, text: str, regex: bool = False, limit: int = 10) -> list[dict[str, str]]:
    """Search history for the commits that introduced or removed a piece of code.

    Useful to learn when a function appeared or vanished.

    Args:
        repository: Path of the working copy.
        text: Code fragment.
        regex: Interpret the fragment as a regular expression.
        limit: Stop after this many commits.

    Returns:
        Hash, date and subject of each commit.
    """
    wanted = f"-G{text}" if regex else f"-S{text}"
    options = ["--all", f"--max-count={limit}", "--format=%h%x09%as%x09%s"]
    log = _git(repository, "log", *options, wanted)
    keys = ("hash", "date", "subject")
    return [dict(zip(keys, line.split("\t", 2), strict=True)) for line in log.splitlines()]


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
