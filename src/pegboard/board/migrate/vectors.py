"""Which vectors of a Kiwi database may hang on a board: those that are what a worker would make.

The same model and as many numbers, of a text that says the same as ours. Whoever knows that the old
texts were good enough can vouch for them; whoever does not has them made anew.
"""

import json
import math
import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pegboard.model.items import Fingerprint, Item, Kind, Vector
from pegboard.store.postgres.kiwi_reading import OldRow
from pegboard.text import PART_MARK, embedded_passages, embedding_text

TYPES = {
    Kind.TOOL: ("script", "tool"),
    Kind.DIRECTIVE: ("directive",),
    Kind.KNOWLEDGE: ("knowledge",),
}


class Vouched(NamedTuple):
    """What is known of old vectors beside what their table says."""

    model: str = ""
    whatever_text: bool = False


class Misfit(NamedTuple):
    code: str
    reason: str


def names_of(item: Item, uid: str) -> tuple[str, ...]:
    """What an old embedding may call an item, the surest first."""
    return (uid, *dict.fromkeys((item.name, *item.aliases)))


def own_row(item: Item, uid: str, rows: Mapping[str, Sequence[OldRow]]) -> OldRow | None:
    """The embedding that was made of this item."""
    for name in names_of(item, uid):
        for row in rows.get(name, ()):
            if row.get("item_type") in (None, *TYPES[item.kind]) and (
                name == uid or _metadata(row).get("category") in (None, item.category)
            ):
                return row
    return None


def fitting(row: OldRow, item: Item, target: Fingerprint, vouched: Vouched) -> Vector | Misfit:
    said = _metadata(row)
    model = row.get("model") or row.get("embedding_model") or said.get("model") or vouched.model
    if not model:
        return Misfit("unknown_model", "who made it is not said; say so with --embedding-model")
    if _plain(str(model)) != _plain(target.model):
        return Misfit("other_model", f"it was made by {model}, the board's are of {target.model}")
    numbers = _numbers(row.get("embedding"))
    if len(numbers) != target.dimension:
        return Misfit(
            "wrong_dimension", f"it has {len(numbers)} numbers, the board's have {target.dimension}"
        )
    length = math.sqrt(math.fsum(value * value for value in numbers))
    if not math.isfinite(length) or length == 0:
        return Misfit("no_direction", "it points nowhere")
    text = embedding_text(item)
    if len(embedded_passages(text)) > 1:
        return Misfit("passages", "each passage of its item has a vector now; a worker makes them")
    if not vouched.whatever_text and _one_line(str(row.get("content"))) != _one_line(text):
        return Misfit(
            "other_text",
            "it was made from another text than the board's; "
            "take it all the same with --trust-embeddings",
        )
    return Vector(array("f", [value / length for value in numbers]).tobytes())


def _metadata(row: OldRow) -> Mapping[str, object]:
    found = row.get("metadata")
    return found if isinstance(found, dict) else {}


def _plain(model: str) -> str:
    """Without its maker, its file's hash, and whether its weights were rounded."""
    return model.rpartition("/")[2].partition("@")[0].casefold().removesuffix("-int8")


def _numbers(found: object) -> list[float]:
    """pgvector writes a vector like a list in JSON."""
    try:
        values = json.loads(found) if isinstance(found, str) else found
        return [float(value) for value in values] if isinstance(values, list) else []
    except (ValueError, TypeError):
        return []


def _one_line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text.replace(PART_MARK, " ")).split())
