"""The contract of blob storage, over a folder and over a bucket on a real S3 server."""

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from blobs_parts import KEYS, QUICK, ask, content_of, everything, in_bucket

from pegboard.errors import BoardError, BoardFull, BoardReadOnly, ConfigError
from pegboard.store.blobs.bucket import Bucket, BucketBlobs
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.blobs.opening import BlobPlace, open_blobs

pytestmark = pytest.mark.server

KEY = "board/ab/abcdef-01"


@pytest.fixture
def folder(tmp_path):
    return FolderBlobs(tmp_path / "files")


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", bytes(range(256)) * 300, "größer".encode(), content_of(3_000_000)],
    ids=["nothing", "a zero", "every byte", "text", "3 MB"],
)
def test_what_is_put_comes_back_byte_for_byte(blobs, content):
    blobs.put(KEY, content)
    assert blobs.get(KEY) == content


def test_what_was_never_put_is_not_there(blobs):
    assert blobs.get(KEY) is None
    blobs.put(KEY, b"x")
    assert blobs.get(f"{KEY}-other") is None
    assert blobs.get(f"{KEY}/below") is None
    there = [blobs.has(key) for key in (KEY, f"{KEY}-other", f"{KEY}/below")]
    assert there == [True, False, False]


def test_what_is_deleted_is_gone_and_may_be_deleted_again(blobs):
    blobs.put(KEY, b"x")
    blobs.delete(KEY)
    blobs.delete(KEY)
    assert (blobs.get(KEY), blobs.has(KEY)) == (None, False)
    assert everything(blobs, "board") == []


def test_a_list_has_size_and_time_of_what_is_in_one_folder_and_in_no_other(blobs):
    began = time.time()
    blobs.put("board/ab/one-1", b"12345")
    blobs.put("board/cd/two-2", b"123")
    blobs.put("boards/ab/three-3", b"1")
    found = {blob.key: blob for blob in blobs.listed("board")}
    assert {key: blob.size for key, blob in found.items()} == {
        "board/ab/one-1": 5,
        "board/cd/two-2": 3,
    }
    # S3 tells whole seconds.
    assert all(began - 2 <= blob.changed_at <= time.time() + 2 for blob in found.values())


def test_where_nothing_was_put_yet_there_is_nothing_to_list(blobs):
    assert everything(blobs, "board") == []


def test_puts_of_one_key_at_the_same_time_leave_one_whole_blob(blobs):
    contents = [content_of(200_000, seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: blobs.put(KEY, content), contents))
    assert blobs.get(KEY) in contents
    assert [blob.key for blob in blobs.listed("board")] == [KEY]


def test_the_place_is_told_as_it_is_written(folder, tmp_path):
    assert folder.place == str(tmp_path / "files")
    assert BucketBlobs(Bucket("mine", "a/b")).place == "s3://mine/a/b"
    assert BucketBlobs(Bucket("mine")).place == "s3://mine"


# A folder


@pytest.mark.parametrize(
    "key", ["", "/etc/passwd", "../x", "a/../../x", "a/./x", "a//x", ".hidden", "A", "a\\b", "a\n"]
)
@pytest.mark.parametrize("method", ["get", "has", "put", "delete", "listed"])
def test_a_key_never_leads_out_of_the_folder(folder, key, method):
    with pytest.raises(BoardError, match="no key"):
        everything(folder, key) if method == "listed" else getattr(folder, method)(
            key, *([b"x"] if method == "put" else [])
        )


def test_a_link_in_the_folder_is_not_followed(folder, tmp_path):
    folder.put(KEY, b"x")
    place = tmp_path / "files" / KEY
    place.unlink()
    (tmp_path / "secret").write_bytes(b"secret")
    place.symlink_to(tmp_path / "secret")
    with pytest.raises(BoardError):
        folder.get(KEY)
    assert not folder.has(KEY)
    assert everything(folder, "board") == []
    folder.put(KEY, b"y")
    assert (folder.get(KEY), (tmp_path / "secret").read_bytes()) == (b"y", b"secret")


