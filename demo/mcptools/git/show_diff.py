import subprocess


def run(
    repository: str, base: str | None = None, path: str | None = None, staged: bool = False
) -> dict[str, str]:
    """Display uncommitted modifications, or what changed since some commit.

    Args:
        repository: Path of the working copy.
        base: Commit or branch to compare the working copy with.
        path: Limit the comparison to one file or folder.
        staged: Look at the index instead of the working copy.

    Returns:
        "patch" in unified format and a "summary" line.
    """
    scope = [*(["--cached"] if staged else []), "--end-of-options", *filter(None, [base])]
    scope += ["--", *filter(None, [path])]
    return {
        "patch": _git(repository, "diff", "--no-ext-diff", *scope),
        "summary": _git(repository, "diff", "--shortstat", *scope).strip(),
    }


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
