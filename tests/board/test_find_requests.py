"""A question with several requests: one search for each, and one answer of them all."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import hang, make_item
from making_hits import make_hit
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.board.find.patience import Beside, Patience
from pegboard.board.find.requests import combined, find_requests, requests_of, shares
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.answers import Answer, Explanation
from pegboard.model.items import Filters, Mode
from pegboard.search.requests import MAX_REQUESTS

SEND, BOOK = "mcptools:mail:send_mail", "mcptools:mail:book_room"
BOTH = "send mail to them, then book room nine"
ASK = Ask(BOTH, limit=4, threshold=0.0)
BOUND = 20.0


@pytest.fixture
def full(store):
    names = ("send_mail", "read_mail", "book_room")
    hang(store, HashedEmbedder(), *(make_item(name, description=name) for name in names))
    return store


def ids(answer):
    return [hit.id for hit in answer.hits]


def asked(store, ask, **more):
    return find_requests(store, HashedEmbedder(), ask, FindSettings(), **more)


def texts(answer):
    return [each.text for each in answer.requests]


def test_each_request_has_the_answer_that_it_would_have_by_itself(full):
    answer = asked(full, ASK)
    assert texts(answer) == ["send mail to them", "book room nine"]
    for each in answer.requests:
        alone = find(full, HashedEmbedder(), Ask(each.text, limit=2, threshold=0.0), FindSettings())
        assert each.answer.hits == alone.hits
    assert ids(answer)[:2] == [SEND, BOOK]
    assert answer.explanation is None


def test_a_question_with_one_request_is_answered_as_ever(full):
    ask = Ask("send mail", threshold=0.0)
    alone = find(full, HashedEmbedder(), ask, FindSettings())
    answer = asked(full, ask)
    assert (answer.hits, answer.requests) == (alone.hits, ())


def test_a_question_is_not_split_if_nobody_wants_that(full):
    whole = find(full, HashedEmbedder(), ASK, FindSettings())
    answer = asked(full, ASK._replace(split=False))
    assert (answer.hits, answer.requests) == (whole.hits, ())


@pytest.mark.parametrize(("limit", "counts"), [(1, [1, 1]), (2, [1, 1]), (3, [2, 1]), (4, [2, 2])])
def test_the_limit_is_shared_and_leaves_one_hit_for_each_request(full, limit, counts):
    answer = asked(full, ASK._replace(limit=limit))
    assert [len(each.answer.hits) for each in answer.requests] == counts
    assert len(answer.hits) <= max(limit, 2)


@given(st.integers(1, 1000), st.integers(2, MAX_REQUESTS))
def test_shares_add_up_to_the_limit_unless_it_is_too_small(limit, requests):
    found = shares(limit, requests)
    assert sum(found) == max(limit, requests)
    assert max(found) - min(found) <= 1


def test_filters_mode_and_explanation_hold_for_every_request(full):
    ask = ASK._replace(mode=Mode.BM25, explain=True, filters=Filters(categories=("nowhere",)))
    answer = asked(full, ask)
    assert answer.hits == answer.nearest == ()
    found = [each.answer.explanation for each in answer.requests]
    assert [each.query for each in found if isinstance(each, Explanation)] == texts(answer)


@pytest.mark.parametrize("title", ["Send mail to them, then book room nine", BOTH])
@pytest.mark.parametrize("field", ["name", "title"])
def test_a_question_that_is_the_name_or_title_of_an_item_is_not_split(full, title, field):
    hang(full, HashedEmbedder(), make_item(**{"name": "both", field: title}))
    assert requests_of(full, BOTH, Filters()) == (BOTH,)
    answer = asked(full, ASK)
    assert answer.requests == ()
    assert title in (answer.hits[0].name, answer.hits[0].title)
    assert len(requests_of(full, BOTH, Filters(categories=("nowhere",)))) == 2


def test_more_requests_than_the_most_are_not_split(full):
    ask = ASK._replace(text="\n".join(f"{n}. send mail {n}" for n in range(1, MAX_REQUESTS + 2)))
    assert asked(full, ask).requests == ()
    fewer = ask.text.rpartition("\n")[0]
    assert len(asked(full, ask._replace(text=fewer)).requests) == MAX_REQUESTS


def test_only_as_much_of_a_long_question_is_split_as_is_read(full):
    filled = "send mail " + "x" * 3_000 + ", then book a room"
    assert asked(full, ASK._replace(text=filled)).requests == ()


HOSTILE = (
    "send mail\x00, then \u202ebook a room",
    "\ud800 send mail; then book a room \udfff",
    "1. \n2. \n3. ",
    "send mail, then " * 400,
    "送金する。それから部屋を予約する。",
    '"; DROP TABLE items; -- then book a room',
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_questions_are_answered(full, text):
    answer = asked(full, ASK._replace(text=text))
    assert len(answer.requests) <= MAX_REQUESTS
    assert len(answer.hits) <= max(ASK.limit, len(answer.requests))


# Combined answers, by hand.


def test_hits_are_interleaved_and_an_item_stays_where_it_comes_first():
    one = [make_hit("a", score=0.3), make_hit("b", score=0.2), make_hit("c", score=0.1)]
    two = [make_hit("b", score=0.9), make_hit("d", score=0.8)]
    answer = combined(["x", "y"], [Answer(hits=tuple(one)), Answer(hits=tuple(two))])
    assert [(hit.id, hit.score) for hit in answer.hits] == [
        *(("a", 0.3), ("b", 0.9), ("d", 0.8), ("c", 0.1))
    ]
    assert [ids(each.answer) for each in answer.requests] == [["a", "b", "c"], ["b", "d"]]


def test_the_same_id_in_another_namespace_is_another_item():
    hits = [make_hit("a"), make_hit("a", namespace="blue")]
    answer = combined(["x", "y"], [Answer(hits=(each,)) for each in hits])
    assert answer.hits == tuple(hits)


def test_a_request_that_nothing_fits_keeps_its_nearest_to_itself():
    near = tuple(make_hit(name) for name in "abc")
    answer = combined(["x", "y"], [Answer(hits=(), nearest=near), Answer(hits=(make_hit("d"),))])
    assert (ids(answer), answer.nearest) == (["d"], ())
    assert answer.requests[0].answer.nearest == near


def test_if_nothing_fits_any_request_three_of_the_nearest_are_told():
    lists = [tuple(make_hit(name) for name in names) for names in ("abc", "adb")]
    answer = combined(["x", "y"], [Answer(hits=(), nearest=each) for each in lists])
    assert answer.hits == ()
    assert [hit.id for hit in answer.nearest] == ["a", "b", "d"]


def test_notices_are_told_once_and_seconds_are_added_up():
    part = Answer(hits=(), notices=("slow",), embed_seconds=1.0, search_seconds=2.0, late=("bm25",))
    answer = combined(["x", "y"], [part, part])
    assert (answer.notices, answer.late) == (("slow",), ("bm25",))
    assert (answer.embed_seconds, answer.search_seconds) == (2.0, 4.0)


# Deadlines.


@pytest.fixture
def beside():
    made = Beside(2, most_late=3)
    yield made
    made.close()


class Hanging(HashedEmbedder):
    """A model that does not answer the second request until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.released = threading.Event()

    def embed_query(self, text):
        if "room" in text:
            self.asked.set()
            self.released.wait(BOUND)
        return super().embed_query(text)


