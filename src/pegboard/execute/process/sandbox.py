"""What a process sees of this host: the arguments of bubblewrap, and whether it works here.

The process sees the system's programs and libraries, its own files, what it is granted, all of
that read-only unless granted for writing, and a private folder. It has no capabilities, cannot
make namespaces, sees no other process, and no network unless that is granted. A granted network
is the host's own: services on loopback can be reached by it.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from shutil import which
from typing import NamedTuple

from pegboard.execute.grants import is_inside_any, to_be_shown
from pegboard.execute.job import Grants

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ALTERNATIVES = "/etc/alternatives"
FOR_ALL = ("/etc/ld.so.cache", "/etc/localtime", "/etc/ssl/openssl.cnf")
FOR_THE_NETWORK = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ca-certificates",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust",
    "/etc/crypto-policies",
)
NOBODY = "65534"
MADE = {
    "/etc/passwd": f"nobody:x:{NOBODY}:{NOBODY}:nobody:/tmp:/bin/sh\n",
    "/etc/group": f"nogroup:x:{NOBODY}:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
}
"""Instead of the host's, which name its users and its neighbours."""
PRIVATE_TMP = "/tmp"  # noqa: S108 - a place inside the sandbox

_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--uid", NOBODY, "--gid", NOBODY, "--hostname", "sandbox"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent", "--clearenv"),
)
_SYSTEM_FOLDERS = tuple(f"{name}/" for name in SYSTEM)
_ETC = Path("/etc")
_PROBE_SECONDS = 10.0
_WITHOUT = "do not require a sandbox (run.sandbox); tools that agents made always do"
_INSTALL = f"install it (such as by apt install bubblewrap), or {_WITHOUT}"
_LEAST_ROOM = "65536"


class View(NamedTuple):
    """What one process is to see."""

    own: tuple[Path, ...]
    """Its own files and what it needs to run, read-only, at the same path as here."""
    private: Path
    """Its folder for this run, which it may write to."""
    grants: Grants
    environment: Mapping[str, str]
    folder: Path
    """Where it begins."""
    settings: Path
    """Files for its /etc, made by `write_settings`."""
    tmp_bytes: int
    """How much fits into its /tmp, and as much into its shared memory."""


class Bubblewrap(NamedTuple):
    """The program as it was found on this host."""

    path: str = ""
    """Empty if it cannot be used."""
    no_userns: bool = False
    """Whether it can forbid further user namespaces, as version 0.8 can."""
    reason: str = ""
    """Why it cannot be used."""