def test_a_pipe_in_the_folder_keeps_nobody_waiting(folder, tmp_path):
    folder.put(KEY, b"x")
    (tmp_path / "files" / KEY).unlink()
    os.mkfifo(tmp_path / "files" / KEY)
    assert folder.get(KEY) is None
    assert everything(folder, "board") == []


def test_files_that_are_no_blobs_are_not_listed(folder, tmp_path):
    folder.put(KEY, b"x")
    (tmp_path / "files" / "board" / "README.txt").write_text("Keep out.")
    assert [blob.key for blob in folder.listed("board")] == [KEY]


def test_a_put_that_is_killed_shows_nothing_but_a_part_that_is_listed(folder, tmp_path):
    kills_itself = (
        "import os, signal, sys; from pathlib import Path\n"
        "from pegboard.store.blobs.folder import FolderBlobs\n"
        "os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"FolderBlobs(Path({str(tmp_path / 'files')!r})).put({KEY!r}, b'x' * 100_000)"
    )
    (tmp_path / "files" / "board" / "ab").mkdir(parents=True)
    ran = subprocess.run([sys.executable, "-c", kills_itself], timeout=60)
    assert ran.returncode == -signal.SIGKILL
    assert folder.get(KEY) is None
    [part] = folder.listed("board")
    assert (part.key.startswith(KEY), part.key.endswith(".part")) == (True, True)
    folder.delete(part.key)
    assert everything(folder, "board") == []


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, BoardFull), (errno.EROFS, BoardReadOnly), (errno.EIO, BoardError)],
)
def test_a_put_that_fails_leaves_nothing_and_says_why(folder, monkeypatch, number, kind):
    def fails(file):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(kind, match=os.strerror(number)):
        folder.put(KEY, b"x")
    assert everything(folder, "board") == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BoardError, match="file"):
        FolderBlobs(tmp_path / "file" / "files").put(KEY, b"x")


# A bucket


def doing(blobs):
    return {
        "put": lambda: blobs.put(KEY, b"x"),
        "get": lambda: blobs.get(KEY),
        "delete": lambda: blobs.delete(KEY),
        "list": lambda: everything(blobs, "board"),
    }


DOINGS = pytest.mark.parametrize("what", ["put", "get", "delete", "list"])


@DOINGS
def test_a_bucket_that_does_not_exist_is_told(s3, what):
    with pytest.raises(BoardError, match="there is no bucket 'nowhere'") as caught:
        doing(in_bucket(s3, "nowhere"))[what]()
    assert "blobs.place" in caught.value.hint


@DOINGS
def test_a_bucket_that_refuses_access_is_told(s3, bucket, what):
    ask("POST", f"{s3}/moto-api/reset-auth", b"0")
    try:
        with pytest.raises(BoardError, match=r"refuses access \(InvalidAccessKeyId\)") as caught:
            doing(in_bucket(s3, bucket))[what]()
    finally:
        ask("POST", f"{s3}/moto-api/reset-auth", b"inf")
    assert "AWS_ACCESS_KEY_ID" in caught.value.hint
    assert "a-secret" not in str(caught.value)


@DOINGS
def test_an_endpoint_where_nobody_listens_is_told(what):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(BoardError, match="cannot be reached or used") as caught:
            doing(in_bucket(endpoint, "mine"))[what]()
    assert endpoint in caught.value.message
    assert "nothing committed was lost" in caught.value.hint


def test_an_endpoint_that_never_answers_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        endpoint = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        blobs = in_bucket(endpoint, "mine", QUICK._replace(request_seconds=0.2))
        with pytest.raises(BoardError, match="cannot be reached or used"):
            blobs.put(KEY, b"x")


class Unwell(BaseHTTPRequestHandler):
    """Fails as often as it is told to, then takes everything."""

    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append(dict(self.headers))
        well = len(self.server.heard) > self.server.failures
        self.send_response(200 if well else 503)
        self.send_header("Content-Length", "0")
        self.send_header("ETag", '"x"')
        self.end_headers()

    def log_message(self, *said):
        pass


