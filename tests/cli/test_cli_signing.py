"""Keys, sign and verify as a user has them, on a real board."""

import json
import os
import stat

import pytest

from making_signed import ITEMS, SIDE_FILES, flip, write_items
from pegboard.config.places import keyring_folder

RELEASE = ".ai/tools/ops/release.py"


@pytest.fixture
def ai(desk):
    return write_items(desk / ".ai")


@pytest.fixture
def ada(pegboard):
    """A key of one's own; its facts."""
    made = pegboard("keys", "new", "ada", "--json")
    assert made.code == 0
    return made.json


@pytest.fixture
def signed(pegboard, ai, ada):
    for item in ITEMS:
        assert pegboard("sign", f".ai/{item}").code == 0
    return ai


@pytest.fixture
def project(pegboard, signed):
    """A project's board with the signed items on it."""
    for command in (("init",), ("add", "folder", ".ai"), ("sync",)):
        assert pegboard(*command).code == 0
    return signed


def found(pegboard, *options):
    ran = pegboard("search", "release a new version", "--limit", "100", "--json", *options)
    return {hit["id"] for hit in ran.json["hits"]}


# Keys


def test_a_key_is_made_listed_and_handed_on(pegboard, ada):
    path = keyring_folder() / "keys" / "ada.key"
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    line = pegboard("keys", "export", "ada").out.strip()
    assert line == f"pegboard-ed25519 {ada['public_key']} ada"
    assert pegboard("keys", "export", "ada", "--json").json["public_key"] == line
    shown = pegboard("keys", "list").out
    assert f"ada  {ada['id']}\n    your own; trusted for all namespaces\n" == shown
    [listed] = pegboard("keys", "list", "--json").json["keys"]
    assert listed == ada
    assert "PRIVATE" not in json.dumps(listed)


def test_before_there_are_keys_the_list_says_how_to_make_one(pegboard):
    assert "pegboard keys new NAME" in pegboard("keys", "list").out
    assert pegboard("keys", "list", "--json").json["keys"] == []


def test_a_key_of_the_same_name_is_refused(pegboard, ada):
    ran = pegboard("keys", "new", "ada")
    assert (ran.code, "'ada'" in ran.err) == (2, True)


@pytest.mark.parametrize("name", ["../ada", "A", "a b", ""])
def test_odd_names_are_refused(pegboard, name):
    ran = pegboard("keys", "new", name)
    assert (ran.code, "no name of a key" in ran.err) == (2, True)
    assert not keyring_folder().exists()


def test_a_key_can_be_bounded_when_it_is_made(pegboard):
    made = pegboard("keys", "new", "ci", "--expires", "30d", "--namespace", "team/*", "--json").json
    assert made["namespaces"] == ["team/*"]
    assert made["valid_until"]
    assert "trusted for team/*; until 20" in pegboard("keys", "list").out


@pytest.mark.parametrize("way", ["words", "text", "file"])
def test_a_key_is_trusted_from_its_line_or_a_file_with_it(pegboard, ada, desk, monkeypatch, way):
    line = pegboard("keys", "export", "ada").out.strip()
    monkeypatch.setenv("XDG_DATA_HOME", str(desk / "other"))
    (desk / "ada.pub").write_text(f"{line}\n")
    key = {"words": line.split(), "text": [line], "file": ["ada.pub"]}[way]
    bounds = ("--namespace", "team/*", "--namespace", "mail")
    dates = ("--from", "2030-01-31", "--until", "2031-01-31T12:00:00Z")
    ran = pegboard("keys", "trust", *key, "--name", "ada-of-mail", *bounds, *dates)
    assert (ran.code, "pegboard sync" in ran.out) == (0, True)
    [listed] = pegboard("keys", "list", "--json").json["keys"]
    assert listed["id"] == ada["id"]
    assert (listed["name"], listed["own"]) == ("ada-of-mail", False)
    assert listed["namespaces"] == ["team/*", "mail"]
    assert (listed["valid_from"], listed["valid_until"]) == (
        "2030-01-31T00:00:00Z",
        "2031-01-31T12:00:00Z",
    )


def test_a_file_that_is_called_like_a_key_does_not_stand_in_for_it(
    pegboard, ada, desk, monkeypatch
):
    line = pegboard("keys", "export", "ada").out.strip()
    monkeypatch.setenv("XDG_DATA_HOME", str(desk / "evil"))
    assert pegboard("keys", "new", "eve").code == 0
    trap = desk / line
    trap.parent.mkdir(parents=True, exist_ok=True)  # base64 has slashes
    trap.write_text(pegboard("keys", "export", "eve").out)
    monkeypatch.setenv("XDG_DATA_HOME", str(desk / "other"))
    assert pegboard("keys", "trust", line, "--name", "ada", "--json").json["id"] == ada["id"]


def test_a_private_key_is_not_taken_for_a_public_one(pegboard, ada):
    path = str(keyring_folder() / "keys" / "ada.key")
    ran = pegboard("keys", "trust", path, "--name", "ada")
    assert (ran.code, "this is a private key" in ran.err) == (2, True)


