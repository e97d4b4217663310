"""Signing items in a folder, and what a board makes of that, on both stores."""

import json
import os
import shutil
import time

import pytest

from making_signed import FILES, ITEMS, OF_ITEM, SIDE_FILES, flip, write_items
from pegboard.app.pegboard import Pegboard
from pegboard.board.trust import signing
from pegboard.board.trust.keyring import Keyring
from pegboard.board.trust.signing import (
    Sealing,
    item_at,
    sign,
    signed_namespace,
    verify,
    verify_entry,
)
from pegboard.config.places import keyring_folder
from pegboard.config.settings import SIGNATURES, EmbedSettings, Settings, TrustSettings
from pegboard.errors import KeyUnusable, NotTrusted, UsageError
from pegboard.gate.side_files import moment
from pegboard.gate.signatures import Policy, State
from pegboard.model.items import Candidate, ItemId, LeftOut, Rejection, SourceRecord, Unchanged
from pegboard.serve.mcp.describing import describe_tool
from pegboard.store.opening import open_store

STORES = ("sqlite", "postgres")
LIMIT = 1 << 20


@pytest.fixture
def ai(tmp_path):
    return write_items(tmp_path / "project" / ".ai")


@pytest.fixture
def keyring():
    found = Keyring(keyring_folder())
    found.new("ada")
    return found


@pytest.fixture
def boards(place):
    """Opens the test's board under a policy; closes it afterwards."""
    opened = []

    def under(policy: str) -> Pegboard:
        settings = Settings(
            embed=EmbedSettings(provider="test"), trust=TrustSettings(signatures_user=policy)
        )
        opened.append(Pegboard(open_store(place, create=True), settings))
        return opened[-1]

    yield under
    for board in opened:
        board.close()


def found_at(ai, item="tools/ops/release.py", namespace="public"):
    return item_at(ai / item, namespace, LIMIT)


def sign_all(keyring, ai, **options):
    for item in ITEMS:
        sign(keyring, found_at(ai, item), options.get("key"), options.get("seconds"))


def synced(board, ai, *, full=False):
    if not board.sources():
        board.add_folder(ai)
    [report] = board.sync(full=full).sources
    return report


def on_board(board):
    return {entry.item.id for entry in board.store.items.page(0, 100) if entry.active}


def searchable(board, query="release a new version of the package"):
    found = board.search(query, threshold=0, limit=100)
    return {hit.id for hit in (*found.hits, *found.nearest)}


def codes(board):
    return {each.origin: each.code for each in board.rejections()}


def test_the_settings_know_every_policy():
    assert tuple(Policy) == SIGNATURES


# Finding and signing


@pytest.mark.parametrize("item", ITEMS)
def test_the_side_file_lies_beside_the_document(ai, keyring, item):
    done = sign(keyring, found_at(ai, item), None, None)
    assert done.side_file == ai / SIDE_FILES[item]
    assert done.verdict.state is State.TRUSTED
    assert verify(found_at(ai, item), keyring.trusted()).state is State.TRUSTED


@pytest.mark.parametrize("file", FILES)
def test_every_file_of_an_item_and_its_side_file_lead_to_the_item(ai, keyring, file):
    item = OF_ITEM[file]
    side = sign(keyring, found_at(ai, file), None, None).side_file
    assert side == ai / SIDE_FILES[item]
    assert found_at(ai, SIDE_FILES[item]).item == found_at(ai, item).item


def test_a_side_file_is_for_people_to_read_and_for_others_to_use(ai, keyring):
    path = sign(keyring, found_at(ai), None, 30).side_file
    said = json.loads(path.read_text())
    assert (said["id"], said["kind"], said["namespace"]) == ("tools:ops:release", "tool", "public")
    assert (said["algorithm"], said["signer_name"]) == ("ed25519", "ada")
    assert [each["path"] for each in said["files"]] == ["release.py"]
    assert said["signed_at"] < said["expires_at"] <= moment(time.time() + 30 * 86_400)
    if os.name != "nt":
        assert path.stat().st_mode & 0o044


def test_signing_again_replaces_the_signature_and_leaves_nothing_behind(ai, keyring):
    keyring.new("work")
    for key in ("ada", "work"):
        path = sign(keyring, found_at(ai), key, None).side_file
    assert json.loads(path.read_text())["signer_name"] == "work"
    assert sorted(each.name for each in path.parent.iterdir()) == ["release.py", "release.py.sig"]