def test_within_the_deadline_nothing_is_late(full, beside):
    answer = asked(full, ASK, beside=beside, patience=Patience(BOUND))
    assert (answer.late, answer.notices) == ((), ())
    free = asked(full, ASK, beside=beside)
    assert [each.answer.hits for each in answer.requests] == [
        each.answer.hits for each in free.requests
    ]


def test_after_the_deadline_no_further_request_is_begun(full, beside):
    patience = Patience(BOUND, left=0.0)
    answer = asked(full, ASK, beside=beside, patience=patience)
    first, second = (each.answer for each in answer.requests)
    assert first.hits and not second.hits
    assert (second.late, second.notices) == (
        ("bm25", "vector"),
        (f"not every request was looked up within {BOUND:g} s",),
    )
    assert set(answer.late) == {"bm25", "vector"}


@pytest.mark.parametrize("mode", Mode)
def test_a_late_request_names_the_retrievers_of_its_mode(full, beside, mode):
    answer = asked(full, ASK._replace(mode=mode), beside=beside, patience=Patience(BOUND, left=0.0))
    wanted = {"hybrid": ("bm25", "vector")}.get(mode, (mode.value,))
    assert answer.requests[1].answer.late == wanted


def test_another_thread_is_told_what_was_found_so_far(full, beside):
    model = Hanging()
    patience = Patience(BOUND)
    answers = []

    def search():
        found = find_requests(full, model, ASK, FindSettings(), beside=beside, patience=patience)
        answers.append(found)

    thread = threading.Thread(target=search)
    thread.start()
    assert model.asked.wait(BOUND)
    answer = patience.so_far()
    first, second = (each.answer for each in answer.requests)
    assert first.hits[0].id == SEND
    assert not first.late
    assert "vector" in second.late
    assert answer.late
    model.released.set()
    thread.join(BOUND)
    assert answers[0].late == ()
    assert ids(answers[0])[:2] == [SEND, BOOK]
