"""Headers of requests: what may be in them, and which are not for a tool to set."""

import re

from pegboard.execute.api.faults import invalid

Headers = tuple[tuple[str, str], ...]

OURS = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade"),
        *("te", "trailer", "expect", "proxy-authorization", "proxy-connection", "accept-encoding"),
    }
)
"""Those that decide where a request ends or goes, and how the answer comes."""
ANYWHERE = frozenset({"accept", "accept-language", "user-agent"})
"""Those that a redirect may take to another origin: none of them can be a secret."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BAD = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]|^[ \t]|[ \t]\Z")


def checked(name: str, value: str) -> tuple[str, str]:
    """Raises `Refused` if it would be more than a header, or is not for a tool to set."""
    if not _NAME.fullmatch(name):
        raise invalid(f"{name[:80]!a} cannot be the name of a header")
    if name.lower() in OURS:
        raise invalid(f"the header {name} is set by Pegboard and by nobody else; leave it out")
    if _BAD.search(value):
        raise invalid(
            f"the header {name} cannot have line breaks or control characters in it,"
            " or spaces around it"
        )
    return name, value


def has(headers: Headers, wanted: str) -> bool:
    return any(name.lower() == wanted for name, _ in headers)


def value_of(headers: Headers, wanted: str) -> str:
    return next((value for name, value in headers if name.lower() == wanted), "")


def with_cookies(headers: Headers, cookies: list[tuple[str, str]]) -> Headers:
    """All cookies of a request are one header."""
    if not cookies:
        return headers
    said = [value for name, value in headers if name.lower() == "cookie"]
    rest = tuple(each for each in headers if each[0].lower() != "cookie")
    written = [f"{name}={value}" for name, value in cookies]
    return (*rest, ("Cookie", "; ".join([*said, *written])))