def test_an_item_may_lie_in_a_folder_of_another_name(tmp_path, keyring):
    root = write_items(tmp_path / "handy")
    for item in ITEMS:
        assert sign(keyring, found_at(root, item), None, None).side_file == root / SIDE_FILES[item]


def test_the_scripts_of_a_skill_are_no_tools_wherever_the_skill_lies(tmp_path, keyring):
    root = write_items(tmp_path / "handy")
    assert found_at(root, "skills/pdf/scripts/fill.py").item.name == "pdf"


def test_a_project_may_be_a_skill_and_have_items_in_its_ai_folder(ai, keyring):
    for name in ("SKILL.md", "tool.yaml"):
        (ai.parent / name).write_text("")
    for item, item_id in ITEMS.items():
        assert found_at(ai, item).item.id == item_id


def test_a_folder_above_may_be_called_like_a_layout(tmp_path, keyring):
    root = write_items(tmp_path / "knowledge" / "tools" / ".ai")
    assert found_at(root).item.id == "tools:ops:release"


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("nowhere.py", "there is no file"),
        ("tools", "is no item"),
        ("tools/ops", "is no item"),
        ("notes.txt", "lies in none of"),
        ("tools/README.md", "is no item"),
        ("tools/ops/empty.py", "is no item: the file has no docstring"),
        ("tools/bad/tool.yaml", "would be refused"),
    ],
)
def test_what_is_no_item_cannot_be_signed(ai, keyring, path, complaint):
    for name in ("notes.txt", "tools/README.md", "tools/ops/empty.py", "tools/bad/tool.yaml"):
        (ai / name).parent.mkdir(exist_ok=True)
        (ai / name).write_text("x = 1\n")
    with pytest.raises(UsageError, match=complaint):
        sign(keyring, found_at(ai, path), None, None)
    assert not list(ai.rglob("*.sig"))


def test_a_key_that_is_no_longer_good_writes_nothing(ai, keyring):
    keyring.revoke("ada", "lost", moment(time.time()))
    with pytest.raises(UsageError, match="no key to sign with: ada was revoked"):
        sign(keyring, found_at(ai), None, None)
    with pytest.raises(NotTrusted, match="was not written: the key 'ada' was revoked"):
        sign(keyring, found_at(ai), "ada", None)
    keyring.new("old", valid_until="2000-01-01T00:00:00Z")
    with pytest.raises(NotTrusted, match="only until 2000"):
        sign(keyring, found_at(ai), "old", None)
    keyring.new("mail", ("mail/*",))
    with pytest.raises(NotTrusted, match="not trusted for namespace 'public'"):
        sign(keyring, found_at(ai), "mail", None)
    assert not list(ai.rglob("*.sig"))
    assert sign(keyring, found_at(ai, namespace="mail/post"), "mail", None)


def test_a_key_that_is_not_in_the_list_signs_and_is_said_to_be_unknown(ai, keyring):
    keyring.list.unlink()
    done = sign(keyring, found_at(ai), None, None)
    assert done.verdict.state is State.UNKNOWN
    assert done.side_file.exists()


def test_the_namespace_that_a_signature_is_for_can_be_read_from_it(ai, keyring):
    assert signed_namespace(found_at(ai)) == "public"
    sign(keyring, found_at(ai, namespace="team/ops"), None, None)
    assert signed_namespace(found_at(ai)) == "team/ops"
    assert verify(found_at(ai), keyring.trusted()).state is State.INVALID
    assert verify(found_at(ai, namespace="team/ops"), keyring.trusted()).state is State.TRUSTED


# On a board


def test_signed_items_are_admitted_where_that_is_required(boards, ai, keyring):
    sign_all(keyring, ai)
    board = boards("require")
    assert synced(board, ai).added == len(ITEMS)
    for item_id in ITEMS.values():
        entry = board.show(item_id)
        assert entry.item.signature is not None
        assert entry.item.signature.state == "trusted"
        assert verify_entry(entry, keyring.trusted()).state is State.TRUSTED