@pytest.fixture
def unwell():
    with ThreadingHTTPServer(("127.0.0.1", 0), Unwell) as server:
        server.heard, server.failures = [], 0
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_bucket_that_is_unwell_for_a_moment_is_asked_again(unwell):
    unwell.failures = 1
    in_bucket(f"http://127.0.0.1:{unwell.server_port}", "mine").put(KEY, b"x")
    assert len(unwell.heard) == 2


def test_a_bucket_that_stays_unwell_is_not_asked_for_ever(unwell):
    unwell.failures = 100
    with pytest.raises(BoardError, match="503"):
        in_bucket(f"http://127.0.0.1:{unwell.server_port}", "mine").put(KEY, b"x")
    assert len(unwell.heard) == 1 + QUICK.retries


def test_keys_are_taken_from_the_variables_that_the_settings_name(unwell, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "of-somebody-else")
    where = BlobPlace(
        "s3://mine", f"http://127.0.0.1:{unwell.server_port}", "eu-west-7", "env:MY_ID", "env:MINE"
    )
    open_blobs(where, {"MY_ID": "my-own-id", "MINE": "my-own-secret"}).put(KEY, b"x")
    [heard] = unwell.heard
    assert "Credential=my-own-id/" in heard["authorization"]
    assert "/eu-west-7/s3/" in heard["authorization"]
    assert "of-somebody-else" not in str(heard)


def test_without_them_the_usual_variables_are_taken(unwell, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    endpoint = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{unwell.server_port}"}
    open_blobs(BlobPlace("s3://mine/in/here"), KEYS | endpoint).put(KEY, b"x")
    assert "Credential=an-access-key/" in unwell.heard[0]["authorization"]


def test_without_the_library_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(ConfigError) as caught:
        open_blobs(BlobPlace("s3://mine"), {}).get(KEY)
    assert "pip install 'pegboard[s3]'" in caught.value.hint


def test_a_board_that_needs_no_bucket_loads_nothing_for_it():
    asks = (
        "import sys; from pegboard.store.blobs.opening import BlobPlace, open_blobs\n"
        "open_blobs(BlobPlace('s3://mine'), {})\n"
        "sys.exit('obstore' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", asks], timeout=60).returncode == 0


# What the settings say


def test_no_place_leaves_it_to_the_store():
    assert open_blobs(BlobPlace(), {}) is None


def test_anything_that_is_no_address_is_a_folder(tmp_path):
    assert open_blobs(BlobPlace(str(tmp_path)), {}).place == str(tmp_path)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (BlobPlace("gs://mine"), "must be a folder, or a bucket"),
        (BlobPlace("s3://"), "write it as s3://bucket/prefix"),
        (BlobPlace("s3://a b/c"), "write it as s3://bucket/prefix"),
        (BlobPlace("s3://mine", "minio:9000"), "must be an address"),
        (BlobPlace("s3://mine", "http://a b"), "must be an address"),
        (BlobPlace("s3://mine", access_key="env:MY_ID"), "blobs.secret_key must name"),
        (BlobPlace("s3://mine", secret_key="env:MINE"), "blobs.access_key must name"),
    ],
)
def test_a_place_that_cannot_be_meant_is_refused(where, said):
    with pytest.raises(ConfigError, match=said):
        open_blobs(where, {})


def test_a_key_in_the_settings_is_refused_and_not_repeated():
    where = BlobPlace("s3://mine", access_key="AKIA1234", secret_key="wJalrXUtnFEMI")
    with pytest.raises(ConfigError) as caught:
        open_blobs(where, {})
    assert "AKIA1234" not in str(caught.value)
    assert "env:MY_KEY" in str(caught.value)


def test_a_variable_that_is_not_set_is_named():
    where = BlobPlace("s3://mine", access_key="env:MY_ID", secret_key="env:MINE")
    with pytest.raises(ConfigError, match="MINE is not set") as caught:
        open_blobs(where, {"MY_ID": "x"}).get(KEY)
    assert "blobs.secret_key" in caught.value.hint
