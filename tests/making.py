"""Items, candidates and their parts in one line, and what hypothesis can make of them."""

import hashlib
import re
import time
from array import array
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from pegboard.model.content import Access, ItemFile, Link, Permission, Resource, Signature, Version
from pegboard.model.items import (
    Candidate,
    Filters,
    Fingerprint,
    Item,
    ItemId,
    Kind,
    LegHit,
    Task,
    ToolType,
    Vector,
    Visibility,
    WordQuery,
)
from pegboard.ports.stages import Embedder
from pegboard.ports.store import Store
from pegboard.store.postgres.database import run
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import embedded_passages

SOURCE = "tools"


def make_item(name: str = "send", **fields: Any) -> Item:
    """An item of source `tools` and category `mail`; what is given wins."""
    category = fields.setdefault("category", "mail")
    fields.setdefault("id", ItemId(f"mcptools:{category}:{name}"))
    fields.setdefault("description", f"What {name} does.")
    fields.setdefault("source", SOURCE)
    fields.setdefault("origin", f"{category}/{name}.py")
    fields.setdefault("origin_hash", f"hash of {name}")
    return Item(name=name, **fields)


def filler(count: int) -> list[Item]:
    """Items that share no word with anything a test asks for."""
    return [make_item(f"filler{n}", description="Nothing of note here.") for n in range(count)]


def word_hits(
    store: Store, terms: Sequence[str], filters: Filters | None = None, limit: int = 10
) -> list[LegHit]:
    """What the keyword leg finds for any of these terms."""
    asked = WordQuery(tuple(terms), tuple(terms))
    return list(store.index.keyword(asked, filters or Filters(), limit).hits)


def make_candidate(files: Sequence[ItemFile] = (), **fields: object) -> Candidate:
    """A candidate that the gate admits, but for the fields given. None leaves a field out."""
    said = {"id": "mcptools:mail:send", "name": "send"} | fields
    return Candidate(
        source=SOURCE,
        origin="mail/send.py",
        origin_hash="hash of send",
        fields={name: value for name, value in said.items() if value is not None},
        files=tuple(files),
    )


def make_file(path: str = "send.py", content: bytes = b"pass\n", **fields: Any) -> ItemFile:
    return ItemFile(path, content, hashlib.sha256(content).hexdigest(), **fields)


def make_vector(*values: float) -> Vector:
    return Vector(array("f", values).tobytes())


def in_memory() -> SqliteStore:
    """A board for one thread that never touches the disk: quick to make, gone when closed."""
    return SqliteStore(Path(":memory:"), create=True)


def entry_of(store: Store, item: Item):
    found = store.items.get(item.id, item.namespace)
    assert found is not None
    return found


def work(store: Store, embedder: Embedder, limit: int = 100) -> list[Task]:
    """What a worker does in one round."""
    target = embedder.fingerprint
    tasks = store.tasks.claim(target, "worker", limit, 60.0)
    parts = [(task, text) for task in tasks for text in embedded_passages(task.text)]
    vectors = embedder.embed([text for _, text in parts])
    done = [(task, vector) for (task, _), vector in zip(parts, vectors, strict=True)]
    store.tasks.finish(target, done)
    return tasks


def later() -> float:
    """A time after everything the test does."""
    return time.time() + 3600


def retire(store: Store, *seen: Item, source: str = SOURCE) -> tuple[int, int]:
    """A scan that saw only these items; nothing is removed yet."""
    return store.items.retire(source, [item.origin for item in seen], later(), 0.0)


def purge(store: Store) -> tuple[int, int]:
    """A scan that saw nothing, long after."""
    return store.items.retire(SOURCE, [], later(), later())


def hang(store: Store, embedder: Embedder, *items: Item) -> list[int]:
    """Put the items, embed them, and give their keys."""
    store.items.put(items, embedder.fingerprint)
    work(store, embedder, len(items))
    return [entry_of(store, item).key for item in items]


OTHER_MODEL = Fingerprint("test", "another", 2, 1)

# Text as the gate lets it through: no control characters, no surrogates.
clean_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
names = clean_text.filter(str.strip)
texts = st.lists(clean_text, max_size=3).map(tuple)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | clean_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(clean_text, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(clean_text, json_values, max_size=3)
schemas = json_objects | st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(
            clean_text, st.fixed_dictionaries({"description": clean_text}) | json_values, max_size=3
        ),
    }
)
files = st.lists(
    st.builds(
        make_file,
        names,
        st.binary(max_size=50),
        media_type=st.sampled_from(["text/plain", "text/x-python"]),
        executable=st.booleans(),
    ),
    max_size=3,
    unique_by=lambda file: file.path,
).map(lambda made: tuple(sorted(made, key=lambda file: file.path)))
versions = st.builds(
    Version,
    version=names,
    content_hash=names,
    manifest=json_objects,
    manifest_text=st.none() | clean_text,
    changelog=clean_text,
    files=files,
    release=clean_text,
    side_file=clean_text,
)
signatures = st.builds(Signature, names, names, names, names, clean_text, clean_text)
ranges = st.sampled_from(["", "^1.2", ">=1 <2"])
permissions = st.builds(Permission, st.sampled_from(Access), st.sampled_from(Resource), clean_text)


def items(**fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[Item]:
    """Items with every field filled at random, but for those that are fixed."""
    plain = (
        *("title", "description", "category", "subcategory", "body", "author", "origin"),
        *("origin_hash", "source_protocol", "endpoint", "routing_domain", "semantic_namespace"),
        *("sensitivity_tier", "replacement"),
    )
    lists = ("tags", "aliases", "tech_stack", "examples", "keywords", "target_personas", "skills")
    fields: dict[str, st.SearchStrategy[Any]] = {
        "id": names.map(ItemId),
        "name": names,
        "kind": st.sampled_from(Kind),
        "namespace": st.sampled_from(["public", "team", "user/project"]),
        "tool_type": st.none() | st.sampled_from(ToolType),
        "visibility": st.sampled_from(Visibility),
        "input_schema": schemas,
        "output_schema": json_objects,
        "executor": json_objects,
        "official": st.booleans(),
        "deprecated": st.booleans(),
        "links": st.lists(st.builds(Link, clean_text, clean_text, ranges), max_size=3).map(tuple),
        "permissions": st.lists(permissions, max_size=3).map(tuple),
        "source": st.just(SOURCE),
        "semantic_weight": st.floats(0, 10),
        "version": st.none() | versions,
        "signature": st.none() | signatures,
    }
    fields |= dict.fromkeys(plain, clean_text) | dict.fromkeys(lists, texts)
    return st.builds(Item, **(fields | fixed))


def by_hand(store, sql, **params):
    """A statement that no use case makes, on whichever database the board has; its rows."""
    if isinstance(store, SqliteStore):
        return store.database.rows(sql, params)
    named = re.sub(r":(\w+)", r"%(\1)s", sql)
    return store.database.write(lambda tx: run(tx, named, params))


def seen_below(folder: Path | str, pattern: str) -> list[Path]:
    """What fits, while any of it may vanish, which `Path.glob` fails at."""
    names = glob(pattern, root_dir=folder, recursive=True, include_hidden=True)  # noqa: PTH207
    return [Path(folder, name) for name in names]
