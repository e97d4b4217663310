import subprocess


def run(repository: str, message: str, paths: list[str] | None = None) -> dict[str, str]:
    """Stage files and record them as a new commit.

    Args:
        repository: Path of the working copy.
        message: Commit message; the first line is the subject.
        paths: Files to stage. Everything that changed is staged if omitted.

    Returns:
        Hash of the commit and the branch it is on.
    """
    _git(repository, "add", *(["--", *paths] if paths else ["--all"]))
    _git(repository, "commit", "--quiet", f"--message={message}")
    return {
        "commit": _git(repository, "rev-parse", "HEAD").strip(),
        "branch": _git(repository, "branch", "--show-current").strip(),
    }


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
