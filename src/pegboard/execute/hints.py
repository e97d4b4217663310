"""What a tool that failed may have lacked, guessed from what it said: the next step for its author.

Nothing is looked up for it: a tool that may not see a file must not learn whether there is one.
"""

import re
from pathlib import Path

from pegboard.execute.job import Grants
from pegboard.model.calls import CallResult, Confined, Outcome

_LOOKED_AT = 8_000
"""Characters at the end of what it said."""

_MODULE = re.compile(r"No module named '([^'\n.]+)")
_KEYWORD = re.compile(r"TypeError: (\w+)\(\) (?:got an unexpected keyword|missing \d+ required)")
_VARIABLE = re.compile(r"<frozen os>.*KeyError: '([A-Za-z_]\w*)'|: (\w+): unbound variable", re.S)
_NETWORK = re.compile(
    r"name resolution|name or service not known|not resolve host|failed to resolve|bad address"
    r"|unable to resolve|network is unreachable",
    re.IGNORECASE,
)
_STARTING = 'subprocess.py"'
_NOT_FOUND = re.compile(r"FileNotFoundError: [^\n]*'([^'\n]+)'")
_NO_COMMAND = re.compile(r": ([^\s:]+): command not found")
_WHERE = r"(?:{0}: '([^'\n]+)'|['‘]([^'‘’\n]+)['’]: {0}|: ([^:'’\n]+): {0})"
_UNSEEN = re.compile(_WHERE.format("(?:No such file or directory|Permission denied)"))
_READ_ONLY = re.compile(_WHERE.format("Read-only file system"))
_ITS_OWN = ("/proc/", "/sys/", "/dev/", "/tmp/", "/run/")  # noqa: S108 - a sandbox has others


def with_hint(result: CallResult, grants: Grants) -> CallResult:
    """The same result, with a next step behind its error where one can be guessed."""
    ours = result.sandbox in (Confined.BUBBLEWRAP, Confined.NOTHING)
    if result.outcome is not Outcome.FAILED or not ours:
        return result
    said = f"{result.logs[-_LOOKED_AT:]}\n{result.error[-_LOOKED_AT:]}"
    hint = _missing(said)
    if not hint and result.sandbox is Confined.BUBBLEWRAP:
        hint = _not_granted(said, grants)
    return result._replace(error=f"{result.error}\n  {hint}") if hint else result


def _missing(said: str) -> str:
    """What it would lack anywhere."""
    if found := _MODULE.search(said):
        return (
            f"{found[1]} is neither in the standard library nor among the tool's files: "
            "name the package that has it in its dependencies"
        )
    if found := _KEYWORD.search(said):
        return f"{found[1]} gets the tool's parameters by their names: let it take just those"
    if found := _VARIABLE.search(said):
        name = found[1] or found[2]
        return (
            "it has no variables but those that it asks for: put "
            f"'read environment {name}' or 'read secret {name}' into its permissions"
        )
    return ""


def _not_granted(said: str, grants: Grants) -> str:
    """What the sandbox keeps from it."""
    if _NETWORK.search(said):
        asked = "it has no network: put 'connect network HOST' into its permissions"
        return "" if grants.network else asked
    started = said.partition(_STARTING)[2]
    if found := _NOT_FOUND.search(started) or _NO_COMMAND.search(said):
        return f"it has only the programs of the system, and {found[1]} is none of them"
    if path := _last(_READ_ONLY, said):
        return (
            f"put 'write filesystem {_folder(path, grants)}/**' into its permissions, or write "
            "into the folder that $PEGBOARD_OUTPUT names"
        )
    path = _last(_UNSEEN, said)
    if not path or _is_to_be_seen(path, grants):
        return ""
    folder = _folder(path, grants)
    writing = "" if folder == "." else f" or 'write filesystem {folder}/**'"
    return (
        "it sees no files but its own and those that it asks for: if this one is there, put "
        f"'read filesystem {_within(path, grants)}'{writing} into its permissions"
    )


def _within(path: str, grants: Grants) -> str:
    """As a permission would have it: from the project on, if it lies there."""
    if grants.project and Path(path).is_relative_to(grants.project):
        return str(Path(path).relative_to(grants.project))
    return path


def _folder(path: str, grants: Grants) -> str:
    """What has to be granted to make a file in it."""
    return str(Path(_within(path, grants)).parent)


def _last(pattern: re.Pattern[str], said: str) -> str:
    paths = [next(filter(None, found), "").strip() for found in pattern.findall(said)]
    return paths[-1] if paths else ""


def _is_to_be_seen(path: str, grants: Grants) -> bool:
    """Whether it is granted, or the sandbox has one of its own in its place."""
    project = grants.project or Path("/nowhere")
    whole = project / path
    if path.startswith(_ITS_OWN) and not whole.is_relative_to(project):
        return True
    return any(whole.is_relative_to(each) for each in (*grants.read, *grants.write))