@pytest.mark.parametrize("key", ["nonsense", "pegboard-ed25519 AAAA x", "."])
def test_what_is_no_public_key_is_refused(pegboard, key):
    assert pegboard("keys", "trust", key, "--name", "x").code == 2


def test_a_revoked_key_is_shown_with_time_and_reason(pegboard, ada):
    ran = pegboard("keys", "revoke", ada["id"], "--reason", "laptop lost")
    assert (ran.code, "pegboard sync" in ran.out) == (0, True)
    assert "your own; revoked at 20" in pegboard("keys", "list").out
    assert "laptop lost" in pegboard("keys", "list").out
    line = pegboard("keys", "export", "ada").out.strip()
    again = pegboard("keys", "trust", line, "--name", "ada")
    assert (again.code, "was revoked" in again.err) == (2, True)
    assert pegboard("keys", "revoke", "nobody").code == 2


@pytest.mark.skipif(os.name == "nt", reason="rights are not in the mode")
def test_a_key_file_that_others_can_read_is_refused_with_the_command_to_run(pegboard, ai, ada):
    path = keyring_folder() / "keys" / "ada.key"
    path.chmod(0o644)
    ran = pegboard("sign", RELEASE)
    assert (ran.code, f"chmod 600 {path}" in ran.err) == (3, True)
    assert "open to others" in pegboard("keys", "list").out
    assert not list(ai.rglob("*.sig"))


def test_a_damaged_list_is_an_error_of_every_command_that_needs_it(pegboard, project):
    (keyring_folder() / "trusted.json").write_text("[]")
    for command in (("keys", "list"), ("verify", RELEASE), ("sync",), ("sign", RELEASE)):
        ran = pegboard(*command)
        assert (ran.code, "trusted.json is damaged" in ran.err) == (3, True)
    assert pegboard("search", "release").code == 0


# Sign and verify


def test_items_are_signed_and_verified_by_path(pegboard, signed, ada):
    for item, side in SIDE_FILES.items():
        assert (signed / side).exists()
        ran = pegboard("verify", f".ai/{item}")
        assert (ran.code, ran.out.splitlines()[0]) == (0, "state      trusted")
        assert f"ada ({ada['id']})" in ran.out
    told = pegboard("verify", RELEASE, "--json").json
    assert (told["state"], told["signer"], told["expires_at"]) == ("trusted", ada["id"], "")


def test_signing_says_what_was_signed_and_where(pegboard, ai, ada):
    ran = pegboard("sign", RELEASE, "--expires", "7d")
    assert ran.code == 0
    assert f"signed tool release in public: {RELEASE}" in ran.out
    assert "release.py.sig by ada" in ran.out
    told = pegboard("sign", RELEASE, "--expires", "1w", "--json").json
    assert told["file"].endswith("release.py.sig")
    assert told["signed_at"] < told["expires_at"]
    assert "until" in pegboard("verify", RELEASE).out


def test_without_a_key_signing_says_how_to_make_one(pegboard, ai):
    ran = pegboard("sign", RELEASE)
    assert (ran.code, "pegboard keys new NAME" in ran.err) == (2, True)


def test_of_several_keys_one_is_named(pegboard, ai, ada):
    assert pegboard("keys", "new", "work").code == 0
    ran = pegboard("sign", RELEASE)
    assert (ran.code, "which key? ada, work" in ran.err) == (2, True)
    assert pegboard("sign", RELEASE, "--key", "work").code == 0
    assert "work (" in pegboard("verify", RELEASE).out


def test_a_signature_is_for_a_namespace(pegboard, ai, ada):
    assert pegboard("sign", RELEASE, "--namespace", "team/ops").code == 0
    assert pegboard("verify", RELEASE).code == 0
    ran = pegboard("verify", RELEASE, "--namespace", "public")
    assert (ran.code, "signed as 'tool' 'tools:ops:release' in 'team/ops'" in ran.err) == (12, True)
    assert pegboard("sign", RELEASE, "--namespace", "Team").code == 2


@pytest.mark.parametrize(
    ("break_it", "state"),
    [
        (lambda side, _: side.unlink(), "unsigned"),
        (lambda side, _: side.write_text("{}"), "invalid"),
        (lambda side, _: flip(side.with_name("release.py")), "changed"),
        (lambda _, pegboard: pegboard("keys", "revoke", "ada"), "revoked"),
        (lambda _, pegboard: (keyring_folder() / "trusted.json").unlink(), "unknown signer"),
    ],
)
def test_verify_says_what_is_wrong_by_words_and_exit_code(pegboard, signed, break_it, state):
    break_it(signed / SIDE_FILES["tools/ops/release.py"], pegboard)
    ran = pegboard("verify", RELEASE)
    assert (ran.code, ran.out.splitlines()[0]) == (12, f"state      {state}")
    assert "error: " in ran.err
    told = pegboard("verify", RELEASE, "--json")
    assert (told.code, told.json["state"]) == (12, state)
    assert json.loads(told.err)["error"]["code"] == "not_trusted"


