"""An item by its name and a version, and what is said if that version is not there."""

import pytest

from making import hang, make_file, make_item
from pegboard.board.describe.versions import found, split
from pegboard.errors import ItemNotFound
from pegboard.model.content import Version
from pegboard.model.items import Filters, ToolType

ANYBODY = Filters()
MANIFEST = """\
tool_id: rev
tool_type: bash
version: {}
description: Turn a text round.
executor_config: {{entrypoint: run.sh}}
"""


def rev(number):
    text = MANIFEST.format(number)
    files = (make_file("run.sh", b"rev"), make_file("tool.yaml", text.encode()))
    version = Version(number, f"hash of {number}", manifest_text=text, files=files)
    return make_item(
        "rev", tool_type=ToolType.BASH, version=version, executor={"entrypoint": "run.sh"}
    )


@pytest.fixture
def board(store, embedder):
    for number in ("1.0.0", "1.0.1"):
        hang(store, embedder, rev(number))
    return store


@pytest.mark.parametrize("number", ["9.9.9", "1.0", "9", "v1.0.0", "V2", "1.0-rc.1", "1.0.0.0"])
def test_a_version_that_is_not_there_is_named_with_those_that_are(board, number):
    with pytest.raises(ItemNotFound) as refused:
        found(board, f"rev@{number}", ANYBODY)
    assert refused.value.message == f"mcptools:mail:rev has no version {number}"
    assert refused.value.hint == "it has: 1.0.1, 1.0.0"


@pytest.mark.parametrize("name", ["ghost@1.0", "ghost@v1.0.0", "ghost@9.9.9", "rev@home", "@1.0"])
def test_a_name_that_nothing_has_is_said_to_be_missing_with_a_version_or_without(board, name):
    with pytest.raises(ItemNotFound, match="there is no item"):
        found(board, name, ANYBODY)


@pytest.mark.parametrize("name", ["rev@2", "rev@v1.5", "mail@home", "@scope"])
def test_a_name_with_an_at_in_it_is_found(board, embedder, name):
    hang(board, embedder, make_item(name))
    for said in (name, f"mcptools:mail:{name}", f"{name}@latest"):
        _, item = found(board, said, ANYBODY)
        assert item.name == name


def test_no_name_is_taken_for_a_version_of_another_item(board, embedder):
    hang(board, embedder, make_item("rev@1.0.0"))
    _, item = found(board, "rev@1.0.0", ANYBODY)
    assert (item.name, item.version.version) == ("rev", "1.0.0")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("rev", ("rev", "latest")),
        ("rev@1.0.0", ("rev", "1.0.0")),
        ("rev@1.0", ("rev@1.0", "latest")),
        ("rev@latest", ("rev", "latest")),
        ("rev@home", ("rev@home", "latest")),
        ("@1.0", ("@1.0", "latest")),
    ],
)
def test_a_name_is_split_before_a_version(name, parts):
    assert split(name) == parts
