"""Characters that a person cannot see but a model reads: nothing with them passes the gate."""

import re
import unicodedata

# Controls but tab and line ends; soft hyphen; zero-width, joining, directional and invisible
# operators; line and paragraph separators; interlinear marks; tags; variation selectors beyond the
# common emoji ones; lone surrogates; noncharacters. The zero-width joiners stay out of this list:
# Persian, Hindi and emoji need them.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff\ufdd0-\ufdef"
    + "".join(
        f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
    )
    + "]"
)


# Those of ASCII, and whatever is not ASCII: most text is, and is looked through in a tenth of the
# time.
_FORBIDDEN_ASCII = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")


def visible(text: str) -> str:
    """The text with every forbidden character written out, as `\\u202e`."""
    return _FORBIDDEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def first_forbidden(text: str) -> str:
    """A forbidden character, if there is one, as `U+200B ZERO WIDTH SPACE`, or an empty string."""
    found = _FORBIDDEN_ASCII.search(text)
    if found is None and not text.isascii():
        found = _FORBIDDEN.search("".join(_BEYOND_ASCII.findall(text)))
    if found is None:
        return ""
    character = found.group()
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"
