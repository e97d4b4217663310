"""An entry of knowledge, Markdown with or without front matter, into fields."""

from collections.abc import Iterator, Mapping

from pegboard.gate.documents import read_page, semantic, settle_category, words
from pegboard.gate.excerpts import first_paragraph, title_of, wiki_links
from pegboard.gate.limits import Limits
from pegboard.gate.refusal import Refused, shown
from pegboard.model.content import Json
from pegboard.model.items import Candidate, Kind

RELATED = "related"
_OWN_WORDS = ("references", "extends", "requires", "supports", "contradicts", "supersedes")
_LISTS = {
    **dict.fromkeys(("links", "related", "relationships"), RELATED),
    **{word: word for word in _OWN_WORDS},
}
"""Keys that list targets, and the relation that is meant."""


def read_knowledge(candidate: Candidate, limits: Limits) -> dict[str, object]:
    page = read_page(candidate, limits)
    front, stem = page.front, candidate.fields.get("name")
    description = _text(front, "description", "summary") or first_paragraph(page.body)
    if not description and not page.body.strip():
        raise Refused("no_body", "the file says nothing; write something, or remove it")
    own_id = _own_id(front, stem)
    title = _text(front, "title") or title_of(page.body) or stem
    kind = _text(front, "type", "entry_type")
    aliases = words("aliases", front.get("aliases"))
    fields = dict(candidate.fields) | {
        "kind": Kind.KNOWLEDGE.value,
        "id": _id(candidate.fields, own_id),
        "name": title,
        "aliases": [each for each in dict.fromkeys((own_id, *_hashable(aliases))) if each != title],
        "description": description,
        **settle_category(candidate.fields, front.get("category")),
        "tags": _tags(front, kind),
        "author": _text(front, "author"),
        "version": semantic(front.get("version")),
        "body": page.body,
        "links": _links(front, page.body),
        "manifest": front,
        "manifest_text": page.text,
    }
    return fields | {"subcategory": kind} if kind else fields


def _text(front: Mapping[str, object], *names: str) -> str:
    """The first that is there; a number is taken as it is shown."""
    for name in names:
        found = front.get(name)
        if isinstance(found, bool | list | dict):
            raise Refused("bad_type", f"{name} is {shown(found)}; it must be text")
        if found is not None and found != "":
            return str(found)
    return ""


def _own_id(front: Mapping[str, object], stem: object) -> str:
    said = front.get("id") or front.get("zettel_id")
    found = _text(front, "id", "zettel_id") or str(stem)
    if isinstance(said, float) or set(found) & set(":/") or found != found.strip():
        reason = f"id is {shown(said)}; it must be text without ':', '/' or spaces around it"
        raise Refused("bad_id", reason)
    return found


def _id(fields: Json, own_id: str) -> str:
    """That of the file, with the entry's own name for its last part."""
    return f"{str(fields.get('id', '')).rpartition(':')[0]}:{own_id}"


def _hashable(found: list[object]) -> Iterator[object]:
    for each in found:
        if isinstance(each, list | dict):
            raise Refused("bad_type", f"aliases has {shown(each)}; it must be a list of texts")
        yield each


def _tags(front: Mapping[str, object], kind: str) -> list[object]:
    """The type is a tag too, so that it can be filtered by."""
    tags = words("tags", front.get("tags"))
    return [*tags, kind] if kind and kind not in tags else tags


def _links(front: Mapping[str, object], body: str) -> list[tuple[str, str]]:
    """Those of the front matter, and those in the text that are not among them."""
    found = [
        _link(f"{key}[{i}]", relation, each)
        for key, relation in _LISTS.items()
        for i, each in enumerate(words(key, front.get(key)))
    ]
    named = {target for _, target in found}
    return found + [(RELATED, target) for target in wiki_links(body) if target not in named]


def _link(name: str, relation: str, said: object) -> tuple[str, str]:
    """A target, or one with a relation: `{to: retries, type: extends}`."""
    parts = said if isinstance(said, Mapping) else {"to": said, "type": relation}
    if strange := next((key for key in parts if key not in _KEYS), None):
        raise Refused("bad_link", f"{name} has {shown(strange)}; it takes {', '.join(_KEYS)}")
    target = next((parts[key] for key in _TARGETS if key in parts), None)
    word = next((parts[key] for key in _WORDS if key in parts), relation)
    if isinstance(target, int) and not isinstance(target, bool):
        target = str(target)
    if not isinstance(target, str) or not isinstance(word, str):
        raise Refused("bad_link", f"{name} is {shown(said)}; write the id that it leads to")
    return word, target.strip().removeprefix("[[").removesuffix("]]").partition("|")[0]


_TARGETS = ("to", "id", "target", "zettel_id")
_WORDS = ("type", "relation", "relationship")
_KEYS = (*_TARGETS, *_WORDS, "note", "description")
