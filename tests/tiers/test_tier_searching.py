"""Several tiers, asked as one."""

import threading
from pathlib import Path

import apsw
import pytest
from tier_parts import Desk, silent_server

from making_hits import make_hit
from pegboard.app.pegboard import Pegboard, located
from pegboard.board.publish.lock_file import Locked, write_lock
from pegboard.config.gateway import GatewayPlace
from pegboard.config.settings import Settings
from pegboard.errors import BoardMissing, BoardUnreachable, ConfigError, ItemNotFound, UsageError
from pegboard.formats.plain import plain
from pegboard.model.answers import Answer
from pegboard.model.items import Filters
from pegboard.remote.board import RemoteBoard
from pegboard.remote.connection import Answered
from pegboard.tiers import Tiers, boards
from pegboard.tiers.opening import user_place

GREET = "Write a greeting card for somebody."
BILL = "Make out a bill for a customer."
MAP = "Draw a map of the way to a place."


@pytest.fixture
def full(desk: Desk, registry):
    desk.tool("project", "paper/greet", GREET)
    desk.tool("user", "office/bill", BILL)
    desk.tool("registry", "travel/map", MAP)
    desk.fill()
    return desk


def ids(answer):
    return [(hit.id, hit.tier) for hit in answer.hits]


def states(answer):
    return {each.name: each.state for each in answer.tiers}


def test_all_tiers_answer_as_one_and_each_hit_says_where_it_hangs(full):
    with Pegboard.open() as board, Tiers(board) as tiers:
        for query, found in (
            ("greeting card", ("tools:paper:greet", "project")),
            ("bill for a customer", ("tools:office:bill", "user")),
            ("draw a map", ("tools:travel:map", "registry")),
        ):
            answer = tiers.search(query, tier="all")
            assert ids(answer)[0] == found
            assert states(answer) == {"project": "ok", "user": "ok", "registry": "ok"}
            assert sorted(answer.hits, key=lambda hit: -hit.score) == list(answer.hits)


SEVERAL = "write a greeting card, then draw a map of the way"


def by_request(answer):
    return {each.text: [(hit.id, hit.tier) for hit in each.answer.hits] for each in answer.requests}


def test_every_tier_is_asked_for_each_request_of_a_question(full):
    with Pegboard.open() as board, Tiers(board) as tiers:
        answer = tiers.search(SEVERAL, tier="all", limit=2)
        assert by_request(answer) == {
            "write a greeting card": [("tools:paper:greet", "project")],
            "draw a map of the way": [("tools:travel:map", "registry")],
        }
        assert ids(answer) == [("tools:paper:greet", "project"), ("tools:travel:map", "registry")]
        assert states(answer) == {"project": "ok", "user": "ok", "registry": "ok"}
        assert sum(each.hits for each in answer.tiers) > 2, "of which the best are shown"
        whole = tiers.search(SEVERAL, tier="all", split=False)
        assert whole.requests == () and whole.hits


def test_one_tier_alone_explains_each_request(full):
    with Pegboard.open() as board, Tiers(board) as tiers:
        answer = tiers.search(SEVERAL, tier="user", explain=True)
        assert list(by_request(answer)) == ["write a greeting card", "draw a map of the way"]
        assert all(each.answer.explanation for each in answer.requests)
        assert {hit.tier for each in answer.requests for hit in each.answer.hits} == {"user"}


class Gateway:
    """In place of the connection to a registry: one hit to everything, and what was asked."""

    address = "https://registry.example"

    def __init__(self):
        self.asked = []

    def ask(self, request):
        self.asked.append(request.body)
        return Answered(plain(Answer(hits=(make_hit("a:b:c", score=0.01),)).as_document()), "")

    def close(self):
        """Nothing is open."""


def test_a_gateway_that_splits_nothing_is_asked_for_each_request(desk, monkeypatch):
    desk.tool("project", "paper/greet", GREET)
    desk.fill()
    gateway = Gateway()
    registry = RemoteBoard(GatewayPlace("http://127.0.0.1:9"), Settings())
    registry.gateway.connection = gateway
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", "https://registry.example")
    monkeypatch.setattr(boards, "open_registry", lambda *place, **options: registry)
    with Pegboard.open() as board, Tiers(board) as tiers:
        answer = tiers.search(SEVERAL, tier="all", limit=4)
    assert [body["query"] for body in gateway.asked] == [each.text for each in answer.requests]
    assert not any("split" in body for body in gateway.asked)
    for each in answer.requests:
        assert ("a:b:c", "registry") in [(hit.id, hit.tier) for hit in each.answer.hits]
    assert len([hit for hit in answer.hits if hit.id == "a:b:c"]) == 1


