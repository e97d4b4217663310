"""A change of model, as processes see it that search, sync and work at the same time."""

import signal
import threading

import pytest

from embedding_server import running_server, status, well
from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.worker import Worker, WorkerSettings, together
from pegboard.embed import service
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import ModelUnavailable, UsageError
from pegboard.model.items import ModelSpec
from waiting import until

STORES = ("sqlite", "postgres")
OLD, NEW = 256, 64
NEW_SPEC = ModelSpec("test", dimension=NEW)
BOUND = 30.0


def active(board: Pegboard) -> int:
    """The length of the vectors that are searched."""
    found = board.store.models.state().active
    assert found is not None
    return found.fingerprint.dimension


def change(board: Pegboard, spec: ModelSpec = NEW_SPEC, **options):
    return board.models.change(
        spec,
        lambda: board.backfill(embed=options.get("embed", True)).notices,
        **{"stop": threading.Event()} | options,
    )


def found(board: Pegboard, query: str = "money back") -> list[tuple[str, str]]:
    return [(hit.name, hit.match_type) for hit in board.search(query, threshold=0.0).hits]


def one_batch(board: Pegboard, size: int = 1) -> bool:
    worker = board.worker()
    worker.settings = worker.settings._replace(batch_size=size)
    return worker.step()


@pytest.fixture
def working():
    """Runs workers in threads until the test has ended."""
    stop, threads = threading.Event(), []

    def run(worker: Worker) -> Worker:
        threads.append(threading.Thread(target=worker.run, args=(stop,), daemon=True))
        threads[-1].start()
        return worker

    yield run
    stop.set()
    for thread in threads:
        thread.join(BOUND)
        assert not thread.is_alive()


def test_search_goes_on_with_the_old_model_until_the_new_one_is_complete(board, opened):
    before = found(board)
    searching = opened()
    change(board, embed=False)
    for _ in range(5):
        assert one_batch(board)
        assert active(board) == OLD
        assert found(searching) == before
    assert board.backfill().notices == []
    assert active(board) == NEW
    assert searching.search("money back").notices == ()
    assert found(searching)[0] == ("refund_payment", "both")


def test_another_process_searches_by_the_new_model_alone_once_it_has_heard_of_it(
    board, opened, monkeypatch
):
    searching = opened()
    found(searching)
    assert change(board).switched
    until(lambda: active(searching) == NEW)
    asked = []
    true = HashedEmbedder.embed_query
    monkeypatch.setattr(
        HashedEmbedder,
        "embed_query",
        lambda self, text: asked.append(self.fingerprint.dimension) or true(self, text),
    )
    found(searching)
    assert asked == [NEW]


def test_an_item_edited_during_the_change_is_found_by_meaning_before_and_after_the_switch(
    board, folder
):
    change(board, embed=False)
    folder.write("payments/refund_payment", "Reimburse an unhappy buyer.")
    board.sync(embed=False)
    worker = board.worker()
    while worker.step():
        pass
    assert active(board) == OLD
    assert found(board, "reimburse buyer")[0] == ("refund_payment", "both")
    assert worker.drain(threading.Event(), lambda *_: None).failed == 0
    assert active(board) == NEW
    assert found(board, "reimburse buyer")[0] == ("refund_payment", "both")
    assert board.check() == []


def test_a_worker_finishes_a_change_that_was_stopped_before_anything_was_queued(board, working):
    board.models.use(NEW_SPEC)
    working(board.worker())
    until(lambda: active(board) == NEW)
    assert board.check() == []


def test_workers_at_once_embed_every_item_once_and_make_one_switch(board, opened):
    boards = [board, opened(), opened()]
    change(board, embed=False)
    hands = [each.worker() for each in boards]
    for hand in hands:
        hand.settings = hand.settings._replace(batch_size=1)
    stop = threading.Event()
    report = together(hands, lambda hand: hand.drain(stop, lambda *_: None), stop)
    assert (report.embedded, report.superseded, report.failed) == (6, 0, 0)
    until(lambda: not board.worker().drain(stop, lambda *_: None).total and active(board) == NEW)
    previous = board.store.models.state().previous
    assert previous is not None
    assert previous.fingerprint.dimension == OLD


def test_an_error_of_one_of_several_workers_ends_them_all(board):
    stop = threading.Event()
    hands = [board.worker(), board.worker()]

    def work(hand: Worker) -> None:
        if hand is hands[0]:
            raise ModelUnavailable("it is gone")
        hand.run(stop)

    with pytest.raises(ModelUnavailable, match="it is gone"):
        together(hands, work, stop)


class Interrupting(HashedEmbedder):
    """Interrupts the main thread in the middle of a batch, once, and takes for ever."""

    def __init__(self) -> None:
        super().__init__(OLD)
        self.let_go = threading.Event()
        self.once = iter([signal.SIGINT])

    def embed(self, texts):
        for number in self.once:
            signal.raise_signal(number)
        self.let_go.wait(BOUND)
        return super().embed(texts)


