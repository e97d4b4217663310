"""Which items were pulled from the registry, as lock files say."""

from pathlib import Path
from typing import NamedTuple

from pegboard.board.publish.lock_file import NAME
from pegboard.board.publish.lock_file import read_lock as read
from pegboard.errors import ConfigError


class Pulled(NamedTuple):
    """The whole names of what was pulled, `namespace/id`, and what is wrong with the file."""

    names: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()

    def has(self, namespace: str, item_id: str) -> bool:
        return f"{namespace}/{item_id}" in self.names


def read_lock(*folders: Path | None) -> Pulled:
    """Of all of these; a file that cannot be read is passed over, with a notice."""
    names: set[str] = set()
    notices: list[str] = []
    for folder in filter(None, folders):
        try:
            names.update(read(folder / NAME))
        except ConfigError as error:
            notices.append(f"{NAME} is passed over: {error.message}")
    return Pulled(frozenset(names), tuple(notices))
