"""Tools that are made on a board: numbers of versions, refusals, near-duplicates, trials."""

import threading
from pathlib import Path

import pytest

from pegboard.app.pegboard import Pegboard
from pegboard.board.create.drafts import draft_at, draft_of
from pegboard.errors import ItemNotFound, UsageError
from pegboard.model.items import CREATED, Filters

MANIFEST = {
    "tool_id": "fold_paper",
    "tool_type": "python",
    "category": "paper",
    "description": "Fold a sheet of paper into a crane.",
    "parameters": [{"name": "sheet", "type": "string", "required": True}],
}
CODE = "def run(sheet):\n    return sheet + ' crane'\n"
ID = "created:paper:fold_paper"


@pytest.fixture
def board(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    with Pegboard.open(str(tmp_path / "board.db"), create=True) as found:
        yield found


def nested(depth):
    found = {}
    for _ in range(depth):
        found = {"a": found}
    return found


def make(board, code=CODE, *, anyway=False, try_with=None, files=None, **said):
    draft = draft_of(MANIFEST | said, {"main.py": code} | (files or {}))
    return board.create(draft, anyway=anyway, try_with=try_with)


def test_a_tool_hangs_at_once_unsigned_and_marked(board):
    made = make(board)
    assert (made.state, made.id, made.version) == ("created", ID, "1.0.0")
    [hit] = board.search("fold paper", mode="bm25", threshold=0).hits
    assert (hit.id, hit.notes) == (ID, ("made by an agent, unsigned",))
    item = board.show(ID).item
    assert (item.source, item.signature, item.category) == (CREATED, None, "paper")
    assert [file.path for file in item.version.files] == ["main.py", "tool.yaml"]
    assert board.check() == []


@pytest.mark.program
def test_a_caller_with_bounds_makes_and_sees_only_what_is_within_them(board):
    make(board)
    board.call(ID, {"sheet": "a"})
    board.within = Filters(namespaces=("team", "other"))
    with pytest.raises(ItemNotFound):
        board.runs(ID)
    assert board.runs() == []
    own = make(board, CODE + "# ours\n")
    assert (own.state, own.version, own.entry.item.namespace) == ("created", "1.0.0", "team")
    board.call(ID, {"sheet": "a"})
    assert [each.namespace for each in board.runs()] == ["team"]
    assert [each.namespace for each in board.runs(ID)] == ["team"]
    with pytest.raises(ItemNotFound):
        board.prepare_call(f"public/{ID}@1.0.0", {})
    board.within = None
    assert [each.namespace for each in board.runs()] == ["team", "public"]


def test_syncs_leave_it_alone(board, tmp_path):
    make(board)
    (tmp_path / "tools/mcptools/a").mkdir(parents=True)
    board.add_folder(tmp_path / "tools")
    board.sync()
    assert board.show(ID).active


def test_the_same_again_changes_nothing_and_a_change_is_a_new_version(board):
    make(board)
    assert make(board).state == "unchanged"
    changed = make(board, CODE.replace("crane", "boat"))
    assert (changed.state, changed.version) == ("updated", "1.0.1")
    third = make(board, CODE.replace("crane", "plane"))
    assert third.version == "1.0.2"
    kept = board.store.items.versions(ID, "public")
    assert [each.number for each in kept] == ["1.0.2", "1.0.1", "1.0.0"]
    old = board.store.items.version(ID, "public", "1.0.0")
    assert old.files[0].content.decode() == CODE


def test_going_back_to_what_it_was_is_a_change_too(board):
    make(board)
    boat = CODE.replace("crane", "boat")
    make(board, boat)
    back = make(board)
    assert (back.state, back.version) == ("updated", "1.0.2")
    assert board.show(ID).item.version.files[0].content.decode() == CODE


def test_the_same_version_again_changes_nothing_even_if_there_is_a_later_one(board):
    make(board, version="1.0.0")
    make(board, CODE + "# more\n", version="1.1.0")
    assert make(board, version="1.0.0")[:3] == ("unchanged", ID, "1.0.0")
    assert board.show(ID).item.version.version == "1.1.0"


def test_what_a_person_switched_off_is_not_made_again(board):
    make(board)
    board.curate.deactivate(ID, "ada")
    for code in (CODE, CODE + "# changed\n"):
        refused = make(board, code, anyway=True)
        assert refused.state == "refused"
        assert f"a person switched {ID} off" in refused.reason
    assert [each.number for each in board.store.items.versions(ID, "public")] == ["1.0.0"]
    board.curate.activate(ID, "ada")
    assert make(board, CODE + "# changed\n").state == "updated"


def test_an_own_number_has_to_come_after_the_latest(board):
    assert make(board, version="2.1.0").version == "2.1.0"
    for number in ("2.1.0", "2.0.9", "1.9.9"):
        refused = make(board, CODE + "# changed\n", version=number)
        assert refused.state == "refused"
        assert "give it a higher number, or none: it is 2.1.1" in refused.reason
    assert make(board, CODE + "# changed\n", version="3.0.0").version == "3.0.0"
    assert make(board, CODE + "# again\n").version == "3.0.1"


def test_versions_before_a_release_have_an_order_too(board):
    for number in ("1.0.0-rc.2", "1.0.0-rc.10", "1.0.0"):
        assert make(board, f"{CODE}# {number}\n", version=number).version == number
    for number in ("1.0.0-rc.11", "1.0.0+more", "0.9.9"):
        assert make(board, f"{CODE}# {number}\n", version=number).state == "refused"
    assert make(board, f"{CODE}# more\n", version="1.0.1-alpha").version == "1.0.1-alpha"
    assert make(board, f"{CODE}# even more\n").version == "1.0.1"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"tool_type": "perl"}, "tool_type"),
        ({"color": "red"}, "color"),
        ({"executor_config": {"entrypoint": "../x.py"}}, "leaves the tool's folder"),
        ({"executor_config": {"entrypoint": "x.py"}}, "no such file"),
        ({"description": "hidden \u202e text"}, "U+202E"),
        ({"input_schema": {"type": "object"}}, "both parameters and input_schema"),
        ({"permissions": ["read everywhere"]}, "everywhere"),
        ({"tool_id": "a/b"}, "tool_id"),
    ],
)
def test_what_the_gate_refuses_is_not_made_and_the_reason_is_told(board, said, reason):
    refused = make(board, **said)
    assert (refused.state, refused.entry) == ("refused", None)
    assert reason in refused.reason
    assert board.census() == []


