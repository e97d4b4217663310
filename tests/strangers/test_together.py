"""Several server processes of both profiles on one board, while files change."""

from collections import Counter

import pytest
from strangers_parts import BOUND, PYTOOLS, Served

from pegboard import Pegboard
from waiting import until

WORDS = ("apple", "bridge", "candle", "dragon", "engine", "forest", "garden", "hammer")


@pytest.fixture
def servers(desk, start):
    """Three of Pegboard's own and three in the place of freeact's."""
    variables = {
        "PYTOOLS_DIR": str(desk.tools),
        "PYTOOLS_DB_PATH": str(desk.board),
        "PYTOOLS_EMBEDDING_MODEL": "test",
    }
    own = [start() for _ in range(3)]
    theirs = [start(program=PYTOOLS, **variables) for _ in range(3)]
    for each in (*own, *theirs):
        each.greet()
    return own, theirs


def ids(served: Served, query: str) -> list[str]:
    found = served.call("search_tools", query=query, mode="bm25", limit=50)["structuredContent"]
    if "hits" in found:
        return [hit["id"] for hit in found["hits"]]
    return [f"{hit['source']}:{hit['category']}:{hit['name']}" for hit in found["result"]]


def test_all_of_them_follow_the_files_and_give_the_same_answers(desk, servers):
    own, theirs = servers
    everyone = [*own, *theirs]
    for number in range(40):
        word = WORDS[number % len(WORDS)]
        desk.save(
            f"mcptools/box{number % 3}/{word}_{number}.py", f"Polish the {word} number {number}."
        )
        everyone[number % len(everyone)].call("search_tools", query=word)
    for number in range(0, 40, 4):
        word = WORDS[number % len(WORDS)]
        (desk.tools / f"mcptools/box{number % 3}/{word}_{number}.py").unlink()
    desk.save("mcptools/chat/post_message.py", "Polish nothing at all.")

    def expected() -> set[str]:
        files = (desk.tools / "mcptools").rglob("*.py")
        return {f"mcptools:{file.parent.name}:{file.stem}" for file in files}

    wanted = expected()
    for each in everyone:
        until(lambda each=each: set(ids(each, "polish")) == wanted, "all changes")
    with Pegboard.open(str(desk.board), embed__provider="test") as board:
        until(lambda: board.status().embeddings.ready == len(wanted), "all vectors")
        until(lambda: board.models.listed()[0].calibrated == "on this board", "a scale")
        answers = [ids(each, "polish the dragon") for each in everyone]
        assert all(answer == answers[0] for answer in answers)
        assert max(Counter(answers[0]).values()) == 1
        assert sorted(entry.item.id for entry in board.listed(limit=100)) == sorted(wanted)
    for each in everyone:
        each.process.stdin.close()
    for each in everyone:
        assert (each.process.wait(BOUND), each.said()) == (0, "")
    assert "is well" in desk.run("doctor")
