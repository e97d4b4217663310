"""However `pegboard mcp` is stopped, it and every process below it are gone soon after."""

import signal
from collections.abc import Callable

import pytest
from strangers_parts import GONE, Desk, Served, Upstream, descendants, running

from real_servers import everything
from waiting import until


def end_input(served: Served) -> None:
    assert served.process.stdin
    served.process.stdin.close()


WAYS: dict[str, Callable[[Served], None]] = {
    "input ends": end_input,
    "SIGTERM": lambda served: served.process.send_signal(signal.SIGTERM),
    "SIGINT": lambda served: served.process.send_signal(signal.SIGINT),
}


@pytest.fixture
def busy(desk: Desk, start, tmp_path):
    """A server in the midst of a call to a server behind it, and the processes below it."""

    def make(*how: str) -> tuple[Served, set[int]]:
        upstream = Upstream(tmp_path / "upstream", *how)
        upstream.offer(wait="Wait for ever.")
        desk.add("office", upstream.command)
        desk.add("everything", [everything().command])
        served = start()
        served.greet()
        until(lambda: {"office", "everything"} <= categories(served), "both servers")
        served.begin("tools/call", name="call_tool", arguments={"name": "mcp:office:wait"})
        until(upstream.left("waiting").exists, "the call")
        below = descendants(served.process.pid)
        assert len(below) >= 2
        return served, below

    return make


def categories(served: Served) -> set[str]:
    return set(served.call("list_categories")["structuredContent"]["sources"].get("mcp", ()))


@pytest.mark.parametrize("way", WAYS)
def test_it_ends_with_everything_below_it(busy, way):
    ends_well(*busy(), way)


@pytest.mark.parametrize("way", ["input ends", "SIGTERM"])
def test_it_ends_with_those_below_it_that_do_not_want_to(busy, way):
    ends_well(*busy("stubborn"), way)


def ends_well(served: Served, below: set[int], way: str) -> None:
    WAYS[way](served)
    until(lambda: served.process.poll() is not None, "the server's end", GONE)
    assert running(below) == set()
    assert (served.process.returncode, served.said()) == (0, "")


def test_servers_behind_it_end_even_if_it_is_killed(busy):
    served, below = busy()
    served.process.kill()
    until(lambda: running(below) == set(), "the end of those below", GONE)


def test_it_ends_in_the_midst_of_embedding_with_the_real_model(desk, start):
    for number in range(600):
        desk.save(f"mcptools/farm/count_{number}.py", f"Count {number} sheep on the way home.")
    served = start(PEGBOARD_EMBED_PROVIDER="local")
    served.greet()
    until(lambda: "600" in str(served.call("list_categories")), "the sync")
    served.process.send_signal(signal.SIGTERM)
    until(lambda: served.process.poll() is not None, "the server's end", GONE)
    assert (served.process.returncode, served.said()) == (0, "")
    assert "is well" in desk.run("doctor")


def test_it_ends_while_a_server_behind_it_is_still_starting(desk, start):
    desk.add("slow", ["sleep", "60"])
    served = start()
    served.greet()
    until(lambda: bool(descendants(served.process.pid)), "the slow server")
    below = descendants(served.process.pid)
    end_input(served)
    until(lambda: served.process.poll() is not None, "the server's end", GONE)
    assert running(below) == set()
    assert (served.process.returncode, served.said()) == (0, "")