def test_unsigned_items_are_refused_where_that_is_required(boards, ai, keyring):
    board = boards("require")
    report = synced(board, ai)
    assert report.rejected == {"unsigned": len(ITEMS)}
    assert codes(board) == dict.fromkeys(ITEMS, "unsigned")
    assert (on_board(board), searchable(board)) == (set(), set())
    assert board.store.tasks.waiting(board.target) == 0


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("file", FILES)
def test_one_byte_in_any_file_takes_its_item_off_the_board_with_the_reason(
    boards, ai, keyring, file, policy
):
    sign_all(keyring, ai)
    board = boards(policy)
    synced(board, ai)
    flip(ai / file)
    item = OF_ITEM[file]
    assert synced(board, ai).rejected == {"signature_changed": 1}
    [rejection] = board.rejections()
    inside = file.removeprefix(f"{item}/") if file != item else file.rpartition("/")[2]
    assert rejection.origin == item
    assert f"'{inside}' changed since it was signed" in rejection.reason
    assert on_board(board) == set(ITEMS.values()) - {ITEMS[item]}
    assert ITEMS[item] not in searchable(board)


@pytest.mark.skipif(os.name == "nt", reason="there is no such bit")
@pytest.mark.parametrize("file", FILES)
def test_a_file_that_becomes_executable_is_noticed(boards, ai, keyring, file):
    sign_all(keyring, ai)
    board = boards("off")
    synced(board, ai)
    (ai / file).chmod(0o755)
    assert synced(board, ai).rejected == {"signature_changed": 1}
    assert "can be executed" in board.rejections()[0].reason


def test_files_that_come_go_or_change_places_are_noticed(boards, ai, keyring):
    sign_all(keyring, ai)
    board = boards("off")
    synced(board, ai)
    post, pdf = ai / "tools/mail/post", ai / "skills/pdf/scripts"
    (post / "extra.py").write_text("pass\n")
    (pdf / "fill.py").rename(pdf / "filled.py")
    synced(board, ai)
    reasons = {each.origin: each.reason for each in board.rejections()}
    assert "'extra.py' was added" in reasons["tools/mail/post"]
    assert "'scripts/fill.py' was signed and is gone" in reasons["skills/pdf"]
    (post / "extra.py").unlink()
    (pdf / "filled.py").rename(pdf / "fill.py")
    synced(board, ai)
    assert (codes(board), on_board(board)) == ({}, set(ITEMS.values()))


@pytest.mark.parametrize("policy", Policy)
def test_a_signature_is_not_good_for_a_copy_of_another_name(boards, ai, keyring, policy):
    sign_all(keyring, ai)
    for end in ("", ".sig"):
        shutil.copy(ai / f"tools/ops/release.py{end}", ai / f"tools/ops/publish.py{end}")
    board = boards(policy)
    synced(board, ai)
    assert codes(board)["tools/ops/publish.py"] in ("signature_changed", "signature_invalid")
    assert on_board(board) == set(ITEMS.values())


@pytest.mark.parametrize("policy", Policy)
def test_a_signature_is_not_good_for_an_item_of_the_same_name_in_another_category(
    boards, ai, keyring, policy
):
    there = ai / "tools/dangerous"
    there.mkdir()
    (there / "release.py").write_text('"""Release everything that is caged."""\n')
    sign_all(keyring, ai)
    sign(keyring, found_at(ai, "tools/dangerous/release.py"), None, None)
    board = boards(policy)
    assert synced(board, ai).added == len(ITEMS) + 1
    for end in ("", ".sig"):
        shutil.copy(there / f"release.py{end}", ai / f"tools/ops/release.py{end}")
    assert synced(board, ai).rejected == {"signature_invalid": 1}
    assert "tools:ops:release" not in on_board(board)
    assert "signed as 'tool' 'tools:dangerous:release'" in board.rejections()[0].reason


def test_a_signature_for_another_namespace_is_not_good_here(boards, ai, keyring):
    sign_all(keyring, ai)
    board = boards("off")
    board.add_folder(ai, namespace="team")
    board.sync()
    assert set(codes(board).values()) == {"signature_invalid"}
    assert on_board(board) == set()


