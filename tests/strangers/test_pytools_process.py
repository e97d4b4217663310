"""`python -m pegboard.pytools` in the place of freeact's search server: its variables, its wire."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from strangers_parts import BOUND, PYTOOLS, Desk, Served

from pegboard import Pegboard
from waiting import until

REFERENCE = str(Path(__file__).with_name("reference_pytools.py"))


@pytest.fixture
def place(tmp_path) -> Desk:
    return generated(tmp_path)


def generated(folder: Path) -> Desk:
    """A folder with generated tools where freeact puts them, and no board yet."""
    made = Desk(folder)
    made.tools = folder / ".freeact" / "generated"
    made.save("mcptools/chat/post_message.py", "Send a message into a channel.")
    made.save("mcptools/mail/send_mail.py", "Send an electronic letter.")
    made.save("gentools/text/count_words/api.py", "Say how many words a text has.")
    return made


@pytest.fixture
def serve(place):
    """With these variables, and the quick embedder unless they say otherwise."""
    started: list[Served] = []

    def make(*args: str, **variables: str) -> Served:
        chosen = {"PYTOOLS_EMBEDDING_MODEL": "test"} | variables
        started.append(place.start(*args, program=PYTOOLS, **chosen))
        return started[-1]

    yield make
    for each in started:
        each.close()


def names(served: Served, query: str, **more) -> list[str]:
    found = served.call("search_tools", query=query, **more)
    return [each["name"] for each in found["structuredContent"]["result"]]


def stopped(served: Served) -> str:
    """What it said by the time it had ended well."""
    served.process.stdin.close()
    assert served.process.wait(BOUND) == 0
    return served.said()


def refused(served: Served) -> tuple[int, str]:
    return served.process.wait(BOUND), served.said()


# Variables


def test_without_variables_it_takes_what_freeact_takes(place, serve):
    served = serve()
    served.greet()
    until(lambda: len(names(served, "send", mode="bm25")) == 2, "the sync")
    found = served.call("search_tools", query="how many words")["structuredContent"]["result"][0]
    assert list(found) == ["name", "category", "source", "description", "path", "score"]
    assert found["path"] == ".freeact/generated/gentools/text/count_words/api.py"
    assert found["description"] == "Say how many words a text has."
    assert (place.folder / ".freeact" / "search.db").exists()
    assert stopped(served) == ""


def test_folder_and_database_can_be_elsewhere_and_the_folder_may_come_later(place, serve):
    served = serve(PYTOOLS_DIR="later", PYTOOLS_DB_PATH="deep/down/x.db")
    served.greet()
    assert names(served, "anything") == []
    place.tools = place.folder / "later"
    place.save("mcptools/zoo/feed.py", "Feed the zebra.")
    until(lambda: names(served, "zebra", mode="bm25") == ["feed"], "the new folder")
    found = served.call("search_tools", query="zebra")["structuredContent"]["result"][0]
    assert found["path"] == "later/mcptools/zoo/feed.py"
    assert (place.folder / "deep" / "down" / "x.db").exists()
    assert not (place.folder / ".freeact" / "search.db").exists()
    assert "Traceback" not in stopped(served)


def test_the_dimension_of_the_test_model_is_taken(place, serve):
    served = serve(PYTOOLS_EMBEDDING_DIM="48")
    served.greet()
    until(lambda: len(names(served, "send", mode="vector")) == 3, "the vectors")
    assert stopped(served) == ""
    with closing(sqlite3.connect(place.folder / ".freeact" / "search.db")) as database:
        assert database.execute("SELECT DISTINCT length(vector) FROM vectors").fetchall() == [
            (48 * 4,)
        ]


def test_a_model_that_needs_a_key_is_replaced_and_that_is_said(serve):
    served = serve(
        PYTOOLS_EMBEDDING_MODEL="google-gla:gemini-embedding-001", PYTOOLS_EMBEDDING_DIM="3072"
    )
    served.greet()
    until(lambda: "post_message" in names(served, "message", mode="bm25"), "the sync")
    said = stopped(served)
    assert "google-gla:gemini-embedding-001" in said
    assert said.count("\n") == 1


def test_without_sync_and_watch_the_board_stays_as_it_is(place, serve):
    first = serve(PYTOOLS_WATCH="false")
    first.greet()
    until(lambda: len(names(first, "send", mode="bm25")) == 2, "the sync")
    stopped(first)
    place.save("mcptools/zoo/feed.py", "Feed the zebra.")
    second = serve(PYTOOLS_SYNC="false", PYTOOLS_WATCH="False")
    second.greet()
    assert names(second, "zebra", mode="bm25") == []
    assert len(names(second, "send", mode="bm25")) == 2
    stopped(second)


def test_weights_decide_between_words_and_meaning(serve):
    """A weight of nothing for words leaves the order of meaning, and the other way round."""
    words = serve(PYTOOLS_VEC_WEIGHT="0", PYTOOLS_DB_PATH="words.db")
    meaning = serve(PYTOOLS_BM25_WEIGHT="0", PYTOOLS_DB_PATH="meaning.db")
    for each, mode in ((words, "bm25"), (meaning, "vector")):
        each.greet()
        until(lambda e=each: len(names(e, "send", mode="vector")) == 3, "the vectors")
        query = "send a message with many words"
        alone = names(each, query, mode=mode)
        assert names(each, query)[: len(alone)] == alone
        stopped(each)


BAD = {
    "dimension": ("PYTOOLS_EMBEDDING_DIM", "many", "a whole number"),
    "words": ("PYTOOLS_BM25_WEIGHT", "heavy", "a number"),
    "meaning": ("PYTOOLS_VEC_WEIGHT", "-1", "at least 0"),
    "watch": ("PYTOOLS_WATCH", "perhaps", "true or false"),
}


@pytest.mark.parametrize(("name", "value", "expected"), BAD.values(), ids=BAD.keys())
def test_a_value_that_cannot_be_used_is_named(serve, name, value, expected):
    code, said = refused(serve(**{name: value}))
    assert code == 3
    assert name in said
    assert value in said
    assert expected in said
    assert "Traceback" not in said


def test_a_database_that_freeact_made_is_left_alone(place, serve):
    theirs = place.folder / ".freeact" / "search.db"
    with closing(sqlite3.connect(theirs)) as database:
        database.execute("CREATE TABLE entries (id TEXT PRIMARY KEY, description TEXT)")
        database.commit()
    before = theirs.read_bytes()
    served = serve()
    served.greet()
    until(lambda: len(names(served, "send", mode="bm25")) == 2, "the sync")
    said = stopped(served)
    assert theirs.read_bytes() == before
    assert (theirs.parent / "search.pegboard.db").exists()
    assert "search.pegboard.db" in said


def test_a_folder_that_is_on_the_board_already_is_not_added_again(desk, start):
    variables = {"PYTOOLS_DIR": str(desk.tools), "PYTOOLS_DB_PATH": str(desk.board)}
    served = start(program=PYTOOLS, PYTOOLS_EMBEDDING_MODEL="test", **variables)
    served.greet()
    until(lambda: names(served, "message", mode="bm25") == ["post_message"], "the sync")
    stopped(served)
    with Pegboard.open(str(desk.board), embed__provider="test") as board:
        assert [record.name for record in board.sources()] == ["tools"]
        assert board.rejections() == []


# The wire


def bare(value: object) -> object:
    """Without the words of descriptions, which are for reading and not for programs."""
    if isinstance(value, dict):
        kept = {key: bare(each) for key, each in value.items() if key != "description"}
        return kept | ({"description": "-"} if isinstance(value.get("description"), dict) else {})
    return [bare(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Ours, and one that the SDK makes of functions; each is asked the same."""
    place = generated(tmp_path_factory.mktemp("wire"))
    said = place.folder / "said.json"
    ours = place.start(program=PYTOOLS, PYTOOLS_EMBEDDING_MODEL="test")
    ours.greet()
    theirs = Served([sys.executable, REFERENCE, str(said)], place.folder, place.environ)
    theirs.greet()
    until(lambda: len(names(ours, "send", mode="bm25")) == 2, "the sync")

    def ask(method: str, **params) -> tuple[dict, dict]:
        mine = ours.ask(method, **params)
        if structured := mine.get("result", {}).get("structuredContent"):
            said.write_text(json.dumps(structured))
        other = theirs.ask(method, **params)
        return mine | {"id": 0}, other | {"id": 0}

    yield ask
    ours.close()
    theirs.close()


