"""Keys and trusted signers on a real disk."""

import base64
import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from pegboard.board.trust.keyring import Keyring, public_key
from pegboard.errors import KeyUnusable, UsageError
from pegboard.gate.side_files import key_id
from pegboard.gate.signatures import TrustedKey

WHEN = "2030-01-31T12:00:00Z"
needs_modes = pytest.mark.skipif(os.name == "nt", reason="rights are not in the mode")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "data" / "pegboard"


@pytest.fixture
def keyring(home):
    return Keyring(home)


def some_key(name="bob", **fields):
    public = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    return TrustedKey(key_id(public), name, public, **fields)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# Own keys


def test_a_new_key_is_private_to_its_owner_and_trusted(keyring, home):
    key = keyring.new("ada")
    path = home / "keys" / "ada.key"
    if os.name != "nt":
        assert (mode(path), mode(path.parent)) == (0o600, 0o700)
        assert mode(keyring.list) == 0o600
    assert path.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")
    assert keyring.names() == ["ada"]
    assert keyring.trusted() == {key.id: key}
    assert key.allows("public")
    assert keyring.private("ada").public_key().public_bytes_raw() == key.public_key


def test_the_umask_makes_a_key_no_more_open(keyring, home):
    before = os.umask(0)
    try:
        keyring.new("ada")
    finally:
        os.umask(before)
    assert [mode(each) & 0o077 for each in (home / "keys" / "ada.key", keyring.list)] == [0, 0]


def test_a_key_is_never_overwritten(keyring, home):
    keyring.new("ada")
    path = home / "keys" / "ada.key"
    before = path.read_bytes()
    with pytest.raises(UsageError, match="'ada'"):
        keyring.new("ada")
    keyring.list.unlink()
    with pytest.raises(UsageError, match="there is a key 'ada' already"):
        keyring.new("ada")
    assert path.read_bytes() == before
    assert keyring.trusted() == {}


@pytest.mark.parametrize(
    "name", ["", "../ada", "a/b", ".ada", "Ada", "a b", "ada\n", "\u00e4", "x" * 64]
)
def test_odd_names_are_refused_before_anything_is_written(keyring, home, name):
    with pytest.raises(UsageError, match="no name of a key"):
        keyring.new(name)
    assert not home.exists()
    with pytest.raises(UsageError, match="no name of a key"):
        keyring.trust(some_key(name))


@needs_modes
@pytest.mark.parametrize("wrong", [0o644, 0o640, 0o604, 0o620, 0o601])
def test_a_key_that_others_can_reach_is_refused_with_the_way_out(keyring, home, wrong):
    keyring.new("ada")
    path = home / "keys" / "ada.key"
    path.chmod(wrong)
    with pytest.raises(KeyUnusable, match="open to others") as raised:
        keyring.private("ada")
    assert raised.value.hint == f"run: chmod 600 {path}"
    path.chmod(0o600)
    assert keyring.private("ada")


@needs_modes
def test_a_list_that_others_can_reach_is_refused(keyring):
    keyring.new("ada")
    keyring.list.chmod(0o666)
    with pytest.raises(KeyUnusable, match="open to others"):
        keyring.trusted()


@needs_modes
def test_a_link_is_refused_wherever_it_leads(keyring, home, tmp_path):
    keyring.new("ada")
    for path in (home / "keys" / "ada.key", keyring.list):
        real = tmp_path / path.name
        path.rename(real)
        path.symlink_to(real)
    with pytest.raises(KeyUnusable, match="symbolic link"):
        keyring.private("ada")
    with pytest.raises(KeyUnusable, match="symbolic link"):
        keyring.trusted()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can")
def test_a_key_of_another_user_is_refused(keyring, home):
    keyring.new("ada")
    os.chown(home / "keys" / "ada.key", 12345, -1)
    with pytest.raises(KeyUnusable, match="belongs to another user"):
        keyring.private("ada")


@needs_modes
def test_a_pipe_in_the_place_of_a_key_keeps_nobody_waiting(keyring, home):
    keyring.new("ada")
    path = home / "keys" / "ada.key"
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(KeyUnusable, match="is no file"):
        keyring.private("ada")


def other_kind():
    return X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 100, other_kind()])