@pytest.mark.parametrize("path", ["../main.py", "/etc/passwd", "a\\b", "x/../../y"])
def test_a_file_that_would_lie_elsewhere_is_refused(board, path):
    refused = make(board, files={path: "x"})
    assert refused.state == "refused"
    assert "leaves the item's folder" in refused.reason


@pytest.mark.parametrize(
    ("manifest", "files", "said"),
    [
        (MANIFEST, {"main.py": "\ud800"}, "'main.py' is not valid Unicode"),
        (MANIFEST | {"description": "\ud800"}, {}, "'the manifest' is not valid Unicode"),
        (MANIFEST | {"tags": {1, 2}}, {}, "cannot be written as JSON"),
        (MANIFEST | {"input_schema": nested(20_000)}, {}, "cannot be written as JSON"),
    ],
)
def test_what_cannot_be_written_down_is_no_draft(manifest, files, said):
    with pytest.raises(UsageError, match=said):
        draft_of(manifest, files)


def test_a_manifest_is_not_given_twice(board):
    with pytest.raises(UsageError, match=r"files has tool\.yaml in it"):
        make(board, files={"tool.yaml": "x"})


def test_a_near_duplicate_is_told_of_the_one_that_is_there(board):
    make(board)
    for said in ({"tool_id": "paper_folder"}, {"category": "crafts"}):
        alike = make(board, **said)
        assert (alike.state, alike.entry) == ("alike", None)
        assert ID in [hit.id for hit in alike.alike]
        assert make(board, anyway=True, **said).state == "created"
    other = make(board, tool_id="boil_water", description="Boil a litre of water for tea.")
    assert other.state == "created"


@pytest.mark.program
def test_a_tool_is_tried_before_it_is_kept(board):
    failed = make(board, "def run(sheet):\n    raise ValueError(sheet)\n", try_with={"sheet": "a"})
    assert (failed.state, failed.trial.outcome) == ("failed", "failed")
    assert "ValueError: a" in failed.trial.error
    assert board.census() == []
    wrong = make(board, try_with={})
    assert wrong.trial.outcome == "invalid_arguments"
    kept = make(board, try_with={"sheet": "a"})
    assert (kept.state, kept.trial.structured) == ("created", {"result": "a crane"})


