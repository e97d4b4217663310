"""A real S3 server, and large files to put."""

import random
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from making import make_file, make_item
from pegboard.model.content import Blob, Version
from pegboard.model.items import Item
from pegboard.store.blobs.bucket import Bucket, BucketBlobs, Patience
from pegboard.store.blobs.storage import Blobs

LARGE = 65_536
QUICK = Patience(connect_seconds=1.0, request_seconds=1.0, retries=1, retry_seconds=2.0)
LASTING = Patience(retries=8)
"""For a server that is well. Where the threads of moto's trip over one another, it answers 500."""
KEYS = {"AWS_ACCESS_KEY_ID": "an-access-key", "AWS_SECRET_ACCESS_KEY": "a-secret-of-mine"}
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()  # ends with whoever started this
"""


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of moto's server; in a process of its own, because it takes 0.5 s to load."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout
        line = next(line for line in server.stdout if line.strip().isdigit())
        yield f"http://127.0.0.1:{line.strip()}"
        server.kill()


def ask(method: str, url: str, body: bytes = b"") -> None:
    request = urllib.request.Request(
        url, body or None, {"Content-Type": "text/plain"}, method=method
    )
    urllib.request.urlopen(request, timeout=30).close()


def in_bucket(endpoint: str, name: str, patience: Patience = QUICK) -> BucketBlobs:
    return BucketBlobs(
        Bucket(name, "large/files", endpoint, keys=lambda: ("a-key", "a-secret")), patience
    )


def content_of(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def with_file(name: str, content: bytes, **fields: Any) -> Item:
    file = make_file(f"{name}.bin", content, media_type="application/octet-stream")
    return make_item(name, version=Version("1.0.0", file.sha256, files=(file,)), **fields)


def everything(blobs: Blobs, under: str) -> list[Blob]:
    return list(blobs.listed(under))
