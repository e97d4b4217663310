"""Characters that a person cannot see but a model reads."""

import re

# Controls but tab and line ends; soft hyphen; zero-width, joining, directional and invisible
# operators; line and paragraph separators; interlinear marks; tags; variation selectors beyond the
# common emoji ones; lone surrogates; noncharacters. The zero-width joiners stay out of this list:
# Persian, Hindi and emoji need them.
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff\ufdd0-\ufdef"
    + "".join(
        f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
    )
    + "]"
)