@pytest.mark.parametrize(
    ("tier", "found"),
    [
        ("local", "tools:paper:greet"),
        ("user", "tools:office:bill"),
        ("registry", "tools:travel:map"),
    ],
)
def test_one_tier_is_asked_alone(full, tier, found):
    with Pegboard.open() as board, Tiers(board) as tiers:
        answer = tiers.search("a card, a bill, a map", tier=tier)
        assert [hit.id for hit in answer.hits] == [found]
        assert [each.state for each in answer.tiers] == ["ok"]


def test_what_a_search_takes_holds_on_every_tier(full):
    with Pegboard.open() as board, Tiers(board) as tiers:
        only = Filters(categories=("office",))
        assert ids(tiers.search("card bill map", tier="all", filters=only)) == [
            ("tools:office:bill", "user")
        ]
        assert len(tiers.search("card bill map", tier="all", limit=2).hits) == 2
        named = tiers.search("map", tier="all", mode="bm25").hits[0]
        assert (named.id, named.score >= 0.9) == ("tools:travel:map", True)
        for asked in ({"limit": 0}, {"mode": "none"}):
            with pytest.raises(UsageError):
                tiers.search("x", tier="all", **asked)
        with pytest.raises(UsageError, match="one board"):
            tiers.search("x", tier="all", explain=True)
        with pytest.raises(UsageError, match="must be one of"):
            tiers.search("x", tier="home")


def test_one_item_on_several_tiers_is_one_hit_of_the_nearest(desk, registry):
    for tier in ("project", "user", "registry"):
        desk.tool(tier, "paper/greet", GREET)
    desk.fill()
    with Pegboard.open() as board, Tiers(board) as tiers:
        [hit] = tiers.search("greeting card", tier="all").hits
    assert hit.tier == "project"
    assert [each.tier for each in hit.places] == ["project", "user", "registry"]
    assert not any(each.differs for each in hit.places)
    assert not hit.notes


def test_what_differs_is_said(desk, registry):
    desk.tool("project", "paper/greet", GREET)
    desk.tool("registry", "paper/greet", GREET, said="good day")
    desk.fill()
    with Pegboard.open() as board, Tiers(board) as tiers:
        [hit] = tiers.search("greeting card", tier="all").hits
    assert [each.differs for each in hit.places] == [False, True]
    assert hit.notes == (f"differs from the registry's {hit.places[1].version}",)


def test_another_namespace_is_another_item_unless_the_content_is_the_same(desk, registry):
    desk.tool("project", "paper/greet", GREET)
    desk.tool("registry", "paper/greet", GREET, said="good day")
    desk.fill("team-a")
    with Pegboard.open() as board, Tiers(board) as tiers:
        assert len(tiers.search("greeting card", tier="all").hits) == 2
    desk.tool("project", "paper/greet", GREET, said="good day")
    with Pegboard.open() as board, Tiers(board) as tiers:
        board.sync()
        [hit] = tiers.search("greeting card", tier="all").hits
        assert [each.namespace for each in hit.places] == ["public", "team-a"]


def test_what_was_pulled_is_one_item_with_where_it_came_from(desk, registry):
    desk.tool("project", "paper/greet", GREET)
    desk.tool("registry", "paper/greet", GREET, said="good day")
    desk.fill("team-a")
    pulled = Locked("1.0.0", "*", "0" * 64, "", "tools/paper/greet.py", folder=False)
    write_lock(desk.project / "pegboard.lock", {"team-a/tools:paper:greet": pulled})
    with Pegboard.open() as board, Tiers(board) as tiers:
        [hit] = tiers.search("greeting card", tier="all").hits
        assert [each.differs for each in hit.places] == [False, True]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"items": 3}', "\xff", "[" * 100_000])
def test_a_damaged_lock_is_passed_over_and_said_to_be(full, text):
    (full.project / "pegboard.lock").write_text(text, "latin-1")
    with Pegboard.open() as board, Tiers(board) as tiers:
        answer = tiers.search("greeting card", tier="all")
        assert ids(answer)[0] == ("tools:paper:greet", "project")
        assert any("pegboard.lock is passed over" in each for each in answer.notices)


def test_other_scripts_are_found_on_every_tier(desk, registry):
    desk.tool("project", "zh/kapian", "写一张贺卡给朋友。")
    desk.tool("registry", "zh/ditu", "画一张去某地的地图。")
    desk.fill()
    with Pegboard.open() as board, Tiers(board) as tiers:
        assert ids(tiers.search("地图", tier="all", mode="bm25"))[0] == (
            "tools:zh:ditu",
            "registry",
        )


