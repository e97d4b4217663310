import re
import subprocess


def run(repository: str, path: str, first_line: int, last_line: int) -> list[dict[str, str | int]]:
    """Find out who last touched each line of a source file, and in which commit.

    Args:
        repository: Path of the working copy.
        path: File, relative to the repository.
        first_line: First line of interest.
        last_line: Last line of interest.

    Returns:
        Line number, author, commit and content for each line.
    """
    span = f"-L{int(first_line)},{int(last_line)}"
    listing = _git(repository, "blame", "--line-porcelain", span, "--", path)
    pattern = r"^([0-9a-f]{40}) \d+ (\d+).*?^author ([^\n]*).*?^\t([^\n]*)$"
    return [
        {"line": int(number), "author": author, "commit": commit[:10], "text": text}
        for commit, number, author, text in re.findall(pattern, listing, re.S | re.M)
    ]


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
