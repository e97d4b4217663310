"""The derived texts of items in PostgreSQL: index terms, text for SQL clients, and spelling."""

from collections.abc import Sequence
from typing import NamedTuple

from pegboard.model.items import Item, Visibility
from pegboard.store.planning import spelled_words
from pegboard.store.postgres.statements import Connection, columns, run
from pegboard.store.queries import load
from pegboard.text import FIELD_WEIGHTS, index_fields, parameters, title, variants

SQL = load("postgres", "items")

LONGEST_TERM = 200
"""Characters of a term that count: an index entry has a bound on its size."""


class IndexedText(NamedTuple):
    key: int
    item: Item
    text: str
    """The text to embed."""


def write_terms(tx: Connection, texts: Sequence[IndexedText]) -> None:
    """Write index terms and the texts of `tool_embeddings`; old ones must be removed before."""
    counted = [(each, *_weighed(each.item)) for each in texts]
    flat = [
        (term, each.key, each.item.namespace, frequency, length)
        for each, frequencies, length in counted
        for term, frequency in frequencies.items()
    ]
    names: tuple[str, ...] = ("terms", "keys", "namespaces", "frequencies", "lengths")
    run(tx, SQL["add_terms"], columns(names, flat))
    rows = [
        (
            each.item.kind.value,
            each.key,
            each.item.namespace,
            length,
            each.item.name,
            each.item.description,
            content(each.item, each.text),
        )
        for each, _, length in counted
    ]
    names = ("kinds", "keys", "namespaces", "lengths", "names", "descriptions", "contents")
    run(tx, SQL["add_texts"], columns(names, rows))


def write_spelling(tx: Connection, items: Sequence[Item]) -> None:
    """Store the words of public items for spelling correction.

    Words of other items would reveal something to callers who cannot see them.
    """
    called = {
        (word, each.namespace)
        for each in items
        if each.visibility is Visibility.PUBLIC
        for word in spelled_words(each)
    }
    if not called:
        return
    params = columns(("words", "namespaces"), sorted(called))
    new = run(tx, SQL["unknown_words"], params)
    rows = [(variant, word, namespace) for word, namespace in new for variant in variants(word)]
    if rows:
        run(tx, SQL["add_variants"], columns(("variants", "words", "namespaces"), rows))


def content(item: Item, text: str) -> str:
    """Return the text that SQL clients search: what is embedded, the title and the parameters."""
    said = [f"{name}: {told}" if told else name for name, told in parameters(item.input_schema)]
    heading = title(item)
    if heading.casefold() in item.description.casefold():
        heading = ""
    return "\n".join(part for part in (text, heading, *said) if part)


def _weighed(item: Item) -> tuple[dict[str, float], int]:
    """Return the weighted frequency of each term, and the number of terms."""
    found: dict[str, float] = {}
    length = 0
    for field, text in index_fields(item)._asdict().items():
        terms = text.split()
        length += len(terms)
        weight = FIELD_WEIGHTS[f"{field}_weight"]
        for term in terms:
            kept = term[:LONGEST_TERM]
            found[kept] = found.get(kept, 0.0) + weight
    return found, length