CALLS = [
    ("search_tools", {"query": "send a message"}),
    ("search_tools", {"query": "words", "mode": "bm25", "scope": "gentools", "limit": "1"}),
    ("search_tools", {"query": "nothing like it", "mode": "bm25"}),
    ("list_categories", {}),
    ("list_tools", {"categories": "chat"}),
    ("list_tools", {"categories": ["text", "nowhere"]}),
    ("list_tools", {"categories": '["text", "mail"]'}),
]
MISTAKES = [
    ("search_tools", {}),
    ("search_tools", {"query": "x", "limit": 51}),
    ("search_tools", {"query": "x", "mode": "fuzzy"}),
    ("list_tools", {"categories": 3}),
    ("no_such_tool", {}),
]


def test_answers_are_the_same_on_the_wire(both):
    for tool, arguments in CALLS:
        mine, theirs = both("tools/call", name=tool, arguments=arguments)
        assert mine == theirs, (tool, arguments)


def test_tools_are_shown_in_the_same_way(both):
    mine, theirs = both("tools/list")
    shown = [{tool["name"]: tool for tool in each["result"]["tools"]} for each in (mine, theirs)]
    assert shown[0].keys() == shown[1].keys()
    for name in shown[1]:
        ours, reference = bare(shown[0][name]), bare(shown[1][name])
        assert ours["inputSchema"] == {"type": "object"} | reference["inputSchema"], name
        assert ours["outputSchema"] == reference["outputSchema"], name
        assert ours["annotations"] == reference["annotations"], name


def test_mistakes_are_errors_of_the_same_kind(both):
    for tool, arguments in MISTAKES:
        mine, theirs = both("tools/call", name=tool, arguments=arguments)
        assert mine.keys() == theirs.keys(), (tool, theirs)
        if "result" in theirs:
            assert mine["result"]["isError"] is theirs["result"]["isError"] is True
            kinds = [
                [block["type"] for block in each["result"]["content"]] for each in (mine, theirs)
            ]
            assert kinds[0] == kinds[1] == ["text"]


def test_the_profile_of_the_command_is_the_same_server(place):
    served = place.start("--profile", "pytools", PYTOOLS_EMBEDDING_MODEL="test")
    try:
        assert served.greet()["result"]["serverInfo"]["name"] == "pytools"
        tools = served.ask("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["search_tools", "list_categories", "list_tools"]
    finally:
        served.close()
