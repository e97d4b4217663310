"""Whom a directive names: the tools it uses, and how it stands to other directives."""

import re
from collections.abc import Iterable, Iterator

from pegboard.formats.semver import split
from pegboard.gate.directive_xml import Element, prose
from pegboard.model.content import Access, Permission, Resource

USES = "uses"
LONGEST = 300
_TARGET = re.compile(rf"[\w][\w.:/@-]{{0,{LONGEST - 1}}}")
"""One item. What has a wildcard or a placeholder in it names none."""
_NAMES = ("directive", "tool", "knowledge", "skill", "ref", "id", "name")


def links_of(root: Element, permissions: Iterable[Permission]) -> list[tuple[str, str]]:
    found = [*_in_elements(root), *_in_permissions(permissions)]
    return list(dict.fromkeys(link for link in found if _TARGET.fullmatch(split(link[1])[0])))


def _in_permissions(permissions: Iterable[Permission]) -> Iterator[tuple[str, str]]:
    for each in permissions:
        if each.resource is Resource.TOOL and each.access is Access.EXECUTE:
            yield USES, each.scope


def _in_elements(root: Element) -> Iterator[tuple[str, str]]:
    ahead = [root]
    while ahead:
        element = ahead.pop()
        if element.tag == "permissions":
            continue
        if element.tag == "relationships":
            yield from _relations(element)
            continue
        yield from _used(element)
        ahead += reversed(element.elements)


def _used(element: Element) -> Iterator[tuple[str, str]]:
    if "tool" in element.attributes:
        yield USES, element.attributes["tool"].strip()
    if "item_id" in element.attributes:
        yield USES, element.attributes["item_id"].strip()
    server = element.first("mcp")
    prefix = f"mcp:{prose(server)}:" if server else ""
    if len(prefix) > LONGEST:
        return
    for each in element.elements:
        if each.tag == "tool":
            name = next((each.attributes[n] for n in _NAMES if n in each.attributes), prose(each))
            yield USES, f"{prefix}{name.strip()}"


def _relations(element: Element) -> Iterator[tuple[str, str]]:
    """`<requires>build</requires>` or `<requires directive="build"/>`: the tag is the relation."""
    for each in element.elements:
        said = (each.attributes[name] for name in _NAMES if name in each.attributes)
        yield each.tag, next(said, prose(each)).strip()