@pytest.mark.parametrize("side", [b"nonsense", b"{}", b"[" * 200_000, b"\xff" * 50])
def test_a_side_file_that_is_nonsense_is_refused_under_every_policy(boards, ai, keyring, side):
    (ai / "tools/ops/release.py.sig").write_bytes(side)
    board = boards("off")
    synced(board, ai)
    assert codes(board) == {"tools/ops/release.py": "signature_invalid"}


def test_what_is_not_trusted_is_marked_where_that_is_only_warned_of(boards, ai, keyring):
    sign(keyring, found_at(ai), None, None)
    keyring.list.unlink()
    board = boards("warn")
    assert synced(board, ai).added == len(ITEMS)
    notes = {hit.id: hit.notes for hit in board.search("release", threshold=0, limit=100).hits}
    assert set(notes.values()) == {("signature not trusted",)}
    states = {
        item_id: signature.state
        for item_id in ITEMS.values()
        if (signature := board.show(item_id).item.signature)
    }
    told = describe_tool(board, {"name": "tools:ops:release"}).structured_content
    assert told["tools"][0]["notes"] == ["its signature is not trusted: unknown signer"]
    assert states.pop("tools:ops:release") == "unknown signer"
    assert set(states.values()) == {"unsigned"}


def test_unsigned_items_pass_without_a_word_where_signatures_are_off(boards, ai):
    board = boards("off")
    assert synced(board, ai).added == len(ITEMS)
    assert all(entry.item.signature is None for entry in board.store.items.page(0, 100))
    assert board.search("release", threshold=0).hits[0].notes == ()


def test_tools_that_cannot_be_signed_pass_wherever_signatures_are_required(boards, folder):
    board = boards("require")
    board.add_folder(folder.root)
    [report] = board.sync().sources
    assert (report.added, report.rejected.total()) == (6, 0)


# When trust changes


def test_a_sync_notices_a_revoked_key_though_no_file_changed(boards, ai, keyring):
    sign_all(keyring, ai)
    board = boards("off")
    synced(board, ai)
    assert synced(board, ai).unchanged == len(ITEMS)
    keyring.revoke("ada", "lost", moment(time.time()))
    assert synced(board, ai).rejected == {"signer_revoked": len(ITEMS)}
    assert (on_board(board), searchable(board)) == (set(), set())
    assert synced(board, ai).rejected == {"signer_revoked": len(ITEMS)}


def test_a_sync_notices_a_key_that_is_trusted_now(boards, ai, keyring):
    sign_all(keyring, ai)
    [key] = keyring.trusted().values()
    keyring.list.unlink()
    board = boards("require")
    assert synced(board, ai).rejected == {"signer_unknown": len(ITEMS)}
    keyring.trust(key)
    assert synced(board, ai).added == len(ITEMS)
    assert (codes(board), on_board(board)) == ({}, set(ITEMS.values()))


def test_a_sync_notices_a_stricter_policy_and_a_milder_one(boards, ai):
    synced(boards("off"), ai)
    board = boards("require")
    assert synced(board, ai).rejected == {"unsigned": len(ITEMS)}
    assert on_board(board) == set()
    board = boards("off")
    synced(board, ai)
    assert on_board(board) == set(ITEMS.values())


def test_judging_anew_writes_and_embeds_nothing_that_stays_as_it_was(boards, ai, keyring):
    sign_all(keyring, ai)
    board = boards("require")
    synced(board, ai)
    before = {entry.item.id: entry.updated_at for entry in board.store.items.page(0, 100)}
    keyring.new("other")
    outcome = board.sync()
    assert outcome.sources[0].unchanged == len(ITEMS)
    assert (outcome.work.embedded, outcome.waiting) == (0, 0)
    after = {entry.item.id: entry.updated_at for entry in board.store.items.page(0, 100)}
    assert after == before


def test_a_signature_that_ends_takes_its_item_along_though_no_file_changed(
    boards, ai, keyring, monkeypatch
):
    sign_all(keyring, ai)
    sign(keyring, found_at(ai), None, 86_400)
    board = boards("require")
    assert synced(board, ai).added == len(ITEMS)
    monkeypatch.setattr(signing, "time", Clock(time.time() + 2 * 86_400))
    assert synced(board, ai).rejected == {"signature_expired": 1}
    assert "tools:ops:release" not in on_board(board)


