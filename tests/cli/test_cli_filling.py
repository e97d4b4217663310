"""init, add, remove and sync."""

import pytest


def ids(ran):
    return [hit["id"] for hit in ran.json["hits"]]


def rejected(pegboard):
    return {
        each["origin"]: each["code"] for each in pegboard("rejections", "--json").json["rejections"]
    }


def test_init_makes_settings_and_a_board_and_says_the_next_step(pegboard, desk):
    ran = pegboard("init")
    assert ran.code == 0
    assert str(desk / "pegboard.toml") in ran.out
    assert str(desk / ".pegboard" / "board.db") in ran.out
    assert "pegboard add folder" in ran.out
    assert (desk / "pegboard.toml").is_file()
    assert (desk / ".pegboard" / "board.db").is_file()


def test_init_keeps_the_board_out_of_git(pegboard, desk):
    pegboard("init")
    assert (desk / ".pegboard" / ".gitignore").read_text() == "*\n"


def test_init_keeps_the_board_out_of_git_in_a_project_that_came_with_its_settings(pegboard, desk):
    (desk / "pegboard.toml").write_text("[search]\nlimit = 3\n")
    assert pegboard("init").code == 0
    assert (desk / ".pegboard" / "board.db").is_file()
    assert (desk / ".pegboard" / ".gitignore").read_text() == "*\n"


def test_init_a_second_time_changes_nothing(pegboard, board, desk):
    (desk / "pegboard.toml").write_text("[search]\nlimit = 3\n")
    ran = pegboard("init", "--json")
    assert ran.code == 0
    assert ran.json == {"board": str(board), "settings": None}
    assert (desk / "pegboard.toml").read_text() == "[search]\nlimit = 3\n"
    assert pegboard("status", "--json").json["embeddings"]["total"] == 5


def test_init_inside_a_project_makes_a_project_of_its_own(pegboard, board, desk, monkeypatch):
    inner = desk / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert pegboard("init", "--json").json["board"] == str(inner / ".pegboard" / "board.db")
    assert pegboard("status", "--json").json["embeddings"]["total"] == 0


def test_the_projects_board_serves_the_folders_inside_it(pegboard, board, desk, monkeypatch):
    inner = desk / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert pegboard("search", "refund").code == 0


def test_init_with_a_board_makes_only_that(pegboard, desk):
    ran = pegboard("init", "--board", "sub/other.db", "--json")
    assert ran.json == {"board": str(desk / "sub" / "other.db"), "settings": None}
    assert [path.name for path in desk.iterdir()] == ["sub"]
    assert pegboard("status", "--board", "sub/other.db").code == 0


def test_add_reads_what_it_adds_and_tells_the_next_step(pegboard, tools):
    pegboard("init")
    ran = pegboard("add", "folder", "tools")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"added tools: {tools.root}",
        "tools: 5 added, 0 changed, 0 unchanged, 0 gone",
        "embedded 5, 0 waiting",
        'next: pegboard search "..."',
    ]
    assert ids(pegboard("search", "refund", "--json"))[0] == "mcptools:payments:refund_payment"


def test_add_can_leave_the_reading_to_a_later_sync(pegboard, tools):
    pegboard("init")
    ran = pegboard("add", "folder", "tools", "--no-sync")
    assert ran.out.splitlines() == [f"added tools: {tools.root}", "next: pegboard sync"]
    assert pegboard("search", "refund").code == 1


def test_add_as_json_has_the_source_and_its_sync(pegboard, tools):
    pegboard("init")
    later = pegboard("add", "folder", "tools", "--no-sync", "--json").json
    assert (later["name"], later["location"], later["sync"]) == ("tools", str(tools.root), None)
    added = pegboard("add", "folder", "tools", "--json").json
    assert (added["kind"], added["sync"]["added"], added["sync"]["error"]) == ("pytools", 5, "")


@pytest.mark.parametrize("target", ["missing", "empty", "a_file", "tools/mcptools"])
def test_add_refuses_what_is_no_folder_of_tools(pegboard, tools, desk, target):
    (desk / "empty").mkdir()
    (desk / "a_file").write_text("x")
    pegboard("init")
    ran = pegboard("add", "folder", target)
    assert ran.code == 5
    assert str(desk / target) in ran.err
    assert "mcptools" in ran.err
    assert pegboard("status", "--json").json["sources"] == []


