import subprocess


def run(
    repository: str, name: str, start_point: str = "HEAD", switch: bool = True
) -> dict[str, str]:
    """Start a new branch and, unless told otherwise, check it out.

    Args:
        repository: Path of the working copy.
        name: Name of the branch.
        start_point: Commit, tag or branch to start from.
        switch: Check the branch out.

    Returns:
        The branch and the commit that it points to.
    """
    _git(repository, "check-ref-format", "--branch", name)
    commit = _git(repository, "rev-parse", "--verify", f"{start_point}^{{commit}}").strip()
    _git(repository, *(["switch", "-c"] if switch else ["branch"]), name, commit)
    return {"branch": name, "commit": commit}


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
