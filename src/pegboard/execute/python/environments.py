"""Virtual environments with what tools need, made once for each set of requirements and kept.

Only wheels are installed, so that nobody's code runs before the tool itself does, in its sandbox.
An environment counts as made when its mark is there, which is written last.
"""

import asyncio
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from pegboard.errors import NotExecutable
from pegboard.execute.folders import LOCK, opened_lock, remove, set_aside, sweep
from pegboard.execute.python.interpreter import Interpreter
from pegboard.execute.redaction import HIDDEN
from pegboard.file_lock import taken

MOST = 100
IDLE_SECONDS = 86_400.0
BUILD_SECONDS = 300.0
MARK = "pegboard-made"

_LOOK = 0.05
_UNTIL_REAPED = 1.0
_KEPT = 64_000
_SHOWN = 1_500
_LAST_LINES = 8
_LOGIN = re.compile(r"(?<=://)[^\s/@]+(?:/[^\s/@]*)*@")
_WHERE_FROM = (
    *("INDEX", "DEFAULT_INDEX", "EXTRA_INDEX", "NO_INDEX", "FIND_LINKS", "TRUSTED_HOST", "OFFLINE"),
    *("CERT", "CLIENT_CERT", "NATIVE_TLS", "SYSTEM_CERTS", "INSECURE_HOST", "PROXY", "HTTP", "SSL"),
    *("TIMEOUT", "DEFAULT_TIMEOUT", "RETRIES", "CONFIG_FILE", "CACHE", "NO_CACHE", "KEYRING"),
)
"""How the settings of pip and uv begin that say where packages come from, and how to get there."""
_FOR_ALL = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("NETRC", "DBUS_SESSION_BUS_ADDRESS"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT"),
        *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("SYSTEMROOT", "COMSPEC", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
    )
)


class Environments:
    def __init__(
        self,
        cache: Path,
        environ: Mapping[str, str],
        interpreter: Interpreter,
        *,
        build_seconds: float = BUILD_SECONDS,
    ) -> None:
        """`environ` is the person's own, with the index and proxy that installers are to use."""
        self._cache = cache.absolute()
        self._environ = _for_installers(environ)
        self._interpreter = interpreter
        self._build_seconds = build_seconds

    async def folder(self, requirements: Sequence[str], on_build: Callable[[], None]) -> Path:
        """`requirements` are as `Needs` has them; `on_build` hears that it takes longer now.

        Raises `NotExecutable`. Cancelling it ends the installer.
        """
        place = self._cache / self._key(requirements)
        try:
            if _is_made(place):
                os.utime(place)
                return place
            async with asyncio.timeout(self._build_seconds):
                await self._make(place, requirements, on_build)
        except TimeoutError as error:
            raise NotExecutable(
                f"installing {_named(requirements)} took longer than {self._build_seconds:g}"
                " seconds",
                "try again: what was downloaded is usually kept",
            ) from error
        except OSError as error:
            raise NotExecutable(
                f"no environment can be made in {self._cache}: {error.strerror}",
                "see whether the disk is full, and whether the folder may be written to",
            ) from error
        return place

    def _key(self, requirements: Sequence[str]) -> str:
        said = json.dumps([sorted(requirements), self._interpreter.identity])
        return hashlib.sha256(said.encode()).hexdigest()[:32]

    async def _make(
        self, place: Path, requirements: Sequence[str], on_build: Callable[[], None]
    ) -> None:
        """Alone among all processes; whoever waited finds it made."""
        with opened_lock(place.with_name(f"{place.name}{LOCK}")) as descriptor:
            while not taken(descriptor):
                await asyncio.sleep(_LOOK)
            if _is_made(place):
                return
            on_build()
            half = set_aside(place)
            await asyncio.to_thread(remove, half)
            await asyncio.to_thread(sweep, self._cache, MOST, IDLE_SECONDS)
            try:
                await self._build(place, requirements, descriptor)
            except BaseException:
                half = set_aside(place)
                await asyncio.shield(asyncio.to_thread(remove, half))
                raise

    async def _build(self, place: Path, requirements: Sequence[str], lock: int) -> None:
        base, python = str(self._interpreter.executable), str(place / "bin" / "python")
        listed = place / "requirements.txt"
        if uv := shutil.which("uv", path=self._environ.get("PATH", os.defpath)):
            make = [uv, "venv", "--quiet", "--no-project", "--python", base]
            install = [uv, "pip", "install", "--quiet", "--no-build", "--python", python]
        else:
            make = [base, "-I", "-m", "venv"]
            install = [python, "-I", "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
            install += ["--no-input", "--no-compile", "--disable-pip-version-check"]
        await self._run([*make, str(place)], lock, "an environment cannot be made")
        listed.write_text("\n".join(requirements) + "\n", "utf-8")
        await self._run(
            [*install, "-r", str(listed)], lock, f"{_named(requirements)} cannot be installed"
        )
        # Not by the installers: uv would start the environment's own interpreter for it, which
        # runs code of the packages at its start.
        compiling = [base, "-I", "-S", "-m", "compileall", "-q", "-j", "0", str(place / "lib")]
        with suppress(NotExecutable):  # a file that cannot be compiled may never be needed
            await self._run(compiling, lock, "")
        (place / MARK).touch()

    async def _run(self, argv: Sequence[str], lock: int, complaint: str) -> None:
        """The lock is its, too: should we die, it stays locked until the installer has ended."""
        with TemporaryFile() as said:
            process = subprocess.Popen(  # noqa: S603 - an installer, with words of ours
                argv,
                cwd=self._cache.anchor,  # away from settings of projects
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(lock,),
            )
            try:
                while process.poll() is None:
                    await asyncio.sleep(_LOOK)
            finally:
                _kill(process)
            if process.returncode != 0:
                raise NotExecutable(
                    f"{complaint}: {_last_words(said) or f'exit code {process.returncode}'}",
                    "see whether the names and versions are right, and whether there are wheels of"
                    " them for this system",
                )


def _is_made(place: Path) -> bool:
    return (place / MARK).is_file()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """With all that it started, unless it has ended: its number may be another's by now."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_UNTIL_REAPED)


def _named(requirements: Sequence[str]) -> str:
    shown = [each.partition(" --hash")[0] for each in requirements[:5]]
    more = len(requirements) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _last_words(said: IO[bytes]) -> str:
    """Without names and passwords of an index, which are part of its address."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - _KEPT))
    text = _LOGIN.sub(f"{HIDDEN}@", said.read().decode("utf-8", "replace"))
    return "\n".join(text.strip().splitlines()[-_LAST_LINES:])[-_SHOWN:]


def _for_installers(environ: Mapping[str, str]) -> dict[str, str]:
    """What they need to reach an index, and nothing that would lead them to another environment.

    No secret of anybody's: what they write when something fails is shown.
    """
    kept = {name: value for name, value in environ.items() if _is_for_installers(name)}
    return kept | {"UV_PYTHON_DOWNLOADS": "never"}


def _is_for_installers(name: str) -> bool:
    if name.startswith(("PIP_", "UV_")):
        return name.partition("_")[2].startswith(_WHERE_FROM)
    return name.upper() in _FOR_ALL or name.startswith(("LC_", "XDG_"))