@pytest.fixture
def ctrl_c():
    """Interrupts, also in a run that a shell has started in the background to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_several_workers_that_are_interrupted_give_back_what_they_hold(board, ctrl_c):
    board.refresh(None)
    slow, stop, ended = Interrupting(), threading.Event(), threading.Event()
    hands = [Worker(board.store, slow, WorkerSettings(batch_size=2)) for _ in range(2)]

    def work(hand: Worker) -> None:
        if hand is hands[0]:
            hand.drain(stop, lambda *_: None)
            ended.set()
        stop.wait(BOUND)

    with pytest.raises(KeyboardInterrupt):
        together(hands, work, stop)
    assert board.store.tasks.owners() == []
    slow.let_go.set()
    assert ended.wait(BOUND)


def test_each_of_several_workers_holds_tasks_under_a_name_of_its_own(board):
    board.refresh(None)
    hands = [board.worker() for _ in range(3)]
    target = board.target
    for hand in hands:
        assert len(board.store.tasks.claim(target, hand.owner, 1, 60.0)) == 1
    assert sorted(board.store.tasks.owners()) == sorted(hand.owner for hand in hands)


def test_an_idle_worker_takes_up_the_edit_of_another_process_without_polling(
    board, folder, working, opened
):
    settings = WorkerSettings(poll_seconds=600.0)
    idle = working(Worker(opened().store, HashedEmbedder(OLD), settings))
    for number, description in enumerate(("Give money back.", "Take money again."), 1):
        folder.write("payments/refund_payment", description)
        opened().sync(embed=False)
        until(lambda number=number: idle.report.embedded == number)
    assert board.store.tasks.waiting(board.target) == 0


def test_two_processes_with_different_settings_do_not_take_turns(board, opened, folder):
    new = opened(dimension=NEW)
    new.sync()
    until(lambda: active(board) == NEW)
    folder.write("payments/refund_payment", "Reimburse an unhappy buyer.")
    board.sync()
    assert active(board) == NEW
    new.sync()
    assert active(new) == NEW
    assert found(board, "reimburse buyer")[0] == ("refund_payment", "both")


def test_settings_that_were_changed_are_followed_by_the_next_process(board, opened):
    later = opened(dimension=NEW)
    assert active(board) == OLD
    later.backfill()
    until(lambda: active(board) == NEW)


def test_settings_change_nothing_once_a_person_has_chosen(board, opened):
    change(board)
    opened(dimension=32).sync()
    assert active(board) == NEW
    assert board.models.building() is None


def test_a_process_without_a_model_searches_by_words_and_chooses_none(board, opened):
    without = opened(provider="disabled")
    assert found(without) == [("refund_payment", "keyword")]
    assert without.target is None
    assert without.models.embedders() == []
    with pytest.raises(UsageError, match="disabled"):
        without.models.use(NEW_SPEC)


def test_a_board_that_never_chose_is_searched_by_what_the_settings_say(board, sql, opened):
    sql("UPDATE model_choice SET active = NULL")
    assert found(opened())[0] == ("refund_payment", "both")
    later = opened()
    assert change(later).switched
    previous = later.store.models.state().previous
    assert previous is not None
    assert previous.fingerprint.dimension == OLD


def test_a_new_version_of_the_texts_is_built_beside_the_old_one(board, sql, opened):
    """The board of an older release: its vectors are searched until there are new ones."""
    sql("UPDATE fingerprints SET text_version = 1")
    later = opened()
    assert found(later)[0] == ("refund_payment", "both")
    later.models.follow_settings()
    assert later.models.targets() == [later.embedder.fingerprint]
    assert found(later)[0] == ("refund_payment", "both")
    later.backfill()
    assert later.store.models.state().active.fingerprint == later.embedder.fingerprint
    assert found(later)[0] == ("refund_payment", "both")


def test_a_chosen_model_stays_chosen_when_the_texts_have_a_new_version(board, sql, opened):
    change(board)
    sql("UPDATE fingerprints SET text_version = 1")
    later = opened()
    later.backfill()
    state = later.store.models.state()
    assert (state.active.spec, state.chosen) == (NEW_SPEC, True)
    assert state.active.fingerprint.text_version > 1


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setattr(service, "FIRST_WAIT", 0.001)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with running_server() as made:
        yield made


@pytest.fixture
def served(server):
    return ModelSpec("local-http", "some-model", 0, server.url)


def test_a_board_can_change_to_a_service_and_says_so_when_it_is_gone(board, server, served):
    assert change(board, served).switched
    assert found(board)[0] == ("refund_payment", "both")
    server.always = status(503)
    answer = board.search("refund payment", threshold=0.0)
    assert {hit.match_type for hit in answer.hits} == {"keyword"}
    assert [notice.startswith("searched by words only") for notice in answer.notices] == [True]


def test_where_the_service_of_the_active_model_is_gone_another_can_be_built(
    board, server, served, opened, folder
):
    change(board, served)
    server.always = status(503)
    folder.write("payments/refund_payment", "Reimburse an unhappy buyer.")
    later = opened(max_retries=0)
    later.sync(embed=False)
    changed = change(later)
    assert (changed.switched, changed.notices) == (True, ())
    assert found(later, "reimburse buyer")[0] == ("refund_payment", "both")
    assert later.check() == []


def test_a_service_that_goes_away_half_way_leaves_the_old_model_in_use(
    board, server, served, opened
):
    server.next.extend([well, well])
    server.always = status(503)
    changed = change(board, served)
    assert not changed.switched
    assert "goes on with the old model" in changed.notices[0]
    assert found(board)[0] == ("refund_payment", "both")
    server.always = well
    opened().backfill()
    until(lambda: active(board) == server.dimension)


def test_a_model_that_cannot_be_made_any_more_is_told_and_words_go_on(board, sql, opened):
    sql("""UPDATE models SET spec = '{"provider": "magic"}'""")
    answer = opened().search("refund payment", threshold=0.0)
    assert {hit.match_type for hit in answer.hits} == {"keyword"}
    assert "magic" in answer.notices[0]


def test_vectors_of_another_kind_than_the_boards_are_never_compared(board, sql, opened):
    sql("""UPDATE models SET spec = '{"provider": "test", "dimension": 32}'""")
    answer = opened().search("refund payment", threshold=0.0)
    assert {hit.match_type for hit in answer.hits} == {"keyword"}
    assert "/32/" in answer.notices[0]