def test_add_the_same_folder_again_is_harmless(pegboard, board):
    assert pegboard("add", "folder", "tools").code == 0
    assert len(pegboard("status", "--json").json["sources"]) == 1
    assert "5 unchanged" in pegboard("sync").out


def test_add_another_folder_under_a_taken_name_is_refused_with_the_way_out(pegboard, board, desk):
    (desk / "other" / "tools" / "mcptools").mkdir(parents=True)
    ran = pegboard("add", "folder", "other/tools")
    assert ran.code == 2
    assert "--name" in ran.err
    assert (
        pegboard("add", "folder", "other/tools", "--name", "more", "--json").json["name"] == "more"
    )


def test_add_with_a_namespace_hangs_the_tools_there(pegboard, tools):
    pegboard("init")
    pegboard("add", "folder", "tools", "--namespace", "team/blue")
    assert pegboard("sync").code == 0
    assert pegboard("search", "refund", "--namespace", "team/blue").code == 0
    assert pegboard("search", "refund", "--namespace", "public").code == 1
    assert pegboard("show", "refund_payment", "--json").json["item"]["namespace"] == "team/blue"


def test_a_folder_changes_its_namespace_only_after_it_was_removed(pegboard, board):
    ran = pegboard("add", "folder", "tools", "--namespace", "blue")
    assert ran.code == 2
    assert "pegboard remove tools" in ran.err
    pegboard("remove", "tools")
    pegboard("add", "folder", "tools", "--namespace", "blue")
    pegboard("sync")
    assert pegboard("search", "refund", "--namespace", "public").code == 1
    assert pegboard("search", "refund", "--namespace", "blue").code == 0
    assert pegboard("status", "--json").json["embeddings"]["total"] == 5


def test_a_folder_is_not_added_twice_under_two_names(pegboard, board):
    ran = pegboard("add", "folder", "tools", "--name", "again")
    assert ran.code == 2
    assert "source 'tools'" in ran.err


def test_a_namespace_that_no_tool_could_hang_in_is_refused_when_it_is_added(pegboard, tools):
    pegboard("init")
    ran = pegboard("add", "folder", "tools", "--namespace", "Team Blue")
    assert ran.code == 2
    assert "Team Blue" in ran.err


def test_remove_takes_the_source_and_its_tools_off_the_board(pegboard, board, tools):
    tools.raw("chat/broken", b"def run(:\n")
    pegboard("sync")
    assert pegboard("remove", "tools").code == 0
    assert pegboard("search", "message").code == 1
    found = pegboard("status", "--json").json
    assert (found["sources"], found["embeddings"]["total"], found["rejections"]) == ([], 0, 0)
    assert pegboard("doctor").code == 0


def test_remove_of_an_unknown_source_names_the_known_ones(pegboard, board):
    ran = pegboard("remove", "toolz")
    assert ran.code == 2
    assert "'toolz'" in ran.err
    assert "tools" in ran.err.splitlines()[-1]


def test_sync_counts_what_it_did(pegboard, tools):
    pegboard("init")
    pegboard("add", "folder", "tools", "--no-sync")
    ran = pegboard("sync")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "tools: 5 added, 0 changed, 0 unchanged, 0 gone",
        "embedded 5, 0 waiting",
    ]


def test_a_second_sync_of_unchanged_files_embeds_nothing(pegboard, board):
    ran = pegboard("sync", "--json")
    assert ran.json["work"]["embedded"] == 0
    [report] = ran.json["sources"]
    assert (report["added"], report["changed"], report["unchanged"]) == (0, 0, 5)


def test_sync_shows_what_it_refused_and_status_says_why(pegboard, board, tools):
    tools.raw("chat/broken", b"def run(:\n")
    tools.raw("chat/latin", b'def run():\n    """\xe9"""\n')
    tools.raw("chat/silent", b"def run():\n    pass\n")
    tools.raw("chat/huge", b"#" * (1 << 20) + b"#")
    ran = pegboard("sync")
    assert ran.code == 0
    assert "refused: 4" in ran.out
    assert "pegboard rejections" in ran.out
    assert rejected(pegboard) == {
        "mcptools/chat/broken.py": "syntax_error",
        "mcptools/chat/huge.py": "too_large",
        "mcptools/chat/latin.py": "not_utf8",
        "mcptools/chat/silent.py": "no_docstring",
    }
    shown = pegboard("rejections").out
    assert "tools / mcptools/chat/broken.py" in shown
    assert "ine 1 is not valid Python" in shown
    assert "4 refused" in shown


