"""Boards made at random: nothing that a caller is told depends on what he may not see."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from seen_parts import SETTINGS, asked

from making import make_item, work
from pegboard.app.pegboard import Pegboard
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.calls import Caller
from pegboard.model.items import Filters, ItemId, Mode, Visibility
from pegboard.store.sqlite.index import SqliteIndex
from pegboard.store.sqlite.nearest import Reach
from pegboard.store.sqlite.store import SqliteStore

WORDS = (
    "send",
    "sender",
    "letter",
    "letters",
    "latter",
    "getLetter",
    "naïve",
    "писать",
    "手紙",
    "ab׀cd",
)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
people = st.sampled_from(["", "alice", "bob"])
spaces = st.sampled_from(["public", "a", "b"])


@st.composite
def boards(draw):
    """Items in the order in which they are hung, some of them changed, switched off or gone."""
    found = []
    for number in range(draw(st.integers(1, 7))):
        item = make_item(
            draw(texts).replace(" ", "_"),
            id=ItemId(f"x:y:{number}"),
            description=draw(texts),
            tags=tuple(draw(texts).split()),
            namespace=draw(spaces),
            author=draw(people),
            visibility=Visibility(draw(st.sampled_from(list(Visibility)))),
        )
        found.append((item, draw(st.sampled_from(["", "", "changed", "off", "gone"]))))
    return found


def visible(caller, item):
    member = item.namespace in caller.namespaces
    mine = item.author == caller.subject
    if not member and item.namespace != "public":
        return False
    if item.visibility is Visibility.PUBLIC or mine:
        return True
    # Unlisted in `public`, it is had by whoever knows its id.
    return item.visibility is Visibility.UNLISTED


def filled(folder, items):
    """Codes of vectors are used however few there are."""
    store = SqliteStore(folder / "board.db", create=True)
    store.index = SqliteIndex(store.database, Reach(few=2, least=3))
    embedder = HashedEmbedder()
    for item, fate in items:
        store.items.put([item], embedder.fingerprint)
        work(store, embedder)
        if fate == "changed":
            store.items.put([item._replace(description="other")], embedder.fingerprint)
        entry = store.items.get(item.id, item.namespace)
        if fate == "off":
            store.curation.deactivate(entry, "", "")
    for item, fate in items:
        if fate == "gone":
            seen = [other.id for other, _ in items if other is not item]
            store.items.retire(item.source, seen, store.now() + 9, store.now() + 99)
    work(store, embedder)
    store.items.take_census()
    return store


def told(store, caller, query):
    with Pegboard(store, SETTINGS) as whole:
        board = whole.seen_by(caller)
        every = {"limit": 20, "threshold": 0.0, "explain": True}
        found = {mode.value: asked(board.search, query, mode=mode, **every) for mode in Mode}
        found |= {
            "all": asked(board.search, query, filters=Filters(active=None), limit=2),
            "items": asked(board.store.items.page, 0, 99),
            "counts": asked(board.store.tasks.counts, HashedEmbedder().fingerprint),
            "census": asked(board.census),
        }
        return found | {str(n): asked(board.show, f"x:y:{n}") for n in range(7)}


@settings(max_examples=30)
@given(boards(), people.filter(bool), st.lists(spaces, unique=True, max_size=2), texts)
def test_no_board_tells_of_what_is_not_for_the_caller(items, subject, namespaces, query):
    caller = Caller(subject, tuple(namespaces))
    folders = [Path(tempfile.mkdtemp()) for _ in range(2)]
    try:
        seen = [(item, fate) for item, fate in items if visible(caller, item)]
        full, small = filled(folders[0], items), filled(folders[1], seen)
        assert told(full, caller, query) == told(small, caller, query)
    finally:
        for folder in folders:
            shutil.rmtree(folder)