def test_a_file_that_is_no_such_key_is_an_error_that_names_it(keyring, home, content):
    keyring.new("ada")
    path = home / "keys" / "ada.key"
    path.write_bytes(content)
    with pytest.raises(KeyUnusable, match=r"ada\.key"):
        keyring.private("ada")


def test_the_only_key_is_the_one_to_sign_with(keyring):
    with pytest.raises(UsageError, match="no key to sign with"):
        keyring.chosen(None)
    keyring.new("ada")
    assert keyring.chosen(None) == "ada"
    keyring.new("work")
    with pytest.raises(UsageError, match="which key"):
        keyring.chosen(None)
    assert keyring.chosen("work") == "work"
    with pytest.raises(UsageError, match="no key 'bob'") as raised:
        keyring.chosen("bob")
    assert raised.value.hint == "known: ada, work"


def test_a_revoked_key_is_none_to_sign_with(keyring):
    keyring.new("ada")
    keyring.new("work")
    keyring.revoke("ada", "laptop lost", WHEN)
    assert keyring.chosen(None) == "work"
    keyring.revoke("work", "", WHEN)
    with pytest.raises(UsageError, match="no key to sign with"):
        keyring.chosen(None)


# Trusted keys


def test_a_public_key_goes_from_one_person_to_another(keyring, tmp_path):
    key = keyring.new("ada")
    line = keyring.public_line("ada")
    assert public_key(line) == public_key(f"\n {line}\r\n") == key.public_key
    assert public_key(line.split()[1]) == key.public_key
    other = Keyring(tmp_path / "other")
    other.trust(TrustedKey(key.id, "ada-of-mail", public_key(line), ("mail/*",)))
    assert other.trusted()[key.id].namespaces == ("mail/*",)


def test_a_private_key_is_refused_as_a_public_one(keyring, home):
    keyring.new("ada")
    with pytest.raises(UsageError, match="private key"):
        public_key((home / "keys" / "ada.key").read_text())


@pytest.mark.parametrize("text", ["", "x", "pegboard-ed25519", "pegboard-ed25519 AAAA bob", "é"])
def test_what_is_no_public_key_is_refused(text):
    with pytest.raises(UsageError, match="no public key"):
        public_key(text)


def test_trusting_a_key_again_replaces_its_bounds(keyring):
    key = some_key()
    keyring.trust(key)
    bounded = key._replace(namespaces=("team/*",), valid_until=WHEN)
    keyring.trust(bounded)
    assert keyring.trusted() == {key.id: bounded}


def test_a_name_is_for_one_key_and_a_key_has_one_name(keyring):
    key = some_key()
    keyring.trust(key)
    with pytest.raises(UsageError, match="'bob' is another key"):
        keyring.trust(some_key())
    with pytest.raises(UsageError, match="here already, as 'bob'"):
        keyring.trust(key._replace(name="robert"))
    with pytest.raises(UsageError, match="'bob' is another key"):
        keyring.new("bob")
    assert keyring.trusted() == {key.id: key}


@pytest.mark.parametrize("pattern", ["", "Team", "te*m", "/*", "a/b/c"])
def test_what_is_no_namespace_is_refused(keyring, pattern):
    with pytest.raises(UsageError, match="no namespace"):
        keyring.trust(some_key(namespaces=(pattern,)))


def test_a_key_cannot_end_before_it_begins(keyring):
    with pytest.raises(UsageError, match="cannot end"):
        keyring.trust(some_key(valid_from=WHEN, valid_until=WHEN))


def test_a_revoked_key_stays_in_the_list_and_is_never_trusted_again(keyring):
    key = some_key()
    keyring.trust(key)
    revoked = keyring.revoke("bob", "lost", WHEN)
    assert keyring.trusted() == {key.id: revoked}
    assert (revoked.revoked_at, revoked.reason) == (WHEN, "lost")
    with pytest.raises(UsageError, match="was revoked on 2030-01-31"):
        keyring.trust(key)
    assert keyring.revoke(key.id, "again", "2031-01-01T00:00:00Z") == revoked


def test_revoking_what_is_not_there_names_what_is(keyring):
    keyring.trust(some_key())
    with pytest.raises(UsageError, match="no key 'eve'") as raised:
        keyring.revoke("eve", "", WHEN)
    assert raised.value.hint == "known: bob"


