"""A container engine of the tests' own: podman with its own store, images and socket."""

import asyncio
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from making import seen_below
from pegboard.execute.container.executor import ContainerExecutor
from pegboard.execute.job import Job, Limits
from pegboard.execute.secrets import Secrets
from pegboard.model.calls import CallResult
from pegboard.model.content import EMPTY
from pegboard.model.items import Item, ItemId, ToolType

IMAGE = "localhost/pegboard/busybox:1"
WITH_VOLUME = "localhost/pegboard/volume:1"
WAIT = 60.0
"""Far more than anything here takes."""

CONTAINERS_CONF = """
[containers]
netns = "none"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]

[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
tmp_dir = "{folder}/libpod"
"""
STORAGE_CONF = """
[storage]
driver = "vfs"
graphroot = "{folder}/graph"
runroot = "{folder}/run"
"""
REGISTRIES_CONF = """
[[registry]]
location = "{registry}"
insecure = true
"""


class Host:
    """Everything of it is in one folder, whose name is short: that of a socket must be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = shutil.which("podman")
        self.socket = folder / "podman.sock"
        self._registry = Registry(folder / "pushed")
        self.pullable = f"{self._registry.address}/pegboard/pulled:1"
        texts = {
            "CONTAINERS_CONF": CONTAINERS_CONF,
            "CONTAINERS_STORAGE_CONF": STORAGE_CONF,
            "CONTAINERS_REGISTRIES_CONF": REGISTRIES_CONF,
        }
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        for name, text in texts.items():
            path = folder / f"{name.lower()}.conf"
            path.write_text(text.format(folder=folder, registry=self._registry.address))
            self.environ[name] = str(path)
        self._import_images()
        self._service = self._serve()

    def podman(self, *words: str, stdin: Path | None = None) -> str:
        with (stdin or Path(os.devnull)).open("rb") as given:
            ran = subprocess.run(
                ["podman", *words],
                env=self.environ,
                cwd=self.folder,
                stdin=given,
                capture_output=True,
                timeout=WAIT,
            )
        assert ran.returncode == 0, (words, ran.stderr.decode())
        return ran.stdout.decode().strip()

    def monitors(self) -> list[str]:
        """Processes that watch over a container: one is left if a container is."""
        found = Path("/proc").glob("[0-9]*/cmdline")
        return [text for text in map(_read_if_there, found) if f"\0{self.folder}/libpod" in text]

    def close(self) -> None:
        self._registry.close()
        self._service.kill()
        self._service.wait()
        assert self._service.stderr
        self._service.stderr.close()
        shutil.rmtree(self.folder)

    def _import_images(self) -> None:
        archive = self.folder / "busybox.tar"
        _pack_busybox(archive)
        self.podman("import", "--quiet", "-", IMAGE, stdin=archive)
        self.podman(
            "import", "--quiet", "--change", "VOLUME=/data", "-", WITH_VOLUME, stdin=archive
        )
        self.podman("push", "--quiet", IMAGE, f"dir:{self.folder / 'pushed'}")

    def _serve(self) -> subprocess.Popen[str]:
        command = ["podman", "--log-level", "info", "system", "service", "--time", "0"]
        process = subprocess.Popen(
            [*command, f"unix://{self.socket}"],
            env=self.environ,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        listening = threading.Event()
        threading.Thread(target=_read, args=(process, listening), daemon=True).start()
        if not listening.wait(WAIT):
            process.kill()
            pytest.fail("podman's service did not begin to listen")
        return process


def _read(process: "subprocess.Popen[str]", listening: threading.Event) -> None:
    assert process.stderr
    for line in process.stderr:
        if "listening" in line:
            listening.set()


def _read_if_there(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _pack_busybox(archive: Path) -> None:
    """A root file system with one program under all its names."""
    program = shutil.which("busybox")
    assert program
    names = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    with tarfile.open(archive, "w") as tar:
        tar.add(program, "bin/busybox")
        for name in set(names.split()) - {"busybox"}:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
        for name, mode in (("tmp", 0o1777), ("etc", 0o755), ("proc", 0o755), ("sys", 0o755)):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)


class Registry:
    """Serves one image, as `podman push dir:` wrote it, under one name."""

    def __init__(self, folder: Path) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                kind, _, name = self.path.rpartition("/")
                path = folder / ("manifest.json" if "manifests" in kind else name.split(":")[-1])
                known = not name or (path.exists() and "/pulled/" in self.path)
                body = path.read_bytes() if name and known else b"{}"
                oci = "application/vnd.oci.image.manifest.v1+json"
                self.send_response(200 if known else 404)
                self.send_header("Content-Type", oci if "manifests" in kind else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            do_HEAD = do_GET

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def make_job(command: object, /, **fields: Any) -> Job:
    """What is no field of a job belongs to the item or to its executor's configuration."""
    arguments = fields.pop("arguments", {})
    secrets: Mapping[str, str] = fields.pop("secrets", {})
    config = {"image": IMAGE, "command": command, **fields.pop("config", {})}
    item = Item(
        ItemId("tools:box:tool"),
        "tool",
        tool_type=ToolType.DOCKER,
        executor=config,
        input_schema={"type": "object", "properties": fields.pop("properties", {})},
        output_schema=fields.pop("output_schema", EMPTY),
        version=fields.pop("version", None),
    )
    limits = Limits(**({"seconds": WAIT, "memory_bytes": 64 << 20} | fields.pop("limits", {})))
    return Job(item, arguments, Secrets(secrets.get), limits, **fields)


class Runner:
    """An executor with a folder of its own."""

    def __init__(self, host: Host, engine: str, environ: Mapping[str, str], **fields: Any) -> None:
        self.scratch = Path(tempfile.mkdtemp(dir=host.folder))
        self.executor = ContainerExecutor(
            engine=engine, scratch=self.scratch, environ=environ, **fields
        )

    def __call__(self, command: object, /, **fields: Any) -> CallResult:
        return self.run(make_job(command, **fields))

    def run(self, job: Job) -> CallResult:
        return asyncio.run(asyncio.wait_for(self.executor.run(job), WAIT))

    def files_left(self) -> list[str]:
        """In folders of runs."""
        found = seen_below(self.scratch, "*/*/*")
        return [str(path) for path in found if path.name != "owner.lock"]


def text_of(result: CallResult) -> str:
    return "".join(str(block["text"]) for block in result.content)
