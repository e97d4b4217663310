"""Characters that a person cannot see but a model reads: nothing with them passes the gate."""

import re
import unicodedata
from collections.abc import Iterable

from pegboard.formats.hidden_characters import HIDDEN
from pegboard.model.items import Rejection

# Those of ASCII, and whatever is not ASCII: most text is, and is looked through in a tenth of the
# time.
_FORBIDDEN_ASCII = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")


def visible(text: str) -> str:
    """The text with every forbidden character written out, as `\\u202e`."""
    return HIDDEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def visible_rejections(found: Iterable[Rejection]) -> list[Rejection]:
    """Of what was refused, neither the name of a file nor the reason has passed the gate."""
    return [
        each._replace(origin=visible(each.origin), reason=visible(each.reason)) for each in found
    ]


def first_forbidden(text: str) -> str:
    """A forbidden character, if there is one, as `U+200B ZERO WIDTH SPACE`, or an empty string."""
    found = _FORBIDDEN_ASCII.search(text)
    if found is None and not text.isascii():
        found = HIDDEN.search("".join(_BEYOND_ASCII.findall(text)))
    if found is None:
        return ""
    character = found.group()
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"
