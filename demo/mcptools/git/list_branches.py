import subprocess


def run(
    repository: str, include_remote: bool = False, merged_into: str | None = None
) -> list[dict[str, str]]:
    """List the branches of a repository, most recently used first.

    Args:
        repository: Path of the working copy.
        include_remote: Also list remote-tracking branches.
        merged_into: Restrict to branches already contained in this one.

    Returns:
        Name, abbreviated commit and date of the last commit of each branch.
    """
    layout = "%(refname:short)%09%(objectname:short)%09%(committerdate:iso-strict)"
    options = ["--sort=-committerdate", f"--format={layout}"]
    if merged_into:
        options.append(f"--merged={merged_into}")
    places = ["refs/heads", "refs/remotes"] if include_remote else ["refs/heads"]
    listing = _git(repository, "for-each-ref", *options, *places)
    return [
        dict(zip(("name", "commit", "date"), line.split("\t"), strict=True))
        for line in listing.splitlines()
    ]


def _git(repository: str, *arguments: str) -> str:
    command = ["git", "-C", repository, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"git exited with status {done.returncode}")
    return done.stdout
