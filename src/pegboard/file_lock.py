"""A lock on an open file, which the system lets go of when it is closed or the process dies."""

import sys


def taken(descriptor: int) -> bool:
    """Whether it is ours alone now, among processes and threads."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