def test_all_keys_are_listed_with_what_is_wrong_with_them(keyring, home):
    keyring.new("ada")
    keyring.trust(some_key())
    keyring.new("zoe")
    (home / "keys" / "zoe.key").write_bytes(b"nonsense")
    (home / "keys" / "new.key").write_bytes((home / "keys" / "ada.key").read_bytes())
    (home / "keys" / "new.key").chmod(0o600)
    found = {each.key.name: each for each in keyring.listed()}
    assert list(found) == ["ada", "bob", "new", "zoe"]
    assert [each.own for each in found.values()] == [True, False, True, True]
    assert (found["ada"].problem, found["bob"].problem) == ("", "")
    assert "not trusted" in found["new"].problem
    assert "zoe.key" in found["zoe"].problem


def test_another_key_under_the_name_of_a_trusted_one_is_not_its_own(keyring, home):
    keyring.new("ada")
    (home / "keys" / "bob.key").write_bytes((home / "keys" / "ada.key").read_bytes())
    (home / "keys" / "bob.key").chmod(0o600)
    keyring.trust(some_key())
    bob = next(each for each in keyring.listed() if each.key.name == "bob")
    assert not bob.own
    assert "another key of the same name" in bob.problem


# A list that somebody damaged, and many who write it


def damaged(**changes):
    key = some_key()
    public = base64.b64encode(key.public_key).decode()
    entry = {"name": "bob", "public_key": public, "namespaces": ["*"]} | changes
    return json.dumps({"pegboard": 1, "keys": [entry]})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"pegboard": 2, "keys": []}',
        '{"pegboard": 1}',
        '{"pegboard": 1, "keys": [1]}',
        '{"pegboard": 1, "keys": 1}',
        "[" * 100_000,
        damaged(public_key="x"),
        damaged(public_key=None),
        damaged(namespaces="*"),
        damaged(namespaces=[1]),
        damaged(namespaces=["?"]),
        damaged(name=1),
        damaged(name="../x"),
        damaged(valid_until="soon"),
        damaged(revoked_at=True),
    ],
)
def test_a_damaged_list_is_an_error_and_never_empty(keyring, text):
    keyring.new("ada")
    keyring.list.write_text(text)
    with pytest.raises(KeyUnusable, match=r"trusted\.json is damaged"):
        keyring.trusted()
    with pytest.raises(KeyUnusable, match=r"trusted\.json is damaged"):
        keyring.trust(some_key())
    assert keyring.list.read_text() == text


def test_a_key_that_is_in_the_list_twice_could_be_revoked_or_not(keyring):
    keyring.trust(some_key())
    said = json.loads(keyring.list.read_text())
    said["keys"] *= 2
    keyring.list.write_text(json.dumps(said))
    with pytest.raises(KeyUnusable, match="twice"):
        keyring.trusted()


def test_threads_that_trust_at_once_lose_no_key(keyring):
    wanted = [some_key(f"key{n}") for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(keyring.trust, wanted))
    assert keyring.trusted() == {key.id: key for key in wanted}


@pytest.mark.program
def test_processes_that_trust_at_once_lose_no_key(keyring, home):
    program = (
        "import sys; from pathlib import Path; from pegboard.board.trust.keyring import *;"
        "ring = Keyring(Path(sys.argv[1]));"
        "[ring.new(f'{sys.argv[2]}-{n}') for n in range(5)]"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(home), name])
        for name in ("ada", "bob", "eve")
    ]
    assert [each.wait(60) for each in running] == [0, 0, 0]
    assert len(keyring.trusted()) == len(keyring.names()) == 15
    assert sorted(path.name for path in home.iterdir()) == ["keys", "trusted.json", "trusted.lock"]


def test_what_a_killed_process_left_behind_is_in_nobodys_way(keyring, home):
    keyring.new("ada")
    (home / f".trusted.json.{os.getpid()}.new").write_text("half")
    keyring.new("bob")
    assert len(keyring.trusted()) == 2


@needs_modes
@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(keyring, home):
    home.mkdir(parents=True, mode=0o500)
    with pytest.raises(KeyUnusable, match="cannot be written"):
        keyring.new("ada")
