"""What of an MCP server's configuration may be stored, and what only pointed at.

Editors and agents write references in their own ways. Here they become the two that Pegboard
knows: `${NAME}`, with or without a default, and `${file:PATH#POINTER}`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_REFERENCE = re.compile(r"\$\{([^}]*)\}")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
_PLAIN_DOLLAR = re.compile(r"((?:Bearer )?)\$([A-Za-z_][A-Za-z0-9_]*)")
_ASKED = re.compile(r"input:([\w.-]+)")
_EDITOR_ONLY = re.compile(
    r"(workspace|file|relativeFile)[A-Za-z]*(:.*)?|(config|command|extensionInstallFolder):.*"
    r"|cwd|execPath|lineNumber|columnNumber|selectedText|defaultBuildTask"
)

_SECRET_WORD = re.compile(
    r".*(token(?!i[sz])|secret|passw|passphrase|credential|cookie|session|bearer|jwt).*"
    r"|(api|access|private|ssh|auth|account|license|service|signing)?keys?"
    r"|auth|oauth|authorization|authentication|pass|pwd|pat"
)
_SWITCH = re.compile(r"max|min|num|no|without|skip|use|enable|disable|allow")
_ABOUT = re.compile(
    r"ur[il]|endpoint|host|domain|port|path|file|dir|name|user|username|email|type|mode|method"
    r"|provider|limit|timeout|ttl|size|count|header|region|scopes?"
)
"""Last words of names that tell about a secret and do not hold it, such as TOKEN_URL."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HARMLESS = re.compile(r"|0|1|true|false|yes|no|on|off|none|null|bearer|basic|token", re.IGNORECASE)

_KNOWN_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"gh[pousr]_\w|github_pat_\w|glpat-\w|xox[a-z]-\w|xapp-\w|(?:AKIA|ASIA)[0-9A-Z]{12}"
    r"|sk-(?=[\w-]*\d)[\w-]{6}|[rs]k_(?:live|test)_\w|AIza[\w-]{20}|ya29\.\w|npm_\w{20}|hf_\w{20}"
    r"|pypi-\w{16}|dop_v1_\w|shpat_\w|SG\.[\w-]{16}|ntn_\w{8}|lin_api_\w|figd_\w|sntry[su]_\w"
    r"|eyJ[\w-]{8,}\.eyJ|-----BEGIN |(?i:bearer|basic) +[^\s$]{3})"
)
_USER_AND_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
_RANDOM_PART = re.compile(
    r"/(?:(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{24,}"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=[/?#]|$)"
)
"""Services that give everybody an address of their own put the secret into its path."""
_ASSIGNED = re.compile(
    r"(?<![\w.-])-{0,2}([a-z][\w.-]*)"
    r"(?:\s*=\s*|[\"']\s*:\s*|:\s+|(?<=authorization):|(?<=-key):|(?<=-token):)[\"']?"
    r"(?:(?:bearer|basic|token)\s+)?([^\s\"'&;,]*)",
    re.IGNORECASE,
)
_FLAG = re.compile(r"--?([A-Za-z][\w-]*)")
_NAMED = re.compile(r"(?:--?)?([A-Z][A-Z_]*_(?:TOKEN|KEY|SECRET|PASSWORD)|(?<=-)[a-z][a-z-]*)=")


class BadReference(Exception):
    """A reference that means nothing outside the program it was written for."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def normal(text: str, project: Path | None = None) -> str:
    """The text with its references as Pegboard writes them; `project` is the editor's folder."""
    return _REFERENCE.sub(lambda found: _normal(found[1], project), text)


def _normal(inside: str, project: Path | None) -> str:
    variable = inside.removeprefix("env:")
    if variable != inside and _VARIABLE.fullmatch(variable):
        return f"${{{variable}}}"
    if inside in ("/", "pathSeparator"):
        return "/"
    if inside == "userHome":
        return "${HOME}"
    if inside == "workspaceFolder" and project:
        return str(project)
    if inside.startswith("file:") and "#/" in inside:
        return f"${{{inside}}}"
    if asked := _ASKED.fullmatch(inside):
        wanted = re.sub(r"\W", "_", asked[1]).upper()
        raise BadReference(
            f"has ${{{inside}}} in it, which only the editor can ask a person for",
            f"write ${{{wanted}}} in a copy of the file and export that variable",
        )
    if _EDITOR_ONLY.fullmatch(inside):
        raise BadReference(
            f"has ${{{inside.partition(':')[0]}}} in it, which only the editor knows",
            "write the value itself, or ${NAME} of a variable that you export",
        )
    if "${" in inside or not _VARIABLE.fullmatch(inside):
        raise BadReference(
            "has a ${...} in it that is no reference",
            "write ${NAME} or ${NAME:-default}, one not inside another",
        )
    return f"${{{inside}}}"


def from_plain_dollar(text: str) -> str:
    """`$NAME` as the whole value, as Gemini CLI has it, is `${NAME}`."""
    return _PLAIN_DOLLAR.sub(r"\1${\2}", text) if _PLAIN_DOLLAR.fullmatch(text) else text


def refers(text: str) -> bool:
    return _REFERENCE.search(text) is not None


def is_secret(text: str, name: str = "") -> bool:
    """Whether a text looks like a secret, by itself or under the name it has."""
    defaults = [_default(each) for each in _REFERENCE.findall(text)]
    if names_secret(name) and not all(map(_harmless, defaults or [text])):
        return True
    plain = _REFERENCE.sub(lambda found: _default(found[1]), text)
    if _KNOWN_SHAPES.search(plain) or _USER_AND_PASSWORD.search(plain):
        return True
    if plain.startswith(("http://", "https://")) and _RANDOM_PART.search(plain):
        return True
    return any(
        names_secret(found[1]) and not _harmless(found[2]) for found in _ASSIGNED.finditer(plain)
    )


def secret_arguments(args: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Place and name of each argument that is a secret, or follows a flag for one.

    The name is for people, so it is only given where it cannot be part of the secret.
    """
    before = ""
    for place, text in enumerate(args):
        flag = None if text.startswith("-") else _FLAG.fullmatch(before)
        if is_secret(text, flag[1] if flag else ""):
            named = flag or _NAMED.match(text)
            yield place, named[1] if named else ""
        before = text


def names_secret(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or name == "PWD" or _SWITCH.fullmatch(words[0]) or _ABOUT.fullmatch(words[-1]):
        return False
    return any(_SECRET_WORD.fullmatch(word) for word in words)


def _default(inside: str) -> str:
    found = _VARIABLE.fullmatch(inside)
    return (found[2] or "") if found else ""


def _harmless(value: str) -> bool:
    return _HARMLESS.fullmatch(value.strip(" \t\"'")) is not None