@pytest.mark.program
def test_a_trial_grants_nothing(board, tmp_path):
    (tmp_path / "private.txt").write_text("private")
    code = "def run(sheet):\n    return open(sheet).read()\n"
    tried = make(
        board,
        code,
        permissions=["read filesystem **"],
        try_with={"sheet": str(tmp_path / "private.txt")},
    )
    assert tried.trial.outcome == "failed"
    assert "FileNotFoundError" in tried.trial.error
    packages = make(board, executor_config={"dependencies": ["six"]}, try_with={"sheet": "a"})
    assert packages.trial.outcome == "denied"
    assert "packages: six" in packages.trial.error


WALK = """
import os

def run(sheet):
    places = [os.path.join(top, name) for top, _, names in os.walk(sheet) for name in names]
    return [each for each in places if os.path.getsize(each) and os.access(each, os.R_OK)]
"""


@pytest.mark.program
def test_no_grant_shows_the_board_or_what_other_tools_are_run_from(board, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make(board, tool_id="other", anyway=True)
    assert board.call("other", {"sheet": "a"}).outcome == "ok"
    assert (tmp_path / "board.db-wal").stat().st_size
    (tmp_path / "board.db-files").mkdir()
    for name in ("seen.txt", "board.db-files/hidden"):
        (tmp_path / name).write_text("seen")
    make(board, WALK, permissions=["write filesystem **"], anyway=True)
    walked = board.call(ID, {"sheet": str(tmp_path)}, approve=lambda question: True)
    assert walked.sandbox == "bubblewrap"
    found = {Path(each).name for each in walked.structured["result"]}
    own = {"main.py", "tool.yaml", "arguments.json", "tool"}
    assert found == {"seen.txt", *own}
    assert sum(each.endswith("main.py") for each in walked.structured["result"]) == 1


def test_two_that_make_the_same_at_once_leave_one_version(board, tmp_path):
    """Each with its own process's view of the board; whoever is second is told so."""
    ready = threading.Barrier(4)
    states = []

    def work(number):
        with Pegboard.open(str(tmp_path / "board.db"), embed__provider="test") as own:
            ready.wait(20)
            states.append(make(own, f"{CODE}# {number}\n", version="1.0.0").state)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(states) == ["created", "refused", "refused", "refused"]
    assert [each.number for each in board.store.items.versions(ID, "public")] == ["1.0.0"]
    assert board.check() == []


@pytest.mark.program
def test_a_folder_and_a_single_file_can_be_made_tools(board, tmp_path):
    folder = tmp_path / "work" / "shout"
    folder.mkdir(parents=True)
    (folder / "tool.yaml").write_text(
        "tool_id: shout\ntool_type: bash\ndescription: Say it louder.\n"
        "executor_config: {entrypoint: run.sh}\n"
        "parameters: [{name: text, type: string, required: true}]\n"
    )
    (folder / "run.sh").write_text('echo "${ARG_TEXT^^}"\n')
    made = board.create(draft_at(folder, "text", 1 << 20))
    assert (made.state, made.id) == ("created", "created:text:shout")
    assert board.call(made.id, {"text": "hi"}).content[0]["text"].strip() == "HI"
    file = tmp_path / "work" / "whisper.py"
    file.write_text(
        'def run(text: str) -> str:\n    """Say it softly."""\n    return text.lower()\n'
    )
    made = board.create(draft_at(file, "text", 1 << 20))
    assert (made.state, made.id) == ("created", "created:text:whisper")
    assert board.call("whisper", {"text": "HI"}).structured == {"result": "hi"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "is no tool"),
        ("plain.txt", "is no tool"),
        ("empty", "is no tool\n  give a folder with a tool.yaml"),
        ("silent.py", "no docstring"),
    ],
)
def test_what_is_no_tool_says_what_one_looks_like(tmp_path, name, said):
    (tmp_path / "plain.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "silent.py").write_text("def run(): ...\n")
    with pytest.raises(UsageError, match=said):
        draft_at(tmp_path / name, "", 1 << 20)


def test_where_signatures_are_required_a_refusal_tells_what_can_be_done(tmp_path, monkeypatch):
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_USER", "require")
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    with Pegboard.open(str(tmp_path / "board.db"), create=True) as board:
        made = make(board)
    assert made.state == "refused"
    assert "pegboard publish" in made.reason
    assert "trust.signatures_" in made.reason
