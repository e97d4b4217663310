"""Two gateways on one PostgreSQL board: what one process puts there, both find."""

from pathlib import Path

import pytest
from strangers_parts import BOUND, Desk, Served

from pegboard import Pegboard
from waiting import until

REFUND = "mcptools:pay:refund"


@pytest.fixture
def desk(tmp_path: Path, postgres_url: str) -> Desk:
    """The board is in a database; the folder of tools is none of its sources yet."""
    made = Desk(tmp_path)
    made.environ["PEGBOARD_BOARD"] = postgres_url
    made.save("mcptools/chat/post_message.py", "Send a message into a channel.")
    return made


@pytest.fixture
def gateways(desk, start):
    """Neither reads any source: they know only what others put on the board."""
    started = [start("--no-sync", "--no-watch") for _ in range(2)]
    for each in started:
        each.greet()
        assert ids(each, "refund") == []
    return started


def ids(served: Served, query: str, mode: str = "bm25") -> list[str]:
    found = served.call("search_tools", query=query, mode=mode)["structuredContent"]
    return [hit["id"] for hit in found["hits"]]


def described(served: Served, name: str) -> str:
    return str(served.call("describe_tool", name=name)["content"][0]["text"])


def shown(served: Served) -> str:
    """How many tools of which category, as clients are told before they search."""
    return str(served.ask("tools/list")["result"]["tools"][0]["description"])


def test_a_tool_that_one_process_puts_changes_and_removes_is_so_at_both_gateways(
    desk, gateways, postgres_url
):
    desk.save("mcptools/pay/refund.py", "Give a customer their money back.")
    with Pegboard.open(postgres_url, embed__provider="test") as editor:
        editor.add_folder(desk.tools)
        editor.sync(embed=False)
        for each in gateways:
            until(lambda each=each: ids(each, "customer") == [REFUND], "the new tool")
            assert "money back" in described(each, "refund")
            until(lambda each=each: "2 items" in shown(each), "the census")

        desk.save("mcptools/pay/refund.py", "Reimburse an unhappy buyer.")
        editor.sync(embed=False)
        for each in gateways:
            until(lambda each=each: ids(each, "buyer") == [REFUND], "the edit")
            assert ids(each, "customer") == []
            assert "Reimburse" in described(each, "refund")

        until(lambda: editor.status().embeddings.ready == 2, "vectors, which gateways make")
        for each in gateways:
            until(lambda each=each: ids(each, "reimbursing", "vector")[:1] == [REFUND], "it")

        (desk.tools / "mcptools/pay/refund.py").unlink()
        editor.sync(embed=False)
        for each in gateways:
            until(lambda each=each: ids(each, "buyer") == [], "that it is gone")
        assert editor.check() == []
    ended_well(gateways)


def test_a_client_of_one_gateway_hears_of_a_tool_that_comes_through_the_other(desk, start):
    """One reads the folder; the other hears of it from the database alone."""
    reading, listening = start(), start("--no-sync", "--no-watch")
    for each in (reading, listening):
        each.greet()
    assert "The board is empty." in shown(listening)
    desk.run("add", "folder", "--no-sync", "tools")
    while listening.hear().get("method") != "notifications/tools/list_changed":
        pass
    until(lambda: ids(listening, "message") == ["mcptools:chat:post_message"], "the tool")
    assert ids(reading, "message") == ["mcptools:chat:post_message"]
    ended_well([reading, listening])


def ended_well(gateways: list[Served]) -> None:
    for each in gateways:
        each.process.stdin.close()
    for each in gateways:
        assert (each.process.wait(BOUND), each.said()) == (0, "")