def test_a_file_that_is_still_broken_is_still_counted_as_refused(pegboard, board, tools):
    tools.raw("chat/broken", b"def run(:\n")
    pegboard("sync")
    [report] = pegboard("sync", "--json").json["sources"]
    assert report["unchanged"] == 5
    assert sum(report["rejected"].values()) == 1


def test_sync_counts_what_it_leaves_out(pegboard, board, tools):
    tools.raw("chat/_private", b"")
    (tools.root / "mcptools" / "chat" / "notes.txt").write_text("x")
    [report] = pegboard("sync", "--json").json["sources"]
    assert sum(report["left_out"].values()) == 2
    assert rejected(pegboard) == {}


def test_a_deleted_file_is_gone_from_search(pegboard, board, tools):
    tools.path("payments/refund_payment").unlink()
    assert "1 gone" in pegboard("sync").out
    assert pegboard("search", "refund", "--mode", "bm25").code == 1
    assert "mcptools:payments:refund_payment" not in ids(pegboard("search", "refund", "--json"))
    assert pegboard("show", "refund_payment").code == 7


def test_a_tool_that_comes_back_is_found_again_and_costs_no_embedding(pegboard, board, tools):
    path = tools.path("payments/refund_payment")
    content = path.read_bytes()
    path.unlink()
    pegboard("sync")
    path.write_bytes(content)
    assert pegboard("sync", "--json").json["work"]["embedded"] == 0
    assert ids(pegboard("search", "refund", "--json"))[0] == "mcptools:payments:refund_payment"


def test_a_changed_file_is_found_by_its_new_words_and_not_by_the_old(pegboard, board, tools):
    tools.write("payments/refund_payment", "Reimburse a purchaser.")
    ran = pegboard("sync")
    assert "1 changed, 4 unchanged" in ran.out
    assert "embedded 1" in ran.out
    found = ids(pegboard("search", "reimburse", "--mode", "bm25", "--json"))
    assert found == ["mcptools:payments:refund_payment"]
    assert pegboard("search", "customer", "--mode", "bm25").code == 1


def test_a_file_that_was_edited_until_it_broke_is_no_longer_found(pegboard, board, tools):
    tools.raw("payments/refund_payment", b"def run(:\n")
    pegboard("sync")
    assert pegboard("search", "refund", "--mode", "bm25").code == 1
    assert rejected(pegboard) == {"mcptools/payments/refund_payment.py": "syntax_error"}


def test_sync_of_one_source_leaves_the_others(pegboard, board, tools, desk):
    (desk / "more" / "mcptools" / "maps").mkdir(parents=True)
    (desk / "more" / "mcptools" / "maps" / "locate.py").write_text(
        'def run():\n    """Locate."""\n'
    )
    pegboard("add", "folder", "more", "--no-sync")
    tools.path("mail/send_email").unlink()
    assert "more: 1 added" in pegboard("sync", "more").out
    assert pegboard("show", "send_email").code == 0


def test_sync_of_an_unknown_source_is_wrong_usage(pegboard, board):
    ran = pegboard("sync", "toolz")
    assert ran.code == 2
    assert "known: tools" in ran.err


def test_sync_without_a_source_says_how_to_add_one(pegboard):
    pegboard("init")
    ran = pegboard("sync")
    assert ran.code == 0
    assert "pegboard add folder" in ran.err


def test_sync_with_one_source_gone_does_the_others_and_fails(pegboard, board, tools, desk):
    (desk / "zeta" / "mcptools" / "maps").mkdir(parents=True)
    (desk / "zeta" / "mcptools" / "maps" / "locate.py").write_text(
        'def run():\n    """Locate."""\n'
    )
    pegboard("add", "folder", "zeta", "--no-sync")
    tools.root.rename(desk / "moved")
    ran = pegboard("sync")
    assert ran.code == 5
    assert str(tools.root) in ran.err
    assert "zeta: 1 added" in ran.out
    assert pegboard("show", "refund_payment").code == 0


def test_sync_without_embedding_leaves_the_vectors_to_a_worker(pegboard, tools):
    pegboard("init")
    pegboard("add", "folder", "tools", "--no-sync")
    assert "embedded 0, 5 waiting" in pegboard("sync", "--no-embed").out
    assert "embedded 5" in pegboard("worker", "--once").out
