"""Candidates with documents, as a folder source makes them, and verdicts on them."""

import hashlib
import re
from pathlib import Path

from pegboard.gate.admission import admit
from pegboard.model.content import ItemFile
from pegboard.model.items import Candidate, Form, Item, Rejection

DOCS = Path(__file__).parents[2] / "docs"
LAYOUTS = {
    Form.MANIFEST: ("tools", "tool.yaml", "tool"),
    Form.DIRECTIVE: ("directives", "{name}.md", "directive"),
    Form.KNOWLEDGE: ("knowledge", "{name}.md", "knowledge"),
    Form.SKILL: ("skills", "SKILL.md", "skill"),
}


def make_document(form, text, name="release", *, category="ops", subcategory="", files=()):
    """`text` as it is written, or as bytes; `files` beside it by path."""
    layout, document, kind = LAYOUTS[form]
    content = text if isinstance(text, bytes) else text.encode()
    place = "/".join(filter(None, (category, subcategory)))
    return Candidate(
        source="tools",
        origin=f"{layout}/{place}/{name}",
        origin_hash="hash",
        fields={
            "id": f"{layout}:{place}:{name}",
            "name": name,
            "category": category,
            "subcategory": subcategory,
            "namespace": "public",
            "kind": kind,
        },
        files=(_file(document.format(name=name), content), *(_file(path) for path in files)),
        form=form,
        document=content,
    )


def _file(path, content=b"pass\n"):
    return ItemFile(path, content, hashlib.sha256(content).hexdigest())


def admitted(form, text, name="release", **fields):
    verdict = admit(make_document(form, text, name, **fields))
    assert isinstance(verdict, Item), f"{verdict.code}: {verdict.reason}"
    return verdict


def refused(form, text, name="release", **fields):
    verdict = admit(make_document(form, text, name, **fields))
    assert isinstance(verdict, Rejection), verdict.id
    assert verdict.code.isidentifier()
    return verdict


def example_in(page, language):
    """The first fenced block of this language in a page of the documentation."""
    text = (DOCS / "reference" / page).read_text("utf-8")
    found = re.search(rf"^(`{{3,}}){language}\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no block of {language}"
    return found.group(2)
