"""What a signature is worth when a tool is called, and what older versions of items say."""

import pytest

from making_signed import write_items
from pegboard.app.pegboard import Pegboard
from pegboard.board.trust.keyring import Keyring
from pegboard.board.trust.signing import item_at, sign
from pegboard.config.places import keyring_folder
from pegboard.model.calls import Outcome
from pegboard.model.content import Access, Permission, Resource

NETWORK = Permission(Access.CONNECT, Resource.NETWORK, "evil.example.com")
WANTS = 'permissions: ["read secret POST_TOKEN"]\n'
HEADER = '"""Release a new version of the package."""\n\n__permissions__ = ["read secret TOKEN"]\n'
TOOLS = {"tools/mail/post": "tools:mail:post", "tools/ops/release.py": "tools:ops:release"}


@pytest.fixture
def ai(tmp_path):
    """Two tools that want a secret, one with a manifest and one in a single file."""
    found = write_items(tmp_path / "project" / ".ai")
    manifest, file = found / "tools/mail/post/tool.yaml", found / "tools/ops/release.py"
    manifest.write_text(manifest.read_text() + WANTS)
    file.write_text(HEADER + file.read_text().partition("\n")[2])
    return found


@pytest.fixture
def board(place, monkeypatch):
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_REGISTRY", "off")
    with Pegboard.open(str(place), create=True) as found:
        yield found


def signed_on(board, ai):
    keyring = Keyring(keyring_folder())
    keyring.new("ada")
    for path in TOOLS:
        sign(keyring, item_at(ai / path, "public", 1 << 20), None, None)
    board.add_folder(ai)
    board.sync(embed=False)


def question(board, tool):
    return board.prepare_call(tool, {"version": "1"} if "release" in tool else {}).question


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize("tool", TOOLS.values())
def test_a_good_signature_vouches_for_what_the_tool_asks_for(board, ai, tool):
    board.add_folder(ai)
    board.sync(embed=False)
    assert "it wants the secret" in question(board, tool)
    board.remove_source(board.sources()[0].name)
    signed_on(board, ai)
    assert question(board, tool) == ""


@pytest.mark.parametrize("tool", TOOLS.values())
@pytest.mark.parametrize(
    "forged",
    [
        {"permissions": (NETWORK,)},
        {"executor": {"entrypoint": "main.py", "env": {"BASH_ENV": "${AWS_SECRET_ACCESS_KEY}"}}},
    ],
)
def test_a_signature_does_not_vouch_for_what_a_board_says_beside_the_files(board, ai, tool, forged):
    signed_on(board, ai)
    item = board.show(tool).item
    board.store.items.put([item._replace(**forged)], None)
    assert board.show(tool).item.signature == item.signature
    assert "it wants " in question(board, tool)


def test_reading_the_project_needs_nobody_where_there_is_a_project(board, ai, monkeypatch):
    reader = ai / "tools/ops/reader.py"
    reader.write_text(
        HEADER.replace("read secret TOKEN", "read filesystem **") + "def run(): ...\n"
    )
    board.add_folder(ai)
    board.sync(embed=False)
    place = board.store.facts()["board"]
    assert question(board, "tools:ops:reader").endswith(
        "it wants to read **. It would be given: {}"
    )
    (ai.parent / "pegboard.toml").write_text("")
    monkeypatch.chdir(ai.parent)
    with Pegboard.open(place) as within:
        assert question(within, "tools:ops:reader") == ""


def test_a_signature_does_not_vouch_for_an_older_version(board, ai):
    signed_on(board, ai)
    manifest = ai / "tools/mail/post/tool.yaml"
    manifest.write_text(manifest.read_text().replace("1.0.0", "1.1.0"))
    sign(Keyring(keyring_folder()), item_at(manifest.parent, "public", 1 << 20), None, None)
    board.sync(embed=False)
    assert question(board, "tools:mail:post@1.1.0") == ""
    assert "it wants the secret POST_TOKEN" in question(board, "tools:mail:post@1.0.0")


def test_an_older_version_of_what_is_followed_can_be_asked_for(board, ai):
    board.add_folder(ai)
    board.sync(embed=False)
    directive = ai / "directives/deploy.md"
    text = directive.read_text()
    directive.write_text(text.replace("1.0.0", "2.0.0").replace("Build it", "Build it twice"))
    board.sync(embed=False)
    told = {v: board.call(f"directives::deploy@{v}", {}) for v in ("1.0.0", "2.0.0")}
    assert {each.outcome for each in told.values()} == {Outcome.OK}
    assert ["twice" in each.structured["text"] for each in told.values()] == [False, True]
