"""What an item asks to be allowed, in a form that executors can hold it to.

A scope that could be read in two ways is refused: what is written here is granted later, by
another program, to the letter. `docs/reference/directives.md` has the grammar.
"""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from pegboard.gate.refusal import Refused, did_you_mean, shown
from pegboard.model.content import Access, Permission, Resource

MOST = 100
LONGEST_SCOPE = 300

_ACCESSES = {
    **{each.value: each for each in Access},
    **dict.fromkeys(("search", "load", "fetch"), Access.READ),
}
_RESOURCES = {
    **{each.value: each for each in Resource},
    "env": Resource.ENVIRONMENT,
    "http": Resource.NETWORK,
    "kiwi-mcp": Resource.TOOL,
}
_MEANT = {
    Resource.FILESYSTEM: (Access.READ, Access.WRITE),
    Resource.NETWORK: (Access.CONNECT,),
    Resource.ENVIRONMENT: (Access.READ, Access.WRITE),
    Resource.SECRET: (Access.READ,),
    Resource.SHELL: (Access.EXECUTE,),
    Resource.TOOL: (Access.EXECUTE, Access.READ),
}
_WORD = TypeVar("_WORD", Access, Resource)

_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(
    rf"(\*|(\*\.)?{_LABEL}(\.{_LABEL})*\.?|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{{1,5}}|\*))?",
    re.IGNORECASE | re.ASCII,  # else some letters beyond ASCII count as k and s
)
_URL = re.compile(r"(https?|wss?)://([^/?#@\s]+)(/[^\s]*)?", re.IGNORECASE | re.ASCII)
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_VARIABLE = re.compile(r"\*|[A-Za-z_][A-Za-z0-9_]*\*?")
_SECRET = re.compile(r"\*|[A-Za-z0-9_][A-Za-z0-9_./-]*\*?")
_TOOL = re.compile(r"[\w*][\w.:/*-]*")
_COMMAND = re.compile(r"\*|[\w./+-][\w./+@:=,%-]*( [\w./+@:=,%*-]+)*")


def parse_permissions(found: object) -> tuple[Permission, ...]:
    if found is None:
        return ()
    if not isinstance(found, list | tuple):
        raise Refused("bad_type", f"permissions is {shown(found)}; it must be a list")
    if len(found) > MOST:
        raise Refused(
            "too_many", f"permissions has {len(found):,} entries; at most {MOST} are allowed"
        )
    parsed = [parse_permission(f"permissions[{i}]", each) for i, each in enumerate(found)]
    return tuple(dict.fromkeys(parsed))


def parse_permission(name: str, said: object) -> Permission:
    """From a mapping, a list or a text of access, resource and scope; `name` is for errors."""
    access_said, resource_said, scope = _parts(name, said)
    resource = _word(name, "resource", resource_said, _RESOURCES)
    if resource is Resource.NETWORK and access_said in ("read", "write", "network"):
        access_said = Access.CONNECT.value
    access = _word(name, "access", access_said, _ACCESSES)
    if access not in _MEANT[resource]:
        raise Refused(
            "bad_permission",
            f"{name} is {access} on {resource}; that takes {' or '.join(_MEANT[resource])}",
        )
    if resource_said == "kiwi-mcp":
        scope = f"kiwi-mcp:{scope or '*'}"
    return Permission(access, resource, _scope(name, resource, scope or "*"))


def _parts(name: str, said: object) -> tuple[str, str, str]:
    if isinstance(said, str):
        said = said.split(maxsplit=2)
    if isinstance(said, Mapping):
        known = ("access", "resource", "scope")
        if strange := next((key for key in said if key not in known), None):
            near = did_you_mean(strange, known) if isinstance(strange, str) else ""
            raise Refused(
                "bad_permission",
                f"{name} has {shown(strange)}; it takes access, resource and scope{near}",
            )
        said = [said.get("access"), said.get("resource"), said.get("scope") or ""]
    if isinstance(said, list | tuple) and 2 <= len(said) <= 3:
        texts = [each for each in said if isinstance(each, str)]
        if len(texts) == len(said):
            return texts[0], texts[1], texts[2] if len(texts) == 3 else ""
    raise Refused(
        "bad_permission",
        f"{name} says no access, resource and scope as texts, as in: read filesystem src/**",
    )


def _word(name: str, what: str, said: str, known: Mapping[str, _WORD]) -> _WORD:
    if said not in known:
        words = ", ".join(sorted(set(known.values())))
        raise Refused(
            "bad_permission",
            f"{name} has the {what} {shown(said)}; known are {words}{did_you_mean(said, known)}",
        )
    return known[said]


def _scope(name: str, resource: Resource, said: str) -> str:
    if len(said) > LONGEST_SCOPE:
        raise Refused("bad_permission", f"{name} has a scope longer than {LONGEST_SCOPE}")
    scope = _SCOPES[resource](said)
    if scope is None:
        raise Refused(
            "bad_permission",
            f"{name} has the scope {shown(said)}; for {resource} it is {_RULES[resource]}",
        )
    return scope


def _path(said: str) -> str | None:
    """Under the project unless it begins with `/` or `~/`; `*`, `**` and `?` stand for others."""
    rest = said[2:] if said.startswith("~/") else said.removeprefix("/")
    if said == "/":
        return said
    parts = rest.removesuffix("/").split("/")
    strange = re.search(r"[\\{}\[\]~$\x00-\x1f\x7f]", rest)
    vague = any(part in ("", "..") or ("**" in part and part != "**") for part in parts)
    return None if strange or vague else said


def _host(said: str) -> str | None:
    if url := _URL.fullmatch(said):
        said = url.group(2)
        if not re.search(r":[0-9*]+$", said):
            said = f"{said}:{_PORTS[url.group(1).lower()]}"
    found = _HOST.fullmatch(said)
    port = (found["port"] or "*") if found else "0"
    return said.lower() if port == "*" or 0 < int(port) < 65_536 else None


def _matching(pattern: re.Pattern[str]) -> Callable[[str], str | None]:
    return lambda said: said if pattern.fullmatch(said) else None


_SCOPES: Mapping[Resource, Callable[[str], str | None]] = {
    Resource.FILESYSTEM: _path,
    Resource.NETWORK: _host,
    Resource.ENVIRONMENT: _matching(_VARIABLE),
    Resource.SECRET: _matching(_SECRET),
    Resource.SHELL: _matching(_COMMAND),
    Resource.TOOL: _matching(_TOOL),
}
_RULES: Mapping[Resource, str] = {
    Resource.FILESYSTEM: "a path without '..' under the project, or from / or ~/, with * ** or ?",
    Resource.NETWORK: "host or host:port, as in api.example.com:443 or *.example.com",
    Resource.ENVIRONMENT: "the name of a variable, as in HOME or AWS_*",
    Resource.SECRET: "the name of a secret, as in GITHUB_TOKEN",
    Resource.SHELL: "a program and words after it, as in git push, without ; | & $ or quotes",
    Resource.TOOL: "an id or name, as in tools:ops:deploy, with * for others",
}