def test_a_signature_that_has_yet_to_begin_is_looked_at_again(boards, ai, keyring, monkeypatch):
    with monkeypatch.context() as tomorrow:
        tomorrow.setattr(signing, "time", Clock(time.time() + 86_400))
        sign_all(keyring, ai)
    board = boards("require")
    assert synced(board, ai).rejected == {"signature_early": len(ITEMS)}
    monkeypatch.setattr(signing, "time", Clock(time.time() + 86_400))
    assert synced(board, ai).added == len(ITEMS)


@pytest.mark.parametrize("policy", ["warn", "off"])
def test_an_item_is_marked_no_longer_than_its_signature_has_yet_to_begin(
    boards, ai, keyring, monkeypatch, policy
):
    with monkeypatch.context() as tomorrow:
        tomorrow.setattr(signing, "time", Clock(time.time() + 86_400))
        sign_all(keyring, ai)
    board = boards(policy)
    synced(board, ai)
    assert states(board) == {"not yet valid"}
    monkeypatch.setattr(signing, "time", Clock(time.time() + 86_400))
    synced(board, ai)
    assert states(board) == {"trusted"}


def states(board):
    signatures = (entry.item.signature for entry in board.store.items.page(0, 100))
    return {each.state for each in signatures if each}


class Clock:
    def __init__(self, seconds):
        self.seconds = seconds

    def time(self):
        return self.seconds


def test_a_list_that_cannot_be_read_stops_folders_and_nothing_else(boards, ai, folder, keyring):
    keyring.list.write_text("damaged")
    board = boards("off")
    board.add_folder(folder.root)
    assert board.sync().sources[0].added == 6
    with pytest.raises(KeyUnusable, match=r"trusted\.json is damaged"):
        board.add_folder(ai)
        board.sync()
    assert len(on_board(board)) == 6


@pytest.mark.parametrize("change", ["id", "value", "file"])
def test_what_is_on_the_board_is_verified_against_what_was_signed(boards, ai, keyring, change):
    sign_all(keyring, ai)
    board = boards("require")
    synced(board, ai)
    entry = board.show("tools:mail:post")
    item, version = entry.item, entry.item.version
    assert version is not None
    assert item.signature is not None
    other = board.show("skills::pdf").item.signature
    assert other is not None
    tampered = {
        "id": item._replace(id=ItemId("tools:mail:sent")),
        "value": item._replace(signature=item.signature._replace(value=other.value)),
        "file": item._replace(version=version._replace(files=version.files[:1])),
    }[change]
    assert verify_entry(entry._replace(item=tampered), keyring.trusted()).state is State.CHANGED


def test_what_came_without_signature_is_unsigned_on_the_board(boards, ai):
    board = boards("off")
    synced(board, ai)
    assert verify_entry(board.show("skills::pdf"), {}).state is State.UNSIGNED


# The source that goes with it


class Listed:
    """A source that knows one file, and says when it was asked about it as known."""

    def scan(self, known, under=()):
        if known.get("a") == "hash":
            yield Unchanged("a")
        else:
            yield Candidate("s", "a", "hash", {})
        yield Rejection("s", "b", "", "unreadable", "why")
        yield Rejection("s", "c", "hash", "no_docstring", "why")
        yield LeftOut("d", "private")


def test_hashes_are_kept_with_a_mark_and_hold_only_with_it(keyring):
    record = SourceRecord("s", "folder", "/somewhere")
    source = Sealing(keyring, Policy.OFF).marked(record, Listed())
    known = {
        each.origin: each.origin_hash
        for each in source.scan({})
        if isinstance(each, Candidate | Rejection)
    }
    assert known["a"] == known["c"]
    assert known["a"].endswith(":hash")
    assert known["b"] == ""
    assert next(source.scan(known)) == Unchanged("a")
    stricter = Sealing(keyring, Policy.REQUIRE).marked(record, Listed())
    assert isinstance(next(stricter.scan(known)), Candidate)
    assert isinstance(next(source.scan({"a": "hash"})), Candidate)


@pytest.mark.parametrize("kind", ["pytools", "jsonl", "openapi"])
def test_sources_without_documents_are_left_as_they_are(keyring, kind):
    source = Listed()
    assert Sealing(keyring, Policy.REQUIRE).marked(SourceRecord("s", kind, "/x"), source) is source
