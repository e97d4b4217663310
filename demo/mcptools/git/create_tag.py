import subprocess


def run(repository: str, tag: str, message: str | None = None, commit: str = "HEAD") -> str:
    """Mark a commit with a version tag.

    Args:
        repository: Path of the working copy.
        tag: Name such as "v2.1.0".
        message: Annotation; a lightweight tag is made without one.
        commit: What to mark.

    Returns:
        Full hash of the marked commit.
    """
    target = _git(repository, "rev-parse", "--verify", f"{commit}^{{commit}}").strip()
    note = ["--annotate", f"--message={message}"] if message else []
    _git(repository, "tag", *note, "--end-of-options", tag, target)
    return target


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
