"""From a question to hits: modes, filters, scores, reasons, and what the caller is told."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.local import LocalEmbedder
from pegboard.errors import EmbeddingError
from pegboard.model.items import Filters, MatchType, Mode
from pegboard.search.fusion import FusionSettings, Method

STORES = ("sqlite", "shared")
changing = pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
"""For tests that do not leave the board as it is."""

QUERIES = [
    "message",
    "send a message to my colleagues",
    "money back",
    "how far is it",
    "mail with words",
    "qwzx vbnk",
    "send send send",
]
FUSIONS = [FusionSettings(), FusionSettings(Method.RRF), FusionSettings(alpha=0.0)]


class OutOfOrder(HashedEmbedder):
    """A service that is there, but answers no query."""

    def embed_query(self, text):
        raise EmbeddingError("the service answered 503")


@pytest.fixture
def ask(board):
    """Whatever is found is shown, unless a threshold is given."""

    def run(text, mode=Mode.HYBRID, *, embedder=board.embedder, fusion=None, depth=100, **rest):
        settings = FindSettings(depth, fusion or FusionSettings())
        rest = {"threshold": 0.0} | rest
        return find(board.store, embedder, Ask(text, mode, **rest), settings)

    return run


def names(answer):
    return [hit.name for hit in answer.hits]


@pytest.mark.parametrize("mode", Mode)
def test_every_mode_puts_the_right_tool_first(ask, mode):
    answer = ask("give the customer money back", mode)
    assert answer.hits[0].id == "mcptools:payments:refund_payment"
    assert answer.notices == ()


def test_words_find_only_what_shares_a_word(ask):
    assert set(names(ask("pinning messages", Mode.BM25))) == {"pin_message", "post_message"}
    assert names(ask("xylophone", Mode.BM25)) == []


def test_meaning_finds_parts_of_words_that_no_word_matches(ask):
    assert names(ask("refunding", Mode.VECTOR))[0] == "refund_payment"
    assert names(ask("distances measuring", Mode.VECTOR))[0] == "measure_distance"


def test_a_hybrid_search_ranks_what_either_leg_found(ask):
    assert len(ask("pin", limit=10).hits) == 6
    assert names(ask("pin", Mode.BM25)) == ["pin_message"]


@pytest.mark.parametrize("mode", Mode)
def test_the_limit_cuts_the_same_ranking_shorter(ask, mode):
    whole = names(ask("send a message", mode, limit=100))
    for limit in (1, 2, 5, 6, 100):
        assert names(ask("send a message", mode, limit=limit)) == whole[:limit]


def test_a_limit_beyond_the_depth_is_still_served(ask):
    assert len(ask("send", limit=6, depth=1).hits) == 6


@pytest.mark.parametrize("mode", Mode)
def test_a_blank_query_finds_nothing_and_says_why(ask, mode):
    for text in ("", " ", "\n\t", "\u3000"):
        answer = ask(text, mode)
        assert (answer.hits, answer.notices) == ((), ("the query is empty",))


@pytest.mark.parametrize("mode", Mode)
def test_a_query_without_words_is_answered_all_the_same(ask, mode):
    for text in ("?!", "…", "---", "🙂", "\x00", "a\x00b", "\ud800"):
        assert len(ask(text, mode).hits) <= 5


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("fusion", FUSIONS, ids=["sum", "rrf", "words only"])
def test_scores_lie_between_0_and_1_and_fall_with_the_sum(ask, mode, fusion):
    """A score says how sure one can be; by ranks a less sure one may stand before a surer one."""
    for query in QUERIES:
        scores = [hit.score for hit in ask(query, mode, fusion=fusion, limit=10).hits]
        assert all(0 <= score <= 1 for score in scores)
        if fusion.method is Method.SUM:
            assert scores == sorted(scores, reverse=True), query


@pytest.mark.parametrize("mode", Mode)
def test_the_same_question_gets_the_same_answer(ask, mode):
    for query in QUERIES:
        first = ask(query, mode, limit=10).hits
        assert all(ask(query, mode, limit=10).hits == first for _ in range(5))


@changing
def test_equal_scores_are_ordered_by_id(board, ask, folder):
    for name in ("zeta", "alpha", "mid"):
        folder.write(f"tied/{name}", "Do quux.")
    board.sync()
    for fusion in FUSIONS:
        assert names(ask("quux", Mode.BM25, fusion=fusion)) == ["alpha", "mid", "zeta"]


def test_the_breakdown_has_the_score_of_each_leg_and_the_rank_where_it_was_found(ask):
    hit = ask("refund payment").hits[0]
    assert hit.breakdown.keys() == {"bm25", "vector", "boosts"}
    assert hit.breakdown["bm25"]["rank"] == hit.breakdown["vector"]["rank"] == 1
    assert hit.breakdown["bm25"]["score"] > 0
    assert 0 < hit.breakdown["vector"]["score"] <= 1


@pytest.mark.parametrize(("mode", "leg"), [(Mode.BM25, "bm25"), (Mode.VECTOR, "vector")])
def test_the_ranks_of_a_single_leg_count_from_1(ask, mode, leg):
    hits = ask("send a message", mode).hits
    assert [hit.breakdown[leg]["rank"] for hit in hits] == list(range(1, len(hits) + 1))
    assert all(hit.breakdown.keys() == {leg, "boosts"} for hit in hits)


def test_a_hit_that_one_leg_put_forward_still_has_the_score_of_the_other(ask):
    hits = ask("message", depth=1, limit=1, fusion=FusionSettings(alpha=0.5)).hits
    assert len(hits) == 1
    assert all(hit.breakdown.keys() >= {"bm25", "vector"} for hit in hits)


def test_the_match_type_says_what_the_hit_rests_on(ask):
    assert ask("refund payment", Mode.BM25).hits[0].match_type is MatchType.KEYWORD
    assert ask("refund payment", Mode.VECTOR).hits[0].match_type is MatchType.SEMANTIC
    hits = {hit.name: hit.match_type for hit in ask("refund payment", limit=10).hits}
    assert hits["refund_payment"] is MatchType.BOTH
    assert hits["measure_distance"] is MatchType.SEMANTIC


def test_the_reason_names_the_shared_words_as_the_reader_wrote_them(ask):
    hit = ask("Messages, pinned!").hits[0]
    assert hit.name == "pin_message"
    assert "“messages”" in hit.reason
    assert "“pinned”" in hit.reason
    assert "meaning" in hit.reason
    assert "\n" not in hit.reason


FILTERS = [
    (Filters(categories=("mail",)), {"send_email", "search_inbox"}),
    (Filters(categories=("mail", "maps")), {"send_email", "search_inbox", "measure_distance"}),
    (Filters(tags=("far",)), {"measure_distance"}),
    (Filters(tags=("far", "none")), {"measure_distance"}),
    (Filters(sources=("second",)), {"measure_distance"}),
    (Filters(namespaces=("blue",)), {"measure_distance"}),
    (Filters(categories=("mail",), namespaces=("blue",)), set()),
    (Filters(kinds=("skill",)), set()),
    (Filters(tool_types=("bash",)), set()),
    (Filters(sources=("gentools",)), set()),
]


@changing
def test_filters_never_let_another_item_in(board, ask, folder, other):
    folder.path("maps/measure_distance").unlink()
    other.write("maps/measure_distance", "Send mail message words far.", '__tags__ = ["far"]')
    board.add_folder(other.root, name="second", namespace="blue")
    board.sync()
    for filters, expected in FILTERS:
        for mode in Mode:
            answer = ask("send mail message words customer", mode, filters=filters, limit=100)
            assert {hit.name for hit in answer.hits} == expected, (mode, filters)


def test_filters_apply_before_the_depth_cuts(ask):
    answer = ask("send a message", filters=Filters(categories=("maps",)), depth=1, limit=1)
    assert names(answer) == ["measure_distance"]


def test_with_embedding_disabled_a_search_by_meaning_goes_by_words_and_says_so(ask):
    answer = ask("refund", Mode.VECTOR, embedder=None)
    assert names(answer) == ["refund_payment"]
    assert answer.notices == ("embedding is disabled, so this is a search by words only",)


@pytest.mark.parametrize("mode", [Mode.BM25, Mode.HYBRID])
def test_with_embedding_disabled_other_searches_go_by_words(ask, mode):
    answer = ask("refund", mode, embedder=None)
    assert [hit.match_type for hit in answer.hits] == [MatchType.KEYWORD]
    assert all(0 < hit.score <= 1 for hit in answer.hits)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.VECTOR])
def test_without_its_model_a_search_goes_by_words_and_says_so_once(ask, mode, tmp_path):
    answer = ask("refund", mode, embedder=LocalEmbedder(tmp_path / "no weights"))
    assert names(answer) == ["refund_payment"]
    assert len(answer.notices) == 1
    assert "by words only" in answer.notices[0]
    assert "no weights" in answer.notices[0]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.VECTOR])
def test_when_the_embedder_fails_a_search_goes_by_words_and_says_so_once(ask, mode):
    answer = ask("refund", mode, embedder=OutOfOrder())
    assert names(answer) == ["refund_payment"]
    assert answer.notices == ("searched by words only: the service answered 503",)


def test_a_search_by_words_asks_no_embedder(ask):
    assert ask("refund", Mode.BM25, embedder=OutOfOrder()).notices == ()


@changing
def test_what_waits_for_its_vector_is_found_by_words_and_the_caller_is_told(board, ask, folder):
    folder.write("maps/locate", "Locate a lighthouse.")
    board.sync(embed=False)
    answer = ask("lighthouse")
    assert answer.hits[0].name == "locate"
    assert answer.hits[0].match_type is MatchType.KEYWORD
    assert len(answer.notices) == 1
    assert answer.notices[0].startswith("1 item")
    assert "pegboard backfill" in answer.notices[0]


@changing
def test_while_vectors_are_made_anew_the_old_ones_serve_without_a_notice(board, ask):
    board.refresh(None)
    answer = ask("refund payment")
    assert answer.hits[0].match_type is MatchType.BOTH
    assert answer.notices == ()


def test_vectors_of_another_model_are_never_compared(board, ask):
    answer = ask("refund", embedder=HashedEmbedder(64))
    assert all("vector" not in hit.breakdown for hit in answer.hits)
    assert len(answer.notices) == 1
    assert "pegboard backfill" in answer.notices[0]


def test_the_time_is_split_between_embedding_and_searching(ask):
    answer = ask("refund")
    assert answer.embed_seconds > 0
    assert answer.search_seconds > 0
    assert ask("refund", Mode.BM25).embed_seconds == 0


def test_an_embedder_that_fails_leaves_the_same_answer_as_a_search_by_words_alone(
    board, monkeypatch
):
    monkeypatch.setattr("pegboard.search.query.LEAD_POSTINGS", 0)
    monkeypatch.setattr("pegboard.board.find.gathering.LOOKED_AT", 1)
    ask = Ask("send message channel", limit=20, threshold=0.0)
    alone = find(board.store, None, ask, FindSettings())
    failed = find(board.store, OutOfOrder(), ask, FindSettings())
    assert alone.hits
    assert failed.hits == alone.hits
    with ThreadPoolExecutor(1) as beside:
        assert (
            find(board.store, OutOfOrder(), ask, FindSettings(), beside=beside).hits == alone.hits
        )