def test_a_person_without_a_board_of_his_own_or_a_registry_has_only_fewer_tiers(desk):
    desk.tool("project", "paper/greet", GREET)
    desk.fill()
    with Pegboard.open() as board, Tiers(board) as tiers:
        answer = tiers.search("greeting card", tier="all")
        assert ids(answer) == [("tools:paper:greet", "project")]
        assert states(answer) == {"project": "ok", "user": "empty", "registry": "empty"}
        assert not answer.notices
        with pytest.raises(BoardMissing, match="no board of your own"):
            tiers.search("greeting card", tier="user")
        with pytest.raises(ConfigError, match="no registry"):
            tiers.search("greeting card", tier="registry")


def test_outside_of_a_project_the_users_board_is_asked_once(full, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Pegboard.open() as board, Tiers(board) as tiers:
        answer = tiers.search("bill for a customer", tier="all")
        assert ids(answer)[0] == ("tools:office:bill", "user")
        assert list(states(answer)) == ["user", "registry"]


def test_a_registry_that_is_down_is_named_and_the_others_answer(full, monkeypatch):
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", "http://127.0.0.1:9")
    with Pegboard.open() as board, Tiers(board) as tiers:
        answer = tiers.search("greeting card", tier="all")
        assert ids(answer)[0] == ("tools:paper:greet", "project")
        assert states(answer) == {"project": "ok", "user": "ok", "registry": "down"}
        assert any("registry tier is down" in each for each in answer.notices)


@pytest.mark.parametrize("scheme", ["http://127.0.0.1:{}", "postgresql://ada@127.0.0.1:{}/tools"])
def test_a_registry_that_accepts_and_never_answers_holds_nothing_up(full, monkeypatch, scheme):
    with silent_server() as port:
        monkeypatch.setenv("PEGBOARD_REGISTRY_URL", scheme.format(port))
        with Pegboard.open() as board, Tiers(board, seconds=0.2) as tiers:
            before = threading.active_count()
            for _ in range(6):
                answer = tiers.search("greeting card", tier="all")
                assert ids(answer)[0] == ("tools:paper:greet", "project")
                assert states(answer)["registry"] in ("slow", "down")
            assert threading.active_count() <= before + 8


def test_a_users_board_that_is_locked_holds_nothing_up(full):
    holding = apsw.Connection(str(user_place(located()).board))
    holding.pragma("journal_mode", "DELETE")
    holding.execute("BEGIN EXCLUSIVE")
    with Pegboard.open() as board, Tiers(board, seconds=0.3) as tiers:
        answer = tiers.search("greeting card", tier="all")
        assert ids(answer)[0] == ("tools:paper:greet", "project")
        assert states(answer)["user"] == "slow"
    holding.execute("ROLLBACK")
    holding.close()


def test_a_users_board_that_cannot_be_written_is_searched(full):
    file = user_place(located()).board
    Path(file).chmod(0o444)
    with Pegboard.open() as board, Tiers(board) as tiers:
        assert ids(tiers.search("bill for a customer", tier="all"))[0] == (
            "tools:office:bill",
            "user",
        )


def test_an_item_is_held_by_the_nearest_tier_that_has_it(full):
    full.tool("registry", "paper/greet", GREET, said="good day")
    full.fill()
    with Pegboard.open() as board, Tiers(board) as tiers:
        assert tiers.held("greet", "all").tier == "project"
        assert tiers.held("tools:paper:greet", "registry").tier == "registry"
        assert tiers.held("tools:travel:map", "all").tier == "registry"
        with pytest.raises(ItemNotFound):
            tiers.held("tools:travel:map")
        with pytest.raises(ItemNotFound, match="in project or user or registry"):
            tiers.held("nothing", "all")


def test_what_is_not_found_while_a_tier_is_down_may_be_there(full, monkeypatch):
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", "http://127.0.0.1:9")
    with Pegboard.open() as board, Tiers(board) as tiers:
        assert tiers.held("greet", "all").tier == "project"
        with pytest.raises(BoardUnreachable, match="registry tier is down"):
            tiers.held("map", "all")


def test_a_query_is_embedded_once_for_all_boards(full):
    with Pegboard.open() as board:
        true = board.embedder
        asked = []

        class Counting:
            fingerprint = true.fingerprint

            def embed_query(self, text):
                asked.append(text)
                return true.embed_query(text)

            def embed(self, texts):
                return true.embed(texts)

            def close(self):
                true.close()

        board.embedder = Counting()
        with Tiers(board) as tiers:
            answer = tiers.search("greeting card", tier="all")
            assert {hit.tier for hit in answer.hits} == {"project", "user", "registry"}
    assert asked == ["greeting card"]
