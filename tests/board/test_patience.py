"""A search with a bound answers in time, with what the faster legs have found by then."""

import threading
from collections.abc import Iterator

import pytest

from making import hang, make_item
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.board.find.patience import Beside, Patience
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import Mode
from waiting import until

BOUND = 20.0
SHORT = 0.05
"""Seconds that a search waits for what never comes."""
LONG = 60.0
ASK = Ask("send mail", limit=5, threshold=0.0)
ITEMS = [make_item(name) for name in ("send_mail", "read_mail", "book_room")]


class Hanging(HashedEmbedder):
    """A service that does not answer until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Semaphore(0)
        self.released = threading.Event()

    def embed_query(self, text):
        self.asked.release()
        self.released.wait(BOUND)
        return super().embed_query(text)


@pytest.fixture
def full(store):
    hang(store, HashedEmbedder(), *ITEMS)
    return store


@pytest.fixture
def beside() -> Iterator[Beside]:
    made = Beside(2, most_late=3)
    yield made
    made.close()


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    made = Hanging()
    yield made
    made.released.set()


def ids(answer):
    return [hit.id for hit in answer.hits]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.VECTOR])
def test_without_the_model_in_time_the_answer_is_that_of_words(full, beside, hanging, mode):
    asked = ASK._replace(mode=mode)
    alone = find(full, None, asked, FindSettings())
    answer = find(full, hanging, asked, FindSettings(), beside=beside, patience=Patience(SHORT))
    assert ids(answer) == ids(alone)
    assert ids(answer)[0] == "mcptools:mail:send_mail"
    assert answer.late == ("vector",)
    assert answer.notices == ("searched by words only: meaning was not looked up within 0.05 s",)


@pytest.mark.parametrize("mode", Mode)
def test_a_bound_that_is_kept_changes_nothing(full, beside, mode):
    asked = ASK._replace(mode=mode)
    free = find(full, HashedEmbedder(), asked, FindSettings(), beside=beside)
    bound = find(
        full, HashedEmbedder(), asked, FindSettings(), beside=beside, patience=Patience(LONG)
    )
    assert bound.hits == free.hits
    assert bound.late == free.late == ()
    assert bound.notices == free.notices


def test_when_too_many_hang_the_next_search_does_without_at_once(full, beside, hanging):
    for _ in range(3):
        patience = Patience(SHORT)
        late = find(full, hanging, ASK, FindSettings(), beside=beside, patience=patience)
        assert late.late == ("vector",)
        assert hanging.asked.acquire(timeout=BOUND)
    assert beside.late == 3
    answer = find(full, hanging, ASK, FindSettings(), beside=beside, patience=Patience(LONG))
    assert answer.late == ()
    assert ids(answer)[0] == "mcptools:mail:send_mail"
    assert answer.notices == (
        "searched by words only: the model has not answered the searches before this one",
    )
    assert not hanging.asked.acquire(blocking=False)


def test_fifty_that_hang_do_not_stop_the_next_one(full, beside, hanging):
    for _ in range(50):
        find(full, hanging, ASK, FindSettings(), beside=beside, patience=Patience(SHORT))
    assert beside.late <= 3
    hanging.released.set()
    back = threading.Event()
    threading.Thread(target=lambda: (beside.submit(int).result(), back.set())).start()
    assert back.wait(BOUND)
    until(lambda: not beside.late)
    answer = find(
        full, HashedEmbedder(), ASK, FindSettings(), beside=beside, patience=Patience(LONG)
    )
    assert (answer.late, answer.notices) == ((), ())
    assert "vector" in answer.hits[0].breakdown


class Slow:
    """A store whose look-up by words waits until it is released."""

    def __init__(self, store) -> None:
        self._store = store
        self.asked = threading.Event()
        self.released = threading.Event()
        self.index = SlowIndex(self, store.index)

    def __getattr__(self, name):
        return getattr(self._store, name)


class SlowIndex:
    def __init__(self, slow: Slow, index) -> None:
        self._slow = slow
        self._index = index

    def keyword(self, *args):
        self._slow.asked.set()
        self._slow.released.wait(BOUND)
        return self._index.keyword(*args)

    def __getattr__(self, name):
        return getattr(self._index, name)


class Searching:
    """A search in a thread of its own, which can be asked what it has found so far."""

    def __init__(self, store, embedder, beside, mode=Mode.HYBRID) -> None:
        self.patience = Patience(SHORT)
        self.answers = []
        self.work = lambda: self.answers.append(
            find(
                store,
                embedder,
                ASK._replace(mode=mode),
                FindSettings(),
                beside=beside,
                patience=self.patience,
            )
        )
        self.thread = threading.Thread(target=self.work)
        self.thread.start()


def test_while_words_are_stuck_it_can_be_asked_what_meaning_found(full, beside):
    slow = Slow(full)
    searching = Searching(slow, HashedEmbedder(), beside)
    assert slow.asked.wait(BOUND)
    answer = searching.patience.so_far()
    while "vector" in answer.late:  # the model has not come so far yet
        answer = searching.patience.so_far()
    assert answer.late == ("bm25",)
    assert set(ids(answer)) == {item.id for item in ITEMS}
    assert answer.notices == ("words were not looked up within 0.05 s",)
    slow.released.set()
    searching.thread.join(BOUND)
    assert searching.answers[0].hits


def test_while_everything_is_stuck_there_is_nothing_to_tell(full, beside, hanging):
    slow = Slow(full)
    searching = Searching(slow, hanging, beside)
    assert slow.asked.wait(BOUND)
    answer = searching.patience.so_far()
    assert (answer.hits, answer.nearest) == ((), ())
    assert answer.late == ("bm25", "vector")
    slow.released.set()
    hanging.released.set()
    searching.thread.join(BOUND)


def test_what_was_given_up_before_it_was_begun_is_not_begun(beside):
    release = threading.Event()
    held = [beside.begin(release.wait, BOUND) for _ in range(2)]
    waiting = beside.begin(release.wait, BOUND)
    beside.give_up(waiting)
    assert waiting.cancelled()
    assert beside.late == 0
    beside.give_up(held[0])
    assert beside.begin(int).result(BOUND) == 0, "another thread takes its place"
    release.set()
    for each in held:
        assert each.result(BOUND)
    assert beside.late == 0


def test_threads_that_hang_do_not_keep_a_board_from_closing(hanging):
    beside = Beside(1)
    beside.give_up(beside.begin(hanging.embed_query, "x"))
    hanging.asked.acquire(timeout=BOUND)
    beside.close()
    assert not hanging.released.is_set()
