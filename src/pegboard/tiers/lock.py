"""Which items of a project were pulled from the registry, as its lock file says."""

import json
from pathlib import Path
from typing import NamedTuple

LOCK_FILE = "pegboard.lock"
LARGEST = 32 << 20


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
    file = project / LOCK_FILE
    try:
        if file.stat().st_size > LARGEST:
            return _unread("it is too large")
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        return Pulled()
    except OSError as error:
        return _unread(str(error.strerror))
    except (ValueError, RecursionError):
        return _unread("it is no JSON")
    items = found.get("items") if isinstance(found, dict) else None
    if not isinstance(items, dict):
        return _unread("it lists no items")
    return Pulled(frozenset(items))


def _unread(why: str) -> Pulled:
    return Pulled(notices=(f"{LOCK_FILE} is passed over: {why}",))
