"""What of an MCP server's configuration may be stored, and what only pointed at.

Editors and agents write references in their own ways. Here they become the two that Pegboard
knows: `${NAME}`, with or without a default, and `${file:PATH#POINTER}`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

# Patterns are texts that `re` compiles when they are first used: every start of the program loads
# this file, and few read a configuration.
_REFERENCE = r"\$\{([^}]*)\}"
_VARIABLE = r"(?s)([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?"
_PLAIN_DOLLAR = r"((?:Bearer )?)\$([A-Za-z_][A-Za-z0-9_]*)"
_ASKED = r"input:([\w.-]+)"
_EDITOR_ONLY = (
    r"(workspace|file|relativeFile)[A-Za-z]*(:.*)?|(config|command|extensionInstallFolder):.*"
    r"|cwd|execPath|lineNumber|columnNumber|selectedText|defaultBuildTask"
)

_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_TELLING_WORD = (
    r".*(token(?!i[sz])|secret|passw|passphrase|credential|cookie|session|bearer|jwt).*"
    r"|(api|access|private|ssh|auth|account|license|service|signing)?keys?"
    r"|auth|oauth|authorization|authentication|pass|pwd|pat"
)
_SWITCH = r"max|min|num|no|without|skip|use|enable|disable|allow"
_ABOUT = (
    r"ur[il]|endpoint|host|domain|port|path|file|dir|name|user|username|email|type|mode|method"
    r"|provider|limit|timeout|ttl|size|count|header|region|scopes?"
)
"""Last words of names that tell about a secret and do not hold it, such as TOKEN_URL."""
_HARMLESS = r"(?i)[\s\"']*(\d{1,6}|true|false|yes|no|on|off|none|null|bearer|basic|token)?[\s\"']*"

_KNOWN_SHAPES = (
    r"(?<![A-Za-z0-9])(?:"
    r"gh[pousr]_\w|github_pat_\w|glpat-\w|xox[a-z]-\w|xapp-\w|(?:AKIA|ASIA)[0-9A-Z]{12}"
    r"|sk-(?=[\w-]{0,40}\d)[\w-]{6}|[rs]k_(?:live|test)_\w|AIza[\w-]{20}|ya29\.\w|npm_\w{20}"
    r"|hf_\w{20}|pypi-\w{16}|dop_v1_\w|shpat_\w|SG\.[\w-]{16}|ntn_\w{8}|lin_api_\w|figd_\w"
    r"|sntry[su]_\w|eyJ[\w-]{8,4000}\.eyJ|-----BEGIN |(?i:bearer|basic) +[^\s$]{3})"
)
_LOGIN_IN_ADDRESS = r"://[^/\s:@]*:[^/\s@]+@"
_RANDOM_PART = (
    r"/(?:(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{24,}"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=[/?#]|$)"
)
"""Services that give everybody an address of their own put the secret into its path."""
_ASSIGNED = (
    r"(?i)(?<![\w.-])-{0,2}([a-z][\w.-]*)"
    r"(?:\s*=\s*|[\"']\s*:\s*|:\s+|(?<=authorization):|(?<=-key):|(?<=-token):)[\"']?"
    r"(?:(?:bearer|basic|token)\s+)?([^\s\"'&;,]*)"
)
_FLAG = r"--?([A-Za-z][\w-]*)"
_NAMED = r"(?:--?)?([A-Z][A-Z_]*_(?:TOKEN|KEY|SECRET|PASSWORD)|(?<=-)[a-z][a-z-]*)="


class BadReference(Exception):
    """A reference that means nothing outside the program it was written for."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def normal(text: str, project: Path | None = None) -> str:
    """The text with its references as Pegboard writes them; `project` is the editor's folder."""
    return re.sub(_REFERENCE, lambda found: _normal(found[1], project), text)


def _normal(inside: str, project: Path | None) -> str:
    variable = inside.removeprefix("env:")
    if variable != inside and re.fullmatch(_VARIABLE, variable):
        return f"${{{variable}}}"
    if inside in ("/", "pathSeparator"):
        return "/"
    if inside == "userHome":
        return "${HOME}"
    if inside == "workspaceFolder" and project:
        return str(project)
    if inside.startswith("file:") and "#/" in inside:
        return f"${{{inside}}}"
    if asked := re.fullmatch(_ASKED, inside):
        wanted = re.sub(r"\W", "_", asked[1]).upper()
        raise BadReference(
            f"has ${{{inside}}} in it, which only the editor can ask a person for",
            f"write ${{{wanted}}} in a copy of the file and export that variable",
        )
    if re.fullmatch(_EDITOR_ONLY, inside):
        raise BadReference(
            f"has ${{{inside.partition(':')[0]}}} in it, which only the editor knows",
            "write the value itself, or ${NAME} of a variable that you export",
        )
    if "${" in inside or not re.fullmatch(_VARIABLE, inside):
        raise BadReference(
            "has a ${...} in it that is no reference",
            "write ${NAME} or ${NAME:-default}, one not inside another",
        )
    return f"${{{inside}}}"


def from_plain_dollar(text: str) -> str:
    """`$NAME` as the whole value, as Gemini CLI has it, is `${NAME}`."""
    found = re.fullmatch(_PLAIN_DOLLAR, text)
    return f"{found[1]}${{{found[2]}}}" if found else text


def refers(text: str) -> bool:
    return re.search(_REFERENCE, text) is not None


def is_secret(text: str, name: str = "") -> bool:
    """Whether a text looks like a secret, by itself or under the name it has."""
    defaults = [_default(each) for each in re.findall(_REFERENCE, text)]
    if names_secret(name) and not all(map(_harmless, defaults or [text])):
        return True
    plain = re.sub(_REFERENCE, lambda found: _default(found[1]), text)
    if re.search(_KNOWN_SHAPES, plain) or re.search(_LOGIN_IN_ADDRESS, plain):
        return True
    if plain.startswith(("http://", "https://")) and re.search(_RANDOM_PART, plain):
        return True
    assigned = re.finditer(_ASSIGNED, plain)
    return any(names_secret(found[1]) and not _harmless(found[2]) for found in assigned)


def secret_arguments(args: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Place and name of each argument that is a secret, or follows a flag for one.

    The name is for people, so it is only given where it cannot be part of the secret.
    """
    before = ""
    for place, text in enumerate(args):
        flag = None if text.startswith("-") else re.fullmatch(_FLAG, before)
        name = flag[1] if flag and names_secret(flag[1]) else ""
        if is_secret(text, name):
            named = re.match(_NAMED, text)
            yield place, name or (named[1] if named else "")
        before = text


def names_secret(name: str) -> bool:
    words = [word.lower() for word in re.findall(_WORDS, name)]
    if not words or name == "PWD":
        return False
    if re.fullmatch(_SWITCH, words[0]) or re.fullmatch(_ABOUT, words[-1]):
        return False
    return any(re.fullmatch(_TELLING_WORD, word) for word in words)


def _default(inside: str) -> str:
    found = re.fullmatch(_VARIABLE, inside)
    return (found[2] or "") if found else ""


def _harmless(value: str) -> bool:
    return re.fullmatch(_HARMLESS, value) is not None