def find_bubblewrap(search_path: str) -> Bubblewrap:
    """Looks for it and tries it: some hosts have it and forbid what it needs."""
    path = which("bwrap", path=search_path)
    if sys.platform != "linux":
        return Bubblewrap(reason=f"bubblewrap needs Linux: {_WITHOUT}")
    if path is None:
        return Bubblewrap(reason=f"bubblewrap (bwrap) is not installed: {_INSTALL}")
    reason = ""
    for no_userns in (True, False):
        tried = Bubblewrap(path, no_userns)
        argv = [path, *_confinement(tried, network=False), *_system(), "--proc", "/proc"]
        argv += ["--perms", "1777", "--size", _LEAST_ROOM, "--tmpfs", PRIVATE_TMP]
        try:
            ran = subprocess.run(  # noqa: S603 - bubblewrap itself, as it was found
                [*argv, "--", "/bin/true"], capture_output=True, timeout=_PROBE_SECONDS, env={}
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return _unusable(str(error))
        if ran.returncode == 0:
            return tried
        reason = ran.stderr.decode("utf-8", "replace").strip() or f"exit code {ran.returncode}"
    return _unusable(reason)


def _unusable(reason: str) -> Bubblewrap:
    return Bubblewrap(
        reason=f"bubblewrap does not work on this host ({reason}): let users make namespaces, "
        f"or {_WITHOUT}"
    )


def write_settings(folder: Path) -> None:
    """What processes see as /etc, in one folder: every mount takes a tenth of a millisecond.

    What they may need of the host's own /etc as it is at the time is mounted into it; for that
    it has something empty to mount on.
    """
    folder.mkdir(mode=0o700)
    for path in (*FOR_ALL, ALTERNATIVES, *FOR_THE_NETWORK):
        here, there = Path(path), _in(folder, path)
        there.parent.mkdir(parents=True, exist_ok=True)
        if here.is_dir():
            there.mkdir(exist_ok=True)
        elif here.exists():
            there.write_bytes(here.read_bytes() if path in FOR_ALL else b"")
    for path, text in MADE.items():
        _in(folder, path).write_text(text)


def arguments(bubblewrap: Bubblewrap, view: View) -> list[str]:
    """All but the command. Later mounts cover earlier ones."""
    grants = view.grants
    own = [path for path in _outermost(view.own) if not _is_system(path)]
    granted = _real((*grants.read, *grants.write))
    hidden = _to_mask(grants, granted, own)
    return [
        *_confinement(bubblewrap, network=grants.network),
        *_system(),
        *_etc(view.settings, (*granted, *own), network=grants.network),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--size", str(view.tmp_bytes), "--tmpfs", "/dev/shm"),  # noqa: S108
        *("--size", str(view.tmp_bytes), "--perms", "1777", "--tmpfs", PRIVATE_TMP),
        *_granted(grants),
        *_masks(hidden),
        *_each("--ro-bind", map(str, own)),
        *_masks([path for path in hidden if is_inside_any(path, own)]),
        *("--bind", str(view.private), str(view.private)),
        *("--dir", str(view.folder), "--chdir", str(view.folder)),
        *(word for path in hidden if path.is_dir() for word in ("--remount-ro", str(path))),
        # For a process of root's, the kernel's settings in /proc/sys are its own files.
        *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"),
        *(part for pair in view.environment.items() for part in ("--setenv", *pair)),
    ]


def _confinement(bubblewrap: Bubblewrap, *, network: bool) -> list[str]:
    return [
        *_NAMESPACES,
        *(() if network else ("--unshare-net",)),
        *(("--disable-userns",) if bubblewrap.no_userns else ()),
    ]


@cache
def _system() -> tuple[str, ...]:
    """As the host has it: some have /bin as a link into /usr, some as a folder."""
    words: list[str] = []
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            words += ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            words += ("--ro-bind", name, name)
    return tuple(words)


def _etc(settings: Path, others: Iterable[Path], *, network: bool) -> Iterator[str]:
    """All at once, unless something else is to be seen there that has no place in ours."""
    if any(each.is_relative_to(_ETC) for each in others):
        for path in (*FOR_ALL, *MADE):
            yield from ("--ro-bind-try", str(_in(settings, path)), path)
    else:
        yield from ("--ro-bind", str(settings), str(_ETC))
    live = (ALTERNATIVES, *(FOR_THE_NETWORK if network else ()))
    yield from _each("--ro-bind-try", (path for path in live if _in(settings, path).exists()))


def _in(settings: Path, path: str) -> Path:
    return settings / path.removeprefix("/etc/")


def _granted(grants: Grants) -> Iterator[str]:
    """Outer folders before inner ones, so that what is said of an inner one holds for it."""
    how = dict.fromkeys(_real(grants.read), "--ro-bind")
    how |= dict.fromkeys(_real(grants.write), "--bind")
    how |= dict.fromkeys(_pinned(grants, how), "--bind")
    for path in sorted(how, key=lambda path: len(path.parts)):
        yield from (how[path], str(path), str(path))


def _pinned(grants: Grants, granted: Mapping[Path, str]) -> Iterator[Path]:
    """Folders between one that may be written and what is hidden in it.

    As places of mounts they cannot be moved. Else what is hidden could be moved away with them,
    to be found under another name by the next process, or not to be there when that is confined.
    """
    for path in _real(grants.hidden):
        for folder in path.parents:
            outer = next((each for each in folder.parents if each in granted), None)
            if folder not in granted and outer is not None and granted[outer] == "--bind":
                yield folder


def _to_mask(grants: Grants, granted: Iterable[Path], own: Iterable[Path]) -> list[Path]:
    """Of what is hidden, that which would be seen, or which has in it what is granted."""
    seen = (*granted, *own)
    return [
        path
        for path in _outermost(_real(grants.hidden))
        if is_inside_any(path, seen) or any(each.is_relative_to(path) for each in granted)
    ]


def _masks(paths: Iterable[Path]) -> Iterator[str]:
    """Something empty over each. A folder has to take mounts below it until all are made."""
    for path in paths:
        if path.is_dir():
            yield from ("--size", _LEAST_ROOM, "--tmpfs", str(path))
        else:
            yield from ("--ro-bind", "/dev/null", str(path))


def _real(paths: Iterable[Path]) -> list[Path]:
    return list(dict.fromkeys(to_be_shown(paths).values()))


def _outermost(paths: Iterable[Path]) -> list[Path]:
    kept: list[Path] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: len(path.parts)):
        if not is_inside_any(path, kept):
            kept.append(path)
    return kept


def _is_system(path: Path) -> bool:
    return f"{path}/".startswith(_SYSTEM_FOLDERS)


def _each(option: str, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield from (option, path, path)
