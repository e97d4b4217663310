"""Which items of a project were pulled from the registry, as its lock file says."""

from pathlib import Path
from typing import NamedTuple

from pegboard.board.locking import NAME
from pegboard.board.locking import read_lock as read
from pegboard.errors import ConfigError


class Pulled(NamedTuple):
    """The whole names of what was pulled, `namespace/id`, and what is wrong with the file."""

    names: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()

    def has(self, namespace: str, item_id: str) -> bool:
        return f"{namespace}/{item_id}" in self.names


def read_lock(project: Path | None) -> Pulled:
    """Nothing if there is no file; one that cannot be read is passed over, with a notice."""
    if project is None:
        return Pulled()
    try:
        return Pulled(frozenset(read(project / NAME)))
    except ConfigError as error:
        return Pulled(notices=(f"{NAME} is passed over: {error.message}",))
