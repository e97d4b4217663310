"""A directive, XML in Markdown, into fields: what it asks for, what it does, what it gives."""

from collections.abc import Iterator

from pegboard.formats import semver
from pegboard.gate.directive_inputs import input_schema, read_inputs
from pegboard.gate.directive_links import links_of
from pegboard.gate.directive_permissions import read_permissions
from pegboard.gate.directive_xml import Element, Found, labelled, prose, read_element, structure
from pegboard.gate.documents import document_title, read_text, settle_category, words
from pegboard.gate.excerpts import first_paragraph, without_comments
from pegboard.gate.limits import Limits
from pegboard.gate.refusal import Refused, shown
from pegboard.model.items import Candidate, Kind

_PLAIN = ("description", "category", "author")
_READ = ("metadata", "permissions", "inputs", "process", "steps", "outputs")
_ONCE = ("metadata", "permissions", "inputs", "outputs")


def read_directive(candidate: Candidate, limits: Limits) -> dict[str, object]:
    text = read_text(candidate, limits)
    found = read_element(text, limits)
    root = found.root
    _refuse_second(root)
    name, version = _name(root, candidate), _version(root)
    metadata = _metadata(root)
    permissions = read_permissions(root)
    inputs = read_inputs(root)
    steps = [_step(number, each) for number, each in enumerate(_steps(root), 1)]
    outputs = _outputs(root)
    tags = words("tags", metadata.get("tags"))
    return dict(candidate.fields) | {
        "kind": Kind.DIRECTIVE.value,
        "name": name,
        "title": document_title(metadata, found.around, name, limits),
        "version": version,
        "description": _description(root, metadata, found),
        **settle_category(candidate.fields, metadata.get("category")),
        "tags": tags,
        "author": metadata.get("author"),
        "input_schema": input_schema(inputs),
        "permissions": permissions,
        "links": links_of(root, permissions),
        "body": _body(root, steps, outputs, found),
        "manifest": {
            "name": name,
            "version": version,
            "metadata": metadata,
            "permissions": [dict(each._asdict()) for each in permissions],
            "inputs": inputs,
            "steps": steps,
            "outputs": outputs,
            **_others(root),
        },
        "manifest_text": text,
    }


def _refuse_second(root: Element) -> None:
    """What comes once is read once: nothing of a second one may be lost unseen."""
    for home in (root, root.first("metadata")):
        found: set[str] = set()
        for each in home.elements if home else []:
            if each.tag in found:
                told = f"line {each.line}: a second <{each.tag}> begins here; put all into one"
                raise Refused("bad_xml", told)
            found |= {each.tag} & set(_ONCE)


def _name(root: Element, candidate: Candidate) -> str:
    name, stem = root.attributes.get("name", ""), candidate.fields.get("name")
    if name != stem:
        raise Refused(
            "wrong_name",
            f"line {root.line}: the directive is called {shown(name)}, and its file {shown(stem)};"
            " rename one of them",
        )
    return name


def _version(root: Element) -> str:
    version = root.attributes.get("version", "")
    if semver.parse(version) is None:
        told = f"has the version {shown(version)}" if version else "has no version"
        raise Refused("bad_version", f'line {root.line}: it {told}; write version="1.0.0"')
    return version


def _metadata(root: Element) -> dict[str, object]:
    """By the names of its elements; those that come more than once as lists."""
    found: dict[str, object] = {}
    element = root.first("metadata")
    for each in element.elements if element else []:
        if each.tag == "permissions":
            continue
        value: object = prose(each) if each.tag in _PLAIN else structure(each)
        if each.tag == "tags" and each.elements:
            value = [prose(tag) for tag in each.elements]
        before = found.get(each.tag)
        if before is None:
            found[each.tag] = value
        elif isinstance(before, list):
            before.append(value)
        else:
            found[each.tag] = [before, value]
    return found


def _description(root: Element, metadata: dict[str, object], found: Found) -> object:
    element = root.first("description")
    said = metadata.get("description") or (prose(element) if element else "")
    said = said or first_paragraph(found.around)
    if not said:
        raise Refused(
            "no_description",
            f"line {root.line}: the directive says nowhere what it does;"
            " write <metadata><description>...</description></metadata>",
        )
    return said


def _steps(root: Element) -> Iterator[Element]:
    """In order, also those that stand in groups."""
    ahead = [each for each in reversed(root.elements) if each.tag in ("process", "steps")]
    while ahead:
        element = ahead.pop()
        if element.tag == "step":
            yield element
        else:
            ahead += reversed(element.elements)


def _step(number: int, element: Element) -> dict[str, str]:
    name = element.attributes.get("name") or element.attributes.get("id") or str(number)
    told = element.first("description")
    actions = [each for each in element.elements if each.tag == "action"]
    rest = Element("", {}, element.line, [e for e in element.content if not _is_told(e)])
    parts = [element.attributes.get("action", ""), *map(prose, actions), prose(rest)]
    return {
        "name": name,
        "description": prose(told) if told else element.attributes.get("description", ""),
        "action": "\n".join(part for part in parts if part),
    }


def _is_told(part: Element | str) -> bool:
    return isinstance(part, Element) and part.tag in ("description", "action")


def _outputs(root: Element) -> list[dict[str, str]]:
    element = root.first("outputs")
    if element is None:
        return []
    named = [
        {"name": each.attributes.get("name") or each.tag, "description": prose(each)}
        for each in element.elements
    ]
    return named or [{"name": "output", "description": prose(element)}]


def _others(root: Element) -> dict[str, object]:
    kept = [structure(each, named=True) for each in root.elements if each.tag not in _READ]
    return {"elements": kept} if kept else {}


def _body(
    root: Element, steps: list[dict[str, str]], outputs: list[dict[str, str]], found: Found
) -> str:
    """For readers and for search: steps, then outputs, then everything else."""
    parts = []
    for number, step in enumerate(steps, 1):
        head = labelled(f"{number}. {step['name']}", step["description"])
        parts.append(f"{head}\n{step['action']}".strip())
    if not steps:
        parts += [prose(each) for each in root.elements if each.tag in ("process", "steps")]
    parts += [labelled(each["name"], each["description"]) for each in outputs]
    parts += [labelled(each.tag, prose(each)) for each in root.elements if each.tag not in _READ]
    parts.append(without_comments(found.around).strip())
    return "\n\n".join(part for part in parts if part)