def test_verify_of_nothing_says_that_there_is_nothing(pegboard, project):
    assert pegboard("verify", "tools:ops:nothing").code == 7


@pytest.mark.parametrize("lose", [flip, lambda path: path.unlink()])
def test_what_was_refused_or_is_gone_is_not_said_to_be_trusted(pegboard, project, lose):
    lose(project / "tools/ops/release.py")
    assert pegboard("sync").code == 0
    ran = pegboard("verify", "tools:ops:release")
    assert (ran.code, ran.out) == (12, "")
    assert "is no longer on the board" in ran.err


def test_an_id_is_verified_in_the_namespace_it_has(pegboard, project):
    ran = pegboard("verify", "tools:ops:release", "--namespace", "team")
    assert (ran.code, "--namespace is for a path" in ran.err) == (2, True)


# The whole way


def test_a_signed_item_is_found_until_one_byte_of_it_changes(pegboard, project):
    ran = pegboard("verify", "tools:ops:release")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "state      trusted")
    assert "signature  trusted by ed25519:" in pegboard("show", "tools:ops:release").out
    assert "tools:ops:release" in found(pegboard)

    flip(project / "tools/ops/release.py")
    assert "refused: 1 (signature_changed 1)" in pegboard("sync").out
    refused = pegboard("rejections").out
    assert "tools/ops/release.py  signature_changed" in refused
    assert "'release.py' changed since it was signed" in refused
    assert found(pegboard) == set(ITEMS.values()) - {"tools:ops:release"}

    assert pegboard("sign", RELEASE).code == 0
    assert "refused" not in pegboard("sync").out
    assert found(pegboard) == set(ITEMS.values())


def test_where_signatures_are_required_unsigned_items_are_nowhere(
    pegboard, ai, ada, monkeypatch, desk
):
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_PROJECT", "require")
    for command in (("init",), ("add", "folder", ".ai")):
        assert pegboard(*command).code == 0
    synced = pegboard("sync")
    assert f"refused: {len(ITEMS)} (unsigned {len(ITEMS)})" in synced.out
    assert pegboard("search", "release", "--threshold", "0").code == 1
    status = pegboard("status", "--json").json
    assert (status["embeddings"]["total"], status["waiting"]) == (0, 0)
    assert pegboard("sign", RELEASE).code == 0
    pegboard("sync")
    assert found(pegboard) == {"tools:ops:release"}


def test_a_revoked_key_takes_along_what_it_signed(pegboard, project):
    assert pegboard("keys", "revoke", "ada", "--reason", "lost").code == 0
    assert "signer_revoked 5" in pegboard("sync").out
    assert pegboard("search", "release", "--threshold", "0").code == 1
    assert pegboard("keys", "new", "new").code == 0
    for item in ITEMS:
        assert pegboard("sign", f".ai/{item}", "--key", "new").code == 0
    pegboard("sync")
    assert found(pegboard) == set(ITEMS.values())


def test_a_board_in_postgres_asks_for_signatures(pegboard, signed, postgres_url):
    there = ("--board", postgres_url)
    (signed / "knowledge/vectors.md.sig").unlink()
    assert pegboard("add", "folder", ".ai", *there).code == 0
    assert "refused: 1 (unsigned 1)" in pegboard("sync", *there).out
    assert found(pegboard, *there) == set(ITEMS.values()) - {"knowledge::vectors"}
    assert pegboard("verify", "skills::pdf", *there).code == 0


def test_a_board_of_ones_own_has_a_policy_of_its_own(pegboard, ai, desk, monkeypatch):
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_USER", "require")
    own = ("--board", str(desk / "own.db"))
    for command in (("init", *own), ("add", "folder", ".ai", *own)):
        assert pegboard(*command).code == 0
    assert "unsigned 5" in pegboard("sync", *own).out
    assert pegboard("init").code == 0  # and so the board is one of a project
    assert "unsigned" not in pegboard("sync", *own).out


@pytest.mark.parametrize("way", ["setting", "link"])
@pytest.mark.parametrize("asks", ["project", "user"])
def test_a_project_may_not_choose_what_is_asked_of_it_by_the_place_of_its_board(
    pegboard, ai, desk, tmp_path, monkeypatch, way, asks
):
    monkeypatch.setenv(f"PEGBOARD_TRUST_SIGNATURES_{asks.upper()}", "require")
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk / "pegboard.toml").write_text(f"board = '{outside / 'board.db'}'\n")
    if way == "link":
        (desk / "pegboard.toml").write_text("")
        (desk / ".pegboard").symlink_to(outside)
    assert pegboard("init").code == 0
    assert pegboard("add", "folder", ".ai").code == 0
    assert "unsigned 5" in pegboard("sync").out
    assert (outside / "board.db").exists()


def test_a_project_may_not_say_what_is_asked_of_it(pegboard, desk):
    assert pegboard("init").code == 0
    (desk / "pegboard.toml").write_text('[trust]\nsignatures_project = "off"\n')
    ran = pegboard("status")
    assert (ran.code, "may not set trust.signatures_project" in ran.err) == (3, True)
