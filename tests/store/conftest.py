import uuid

import pytest
from blobs_parts import LASTING, ask, in_bucket, s3_server
from nearest_parts import opened
from rights_parts import fill

from pegboard.store.blobs.folder import FolderBlobs
from postgres_server import fresh


@pytest.fixture
def path(tmp_path):
    return tmp_path / "board.db"


@pytest.fixture
def board(path):
    made = opened(path, create=True)
    yield made
    made.close()


@pytest.fixture
def other(board, path):
    """The same board, as another process has it."""
    made = opened(path)
    yield made
    made.close()


@pytest.fixture(scope="session")
def s3():
    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(s3):
    """The name of a bucket that was made for the test."""
    name = f"b-{uuid.uuid4()}"
    ask("PUT", f"{s3}/{name}")
    return name


@pytest.fixture(params=["folder", "bucket"])
def blobs(request, tmp_path):
    """Each kind of blob storage, with nothing in it."""
    if request.param == "folder":
        return FolderBlobs(tmp_path / "kept" / "files")
    s3, bucket = request.getfixturevalue("s3"), request.getfixturevalue("bucket")
    return in_bucket(s3, bucket, LASTING)


@pytest.fixture(scope="session")
def tenants(postgres_server):
    """The address of a board with several tenants, for whoever leaves it as it is."""
    with fresh(postgres_server, postgres_server.template) as url:
        fill(url)
        yield url
