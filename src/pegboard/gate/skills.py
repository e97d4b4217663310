"""A skill, SKILL.md in the public Agent Skills format, into fields."""

import re
from collections.abc import Iterator, Mapping

from pegboard.gate.documents import (
    Page,
    document_title,
    read_page,
    semantic,
    settle_category,
    words,
)
from pegboard.gate.excerpts import ids_in_code
from pegboard.gate.limits import Limits
from pegboard.gate.refusal import Refused, did_you_mean, shown
from pegboard.model.items import Candidate, Kind

DOCUMENT = "SKILL.md"
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
USES = "uses"

_NAME = re.compile(r"[^\W_A-Z]+(-[^\W_A-Z]+)*")
_ALLOWED = re.compile(r"[^\s(,]+(?:\([^()]{0,500}\))?")
_STANDARD = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_TEXTS = ("license", "compatibility", "author")


def read_skill(candidate: Candidate, limits: Limits) -> dict[str, object]:
    page = read_page(candidate, limits)
    front = page.front
    name = _name(front, candidate)
    metadata = _metadata(front)
    for key in _TEXTS:
        _check_text(front, key)
    files = [file.path for file in candidate.files if file.path != DOCUMENT]
    return dict(candidate.fields) | {
        "kind": Kind.SKILL.value,
        "name": name,
        "title": document_title(front, page.body, name, limits),
        "description": _description(front),
        **settle_category(candidate.fields, front.get("category")),
        "tags": words("tags", front.get("tags", metadata.get("tags"))),
        "author": front.get("author") or metadata.get("author"),
        "version": _version(front, metadata),
        "body": page.body,
        "links": [(USES, each) for each in _tools(front, page)],
        "manifest": {**front, "files": files},
        "manifest_text": page.text,
    }


def _name(front: Mapping[str, object], candidate: Candidate) -> str:
    name, folder = front.get("name"), candidate.fields.get("name")
    if name is None:
        near = next((did_you_mean(key, _STANDARD) for key in front if key not in _STANDARD), "")
        reason = f"{DOCUMENT} has no name; begin it with --- and name: {folder}{near}"
        raise Refused("no_name", reason)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.lower():
        raise Refused(
            "bad_name",
            f"name is {shown(name)}; it takes lower-case letters, digits and single hyphens",
        )
    if len(name) > LONGEST_NAME:
        reason = f"name has {len(name)} characters; at most {LONGEST_NAME} are allowed"
        raise Refused("too_long", reason)
    if name != folder:
        raise Refused(
            "wrong_name",
            f"name is {shown(name)}, and the skill's folder is called {shown(folder)};"
            " rename one of them",
        )
    return name


def _description(front: Mapping[str, object]) -> str:
    found = front.get("description")
    if found is None or found == "":
        reason = f"{DOCUMENT} has no description; say what the skill does and when to use it"
        raise Refused("no_description", reason)
    if not isinstance(found, str) or not found.strip():
        raise Refused("bad_type", f"description is {shown(found)}; it must be text")
    if len(found) > LONGEST_DESCRIPTION:
        raise Refused(
            "too_long",
            f"description has {len(found):,} characters;"
            f" at most {LONGEST_DESCRIPTION:,} are allowed in a skill",
        )
    return found


def _check_text(front: Mapping[str, object], key: str) -> None:
    found = front.get(key)
    if found is None:
        return
    if not isinstance(found, str):
        raise Refused("bad_type", f"{key} is {shown(found)}; it must be text")
    if key == "compatibility" and len(found) > LONGEST_COMPATIBILITY:
        raise Refused(
            "too_long",
            f"{key} has {len(found):,} characters; at most {LONGEST_COMPATIBILITY} are allowed",
        )


def _metadata(front: Mapping[str, object]) -> Mapping[str, object]:
    found = front.get("metadata")
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise Refused("bad_type", f"metadata is {shown(found)}; it must be a mapping")
    return found


def _version(front: Mapping[str, object], metadata: Mapping[str, object]) -> str | None:
    """Of the front matter; in the metadata, which is free, only if it is one."""
    if front.get("version") is not None:
        return semantic(front["version"])
    try:
        return semantic(metadata.get("version"))
    except Refused:
        return None


def _tools(front: Mapping[str, object], page: Page) -> Iterator[str]:
    """Those it names, however it does: `Bash(git:*)` allows some calls of the tool `Bash`."""
    found = [*_listed(front, "allowed-tools"), *_listed(front, "tools"), *ids_in_code(page.body)]
    yield from dict.fromkeys(each.partition("(")[0].strip() for each in found)


def _listed(front: Mapping[str, object], key: str) -> list[str]:
    found = front.get(key)
    if isinstance(found, str):
        return _ALLOWED.findall(found)
    tools = words(key, found)
    for each in tools:
        if not isinstance(each, str) or not each.strip() or each.startswith("("):
            raise Refused("bad_type", f"{key} has {shown(each)}; it must be a list of names")
    return [str(each) for each in tools]
