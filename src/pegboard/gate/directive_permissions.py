"""The permissions of a directive, in the shapes in which directives write them."""

from collections.abc import Iterator

from pegboard.gate.directive_xml import Element, prose
from pegboard.gate.permissions import MOST, parse_permission
from pegboard.gate.refusal import Refused, did_you_mean, shown
from pegboard.model.content import Permission

_SCOPES = (
    *("scope", "path", "host", "endpoint", "url", "var", "name", "command", "action"),
    *("id", "tool_id", "tool"),
)
"""Attributes that say how far a permission goes."""
_ITEMS = {"tool": "", "directive": "directives:", "knowledge": "knowledge:", "skill": "skills:"}
"""Elements that name items, and how the ids of such items begin."""


def read_permissions(root: Element) -> tuple[Permission, ...]:
    """Of `<permissions>`, in the metadata or directly in the directive."""
    homes = [each for each in (root.first("metadata"), root) if each is not None]
    found: dict[Permission, None] = {}
    for home in homes:
        element = home.first("permissions")
        for permission in _all(element) if element else ():
            found[permission] = None
            if len(found) > MOST:
                raise Refused("too_many", f"it has more than {MOST} permissions")
    return tuple(found)


def _all(permissions: Element) -> Iterator[Permission]:
    loose = "".join(each for each in permissions.content if isinstance(each, str)).strip()
    if loose:
        raise Refused(
            "bad_permission",
            f"line {permissions.line}: permissions has the text {shown(loose)}; write each as"
            ' <read resource="filesystem" path="src/**"/>',
        )
    for each in permissions.elements:
        if "resource" in each.attributes or not each.elements:
            yield _by_attributes(each)
        else:
            yield from _by_items(each)


def _by_attributes(element: Element) -> Permission:
    where = f"line {element.line}: <{element.tag}>"
    said = dict(element.attributes)
    access = said.pop("access", "") or element.tag
    resource = said.pop("resource", "")
    scopes = [said[name] for name in _SCOPES if name in said]
    if strange := next((name for name in said if name not in _SCOPES), None):
        near = did_you_mean(strange, _SCOPES)
        raise Refused("bad_permission", f"{where} has {shown(strange)}, which is not known{near}")
    if len(scopes) > 1:
        raise Refused("bad_permission", f"{where} says twice how far it goes; write one of them")
    return parse_permission(where, [access, resource, *scopes])


def _by_items(element: Element) -> Iterator[Permission]:
    """`<execute><tool>deploy</tool></execute>`: access by the element, items by those in it."""
    for each in element.elements:
        where = f"line {each.line}: <{element.tag}>"
        if each.tag not in _ITEMS:
            near = did_you_mean(each.tag, _ITEMS)
            told = f"{where} has <{each.tag}>; it takes {', '.join(_ITEMS)}{near}"
            raise Refused("bad_permission", told)
        scope = prose(each) or "*"
        prefix = "" if ":" in scope else _ITEMS[each.tag]
        yield parse_permission(where, [element.tag, "tool", f"{prefix}{scope}"])
