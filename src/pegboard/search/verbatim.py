"""Questions that repeat the words of an item: of its description or of a parameter's."""

from pegboard.model.items import Item
from pegboard.text import parameters, plain_words


def is_verbatim(text: str, item: Item) -> bool:
    """Whether a text stands word for word in a description of the item or of its parameters.

    Case, accents, punctuation and spaces do not count. A single word must be the whole description.
    """
    wanted = plain_words(text)
    described = (item.description, *(each for _, each in parameters(item.input_schema)))
    return any(_holds(plain_words(each), wanted) for each in described)


def _holds(text: str, wanted: str) -> bool:
    if " " not in wanted and wanted.isascii():
        return bool(wanted) and text == wanted
    return f" {wanted} " in f" {text} " or (not wanted.isascii() and wanted in text)
