"""Which versions of an item stay when it is put, decided alike for every store.

What is put takes the place of the version with its number: a working copy may be edited without a
new one. Versions of other numbers stay, the newest `MOST_VERSIONS` of them. One that is named after
its content (`0.0.0+` and the beginning of its hash) has no number of its own, and goes: else every
save would leave one behind. If another source takes the id over, all go: nobody who asks for a
version of what hangs here now is to get what somebody else wrote.

What was published stays as it is, however many there are, and the item hangs in the highest.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import count

from pegboard.formats.semver import latest, precedence
from pegboard.model.content import VersionLine
from pegboard.model.items import Item, Rejection

MOST_VERSIONS = 100


def hung(versions: Iterable[tuple[str, bool]]) -> str | None:
    """In which of its versions a published item hangs; each is a number, and whether it is yanked.

    The highest release, or the highest pre-release where there is no other; None if all are yanked.
    """
    able = [number for number, yanked in versions if not yanked]
    return latest(able) or latest(able, early=True)


def ordered(lines: Iterable[tuple[bool, VersionLine]]) -> list[VersionLine]:
    """Those of published items by precedence, the highest first; others as they come.

    Each with whether it was published: of one item all were, or none.
    """
    found = list(lines)
    if any(published for published, _ in found):
        found.sort(key=lambda each: precedence(each[1].number), reverse=True)
    return [line for _, line in found]


def version_exists(item: Item, known: Mapping[str, str]) -> Rejection | None:
    """Why this version cannot be a fixed one; `known` has, by number, the content hash of each."""
    version = item.version
    if version is None or known.get(version.version, version.content_hash) == version.content_hash:
        return None
    return number_taken(item, version.version, known)


def number_taken(item: Item, number: str, taken: Collection[str]) -> Rejection:
    return Rejection(
        source=item.source,
        origin=item.origin,
        origin_hash=item.origin_hash,
        code="version_exists",
        reason=(
            f"{item.id} has a version {number} already, and what a version is never"
            f" changes; give this one {_free(number, taken)}"
        ),
    )


def _free(number: str, taken: Collection[str]) -> str:
    core = re.match(r"(\d+\.\d+\.)(\d{1,18})", number)
    if core is None:
        return "another number"
    later = (f"{core[1]}{int(core[2]) + step}" for step in count(1))
    return f"a number that is free, such as {next(each for each in later if each not in taken)}"
