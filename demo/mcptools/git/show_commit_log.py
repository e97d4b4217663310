import subprocess


def run(
    repository: str,
    revision: str = "HEAD",
    limit: int = 20,
    author: str | None = None,
    path: str | None = None,
) -> list[dict[str, str]]:
    """Show the commit history.

    Args:
        repository: Path of the working copy.
        revision: Branch, tag or range such as "v1.0..main".
        limit: Number of commits.
        author: Only commits by this person.
        path: Only commits that touched this file or folder.

    Returns:
        Hash, author, date and subject of each commit, newest first.
    """
    options = [f"--max-count={limit}", "--format=%H%x09%an%x09%aI%x09%s"]
    if author:
        options.append(f"--author={author}")
    log = _git(
        repository, "log", *options, "--end-of-options", revision, "--", *filter(None, [path])
    )
    keys = ("hash", "author", "date", "subject")
    return [dict(zip(keys, line.split("\t", 3), strict=True)) for line in log.splitlines()]


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
