"""Items of a project that come along to the user's own board."""

import json

import pytest
from tier_parts import Desk, command

from making_signed import FILES, ITEMS
from pegboard.app.pegboard import Pegboard, located
from pegboard.board.create.drafts import draft_of
from pegboard.tiers import open_user

MANIFEST = {
    "tool_id": "shout",
    "tool_type": "python",
    "version": "1.0.0",
    "description": "Say something loudly.",
    "category": "made",
    "executor_config": {"entrypoint": "main.py"},
}


@pytest.fixture
def home(desk: Desk):
    for path, text in FILES.items():
        file = desk.project / ".ai" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert command("rebuild").returncode == 0
    return located().settings.data_folder / "ai"


def users():
    with open_user(located()) as board:
        return sorted(entry.item.id for entry in board.listed())


def copied(*args, code=0):
    ran = command("sync-user", *args, "--json")
    assert ran.returncode == code, ran.stderr
    return {each["id"]: each["state"] for each in json.loads(ran.stdout)["items"]}


def test_items_of_every_kind_are_copied_with_all_their_files(home, desk):
    assert copied("--all") == dict.fromkeys(ITEMS.values(), "copied")
    assert users() == sorted(ITEMS.values())
    for path, text in FILES.items():
        assert (home / path).read_text() == text
    assert copied("--all") == dict.fromkeys(ITEMS.values(), "unchanged")


def test_only_what_is_chosen_is_copied_and_follows_its_project(home, desk):
    assert copied("release") == {"tools:ops:release": "copied"}
    assert users() == ["tools:ops:release"]
    file = desk.project / ".ai" / "tools" / "ops" / "release.py"
    file.write_text(FILES["tools/ops/release.py"].replace("return version", "return version * 2"))
    assert copied("release") == {"tools:ops:release": "updated"}
    assert (home / "tools/ops/release.py").read_text() == file.read_text()


@pytest.mark.parametrize("path", ["tools/ops/release.py", "tools/mail/post/main.py"])
def test_what_was_changed_there_by_hand_is_left_unless_forced(home, path):
    name = "post" if "post" in path else "release"
    copied(name)
    (home / path).write_text("# mine\n" + FILES[path])
    assert set(copied(name, code=_refused_code()).values()) == {"refused"}
    assert (home / path).read_text().startswith("# mine")
    assert set(copied(name, "--force").values()) == {"updated"}
    assert (home / path).read_text() == FILES[path]


def _refused_code():
    from pegboard.errors import EXIT_CODES, SourceError

    return EXIT_CODES[SourceError]


def test_what_is_refused_is_not_left_lying_there(home, monkeypatch):
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_USER", "require")
    assert copied("release", code=_refused_code()) == {"tools:ops:release": "refused"}
    assert not (home / "tools").exists()


def test_a_signature_comes_along(home, desk, monkeypatch):
    assert command("keys", "new", "ada").returncode == 0
    assert command("sign", ".ai/tools/ops/release.py").returncode == 0
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_USER", "require")
    assert copied("release") == {"tools:ops:release": "copied"}
    with open_user(located()) as board:
        assert board.show("release").item.signature.state == "trusted"


def test_what_was_made_on_the_board_comes_along_as_files(home):
    with Pegboard.open() as board:
        board.create(draft_of(MANIFEST, {"main.py": "print('oh')"}), anyway=True)
    assert copied("shout") == {"created:made:shout": "copied"}
    assert users() == ["tools:made:shout"]
    assert (home / "tools/made/shout/main.py").read_text() == "print('oh')"


def test_it_has_to_be_said_what_is_meant(home, tmp_path, monkeypatch):
    assert "which items" in command("sync-user").stderr
    assert "which items" in command("sync-user", "release", "--all").stderr
    assert "no item" in command("sync-user", "nothing").stderr
    monkeypatch.chdir(tmp_path)
    assert "your own board already" in command("sync-user", "--all").stderr
