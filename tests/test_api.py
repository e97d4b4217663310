"""Pegboard from a program."""

import threading
from pathlib import Path

import pytest

from pegboard import Pegboard
from pegboard.errors import (
    BoardMissing,
    ConfigError,
    ItemAmbiguous,
    ItemNotFound,
    SourceError,
    UsageError,
)
from pegboard.model.items import Filters

TOOLS = {
    "chat/post_message": "Send a message into a channel for colleagues to read.",
    "mail/send_email": "Send an e-mail to one or more recipients.",
    "payments/refund_payment": "Give a customer their money back.",
}


@pytest.fixture
def tools(tmp_path):
    root = tmp_path / "My Tools"
    for tool, description in TOOLS.items():
        path = root / "mcptools" / f"{tool}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'def run(text: str = "x"):\n    """{description}"""\n')
    return root


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    return str(tmp_path / "board.db")


@pytest.fixture
def board(file, tools):
    with Pegboard.open(file, create=True) as found:
        found.add_folder(tools)
        found.sync()
        yield found


def test_a_program_fills_a_board_and_finds_a_tool(file, tools):
    with Pegboard.open(file, create=True) as board:
        source = board.add_folder(tools)
        outcome = board.sync()
        answer = board.search("give the customer money back")
        entry = board.show(answer.hits[0].id)
    assert (source.name, source.location) == ("my-tools", str(tools))
    assert (outcome.sources[0].added, outcome.work.embedded, outcome.waiting) == (3, 3, 0)
    assert answer.hits[0].id == "mcptools:payments:refund_payment"
    assert entry.item.description == "Give a customer their money back."
    assert entry.item.version.files[0].path == "refund_payment.py"


def test_what_one_program_wrote_another_reads(board, file):
    with Pegboard.open(file) as again:
        assert again.search("refund").hits == board.search("refund").hits


def test_the_board_is_closed_at_the_end_even_after_an_error(file, tools):
    with pytest.raises(ZeroDivisionError), Pegboard.open(file, create=True) as board:
        board.add_folder(tools)
        raise ZeroDivisionError
    assert not Path(f"{file}-wal").exists()


def test_the_board_of_the_working_folder_is_opened_by_default(file, tools, tmp_path):
    (tmp_path / "pegboard.toml").write_text('board = "board.db"\n')
    Pegboard.open(file, create=True).close()
    with Pegboard.open() as board:
        assert board.status().facts["board"] == file


def test_a_board_that_is_not_there_is_made_only_on_request(file):
    with pytest.raises(BoardMissing, match=r"board\.db"):
        Pegboard.open(file)
    assert not Path(file).exists()


def test_settings_can_be_given_as_arguments(board, file):
    with Pegboard.open(file, search__limit=1, search__mode="bm25") as found:
        answer = found.search("send")
    assert [hit.match_type for hit in answer.hits] == ["keyword"]


def test_an_argument_that_is_no_setting_is_refused(board, file):
    with pytest.raises(ConfigError, match="limt"):
        Pegboard.open(file, search__limt=1)


def test_a_bad_value_in_an_argument_is_refused(board, file):
    with pytest.raises(ConfigError, match=r"search\.limit"):
        Pegboard.open(file, search__limit=0)


def test_search_takes_mode_limit_and_filters(board):
    answer = board.search(
        "send", mode="bm25", limit=1, filters=Filters(categories=("mail", "payments"))
    )
    assert [hit.name for hit in answer.hits] == ["send_email"]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_leaves_nothing_is_refused(board, limit):
    with pytest.raises(UsageError, match="limit"):
        board.search("send", limit=limit)


def test_an_unknown_mode_is_refused_with_the_known_ones(board):
    with pytest.raises(UsageError, match="hybrid"):
        board.search("send", mode="magic")


@pytest.mark.parametrize("threshold", [-0.1, 1.1])
def test_a_threshold_that_no_score_can_have_is_refused(board, threshold):
    with pytest.raises(UsageError, match="threshold"):
        board.search("send", threshold=threshold)


def test_a_threshold_is_the_least_fit_of_the_best_hit(board):
    hits = board.search("send a message", threshold=0.0).hits
    assert len(hits) == 3
    best = max(hit.fit for hit in hits)
    assert board.search("send a message", threshold=best).hits
    assert not board.search("send a message", threshold=min(best + 0.001, 1.0)).hits


def test_what_comes_nearest_is_told_only_if_nothing_fits(board):
    best = board.search("send a message", threshold=0.0)
    assert (len(best.hits), best.nearest) == (3, ())
    none = board.search("send a message", threshold=1.0)
    assert none.hits == ()
    assert none.nearest == best.hits


def test_near_duplicates_are_folded_into_one_on_request(board, tools):
    text = (tools / "mcptools/mail/send_email.py").read_text()
    (tools / "mcptools/chat/send_email.py").write_text(text)
    board.sync()
    plain = board.search("send email", threshold=0.0)
    folded = board.search("send email", threshold=0.0, diverse=True)
    assert [hit.name for hit in plain.hits[:2]] == ["send_email", "send_email"]
    assert [hit.name for hit in folded.hits].count("send_email") == 1
    assert folded.hits[0].like_it == (plain.hits[1].id,)


def test_an_answer_is_explained_on_request(board):
    assert board.search("refund").explanation is None
    explanation = board.search("give money back", explain=True).explanation
    assert explanation.query == "give money back"
    assert explanation.items[0].id == "mcptools:payments:refund_payment"


def test_no_hit_is_an_answer(board):
    answer = board.search("xylophone", mode="bm25", threshold=0.0)
    assert (answer.hits, answer.nearest) == ((), ())


def test_show_raises_what_a_program_can_tell_apart(board, tools):
    with pytest.raises(ItemNotFound, match="'nonsense'"):
        board.show("nonsense")
    (tools / "mcptools" / "chat" / "send_email.py").write_text('def run():\n    """Send."""\n')
    board.sync()
    with pytest.raises(ItemAmbiguous, match="mcptools:chat:send_email, mcptools:mail:send_email"):
        board.show("send_email")


def test_a_folder_may_be_given_as_text_or_path(board, tools):
    assert board.add_folder(str(tools)) == board.add_folder(tools)


def test_a_folder_that_is_none_is_a_source_error_and_adds_nothing(board, tmp_path):
    with pytest.raises(SourceError, match="none"):
        board.add_folder(tmp_path / "none")
    assert len(board.status().sources) == 1


def test_a_source_that_is_gone_is_reported_and_not_raised(board, tools):
    tools.rename(tools.with_name("moved"))
    assert str(tools) in board.sync().sources[0].error
    assert board.search("refund", threshold=0.0).hits


def test_status_backfill_refresh_retry_and_check(board):
    assert board.refresh("refund_payment") == 1
    assert board.status().embeddings.pending == 1
    assert board.backfill().work.embedded == 1
    assert board.status().embeddings == (3, 3, 0, 0, 0, 0)
    assert (board.retry(None), board.rejections(), board.check()) == (0, [], [])


def test_a_removed_source_takes_its_tools_along(board):
    board.remove_source("my-tools")
    assert board.search("refund", threshold=0.0).hits == ()
    with pytest.raises(UsageError, match="no source 'my-tools'"):
        board.remove_source("my-tools")


def test_progress_of_a_sync_can_be_watched(board):
    steps = []
    board.refresh(None)
    board.sync(progress=lambda step, done, total: steps.append((step, done, total)))
    assert ("embedding", 3, 3) in steps


def test_threads_may_search_one_board_at_once(board):
    expected = board.search("send a message").hits
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(board.search("send a message").hits))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [expected] * 8
