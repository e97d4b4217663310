"""search, show and run over tiers, as a user has them; also to the very end of the process."""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest
from tier_parts import Desk, command, silent_server

from pegboard.app.pegboard import Pegboard, located
from pegboard.tiers import Tiers
from pegboard.tiers.opening import registry_place
from trial_postgres import LASTING, TrialPostgres
from waiting import until

pytestmark = pytest.mark.server

GREET = "Write a greeting card for somebody."
MAP = "Draw a map of the way to a place."


@pytest.fixture
def full(desk: Desk, registry):
    desk.tool("project", "paper/greet", GREET)
    desk.tool("user", "office/bill", "Make out a bill for a customer.")
    desk.tool("registry", "travel/map", MAP)
    desk.fill()
    return desk


def test_a_search_of_all_tiers_shows_each_hits_tier(full):
    ran = command("search", "draw a map", "--tier", "all")
    assert ran.returncode == 0, ran.stderr
    assert " 1. tools:travel:map  " in ran.stdout
    assert "  registry, unsigned" in ran.stdout
    assert not ran.stderr


def test_programs_get_the_tiers_and_the_places(full):
    ran = command("search", "greeting card", "--tier", "all", "--json")
    found = json.loads(ran.stdout)
    assert found["hits"][0]["tier"] == "project"
    assert [each["tier"] for each in found["hits"][0]["places"]] == ["project"]
    assert [each["state"] for each in found["tiers"]] == ["ok", "ok", "ok"]
    alone = json.loads(command("search", "a map", "--tier", "registry", "--json").stdout)
    assert {hit["tier"] for hit in alone["hits"]} == {"registry"}
    assert json.loads(command("search", "a map", "--json").stdout)["tiers"] == []


def test_the_setting_says_which_tiers_are_searched(full):
    (full.project / "pegboard.toml").write_text('[search]\ntier = "all"\n')
    ran = command("search", "draw a map")
    assert "tools:travel:map" in ran.stdout
    assert command("show", "tools:travel:map").returncode == 0
    assert "tools:travel:map" not in command("search", "draw a map", "--tier", "local").stdout


@pytest.mark.parametrize("scheme", ["http://127.0.0.1:{}", "postgresql://ada@127.0.0.1:{}/tools"])
def test_a_registry_that_hangs_delays_neither_the_answer_nor_the_end(full, monkeypatch, scheme):
    monkeypatch.setenv("PEGBOARD_SEARCH_TIER_SECONDS", "0.3")
    with silent_server() as port:  # which would be waited for longer than the command may take
        monkeypatch.setenv("PEGBOARD_REGISTRY_URL", scheme.format(port))
        ran = command("search", "greeting card", "--tier", "all")
    assert ran.returncode == 0, ran.stderr
    assert "tools:paper:greet" in ran.stdout
    assert "note: the registry tier is" in ran.stderr


def test_an_item_is_shown_and_run_from_the_nearest_tier(full):
    assert "nobody" not in command("run", "greet", "--tier", "all", "--arg", "name=Ada").stdout
    ran = command("run", "tools:paper:greet", "--tier", "all", "--arg", "name=Ada")
    assert (ran.returncode, ran.stdout.strip()) == (0, "hello, Ada"), ran.stderr
    assert command("show", "tools:travel:map").returncode != 0
    assert "Draw a map" in command("show", "tools:travel:map", "--tier", "registry").stdout


def test_what_the_registry_has_runs_here_by_the_policy_for_a_registry(full):
    ran = command("run", "tools:travel:map", "--tier", "all", "--arg", "name=Ada")
    assert ran.returncode == 11
    assert "nobody signed it" in ran.stderr
    assert "run.unsigned_registry" in ran.stderr
    ran = command("run", "tools:travel:map", "--tier", "all", "--arg", "name=Ada", "--approve")
    assert (ran.returncode, ran.stdout.strip()) == (0, "hello, Ada"), ran.stderr


def test_a_gateway_is_one_board(full):
    ran = command("search", "x", "--tier", "all", "--gateway", "http://127.0.0.1:9")
    assert ran.returncode != 0
    assert "a gateway is one board" in ran.stderr


def test_without_a_board_here_the_registry_is_asked_alone(full, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nobody"))
    monkeypatch.chdir(tmp_path)
    for tier in ("all", "registry"):
        ran = command("search", "draw a map", "--tier", tier)
        assert "tools:travel:map" in ran.stdout, ran.stderr


def test_a_registry_behind_a_gateway_is_searched_and_runs_what_it_has(full, monkeypatch):
    place = registry_place(located())
    with subprocess.Popen(
        [sys.executable, "-m", "pegboard", "serve", "--port", "0", "--open", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PEGBOARD_BOARD": str(place.board), "PEGBOARD_SERVE_SEARCHERS": "0"},
    ) as serving:
        url = json.loads(serving.stdout.readline())["url"]
        monkeypatch.setenv("PEGBOARD_REGISTRY_URL", url)
        found = json.loads(command("search", "draw a map", "--tier", "all", "--json").stdout)
        first = found["hits"][0]
        assert (first["id"], first["tier"]) == ("tools:travel:map", "registry")
        ran = command("run", "tools:travel:map", "--tier", "all", "--arg", "name=Ada", "--approve")
        assert (ran.returncode, ran.stdout.strip()) == (0, "hello, Ada"), ran.stderr
        serving.send_signal(signal.SIGKILL)
        serving.wait()
        ran = command("search", "greeting card", "--tier", "all")
        assert ran.returncode == 0
        assert "tools:paper:greet" in ran.stdout
        assert "note: the registry tier is down" in ran.stderr


def test_what_is_put_on_the_registry_is_found_by_every_project_at_once(full, tmp_path, monkeypatch):
    boards = []
    for name in ("one", "two", "three"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "pegboard.toml").write_text("")
        monkeypatch.chdir(folder)
        Pegboard.open(create=True).close()
        boards.append(folder)
    code = (
        "import sys\n"
        "from pegboard import Pegboard\n"
        "from pegboard.tiers import Tiers\n"
        "with Pegboard.open() as board, Tiers(board) as tiers:\n"
        "    for line in sys.stdin:\n"
        "        hits = tiers.search(line.strip(), tier='all').hits\n"
        "        print(hits[0].id if hits else '', flush=True)\n"
    )
    with ExitStack() as stack:
        asking = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", code],
                    cwd=folder,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for folder in boards
        ]

        def answers(query):
            for each in asking:
                each.stdin.write(f"{query}\n")
                each.stdin.flush()
            return [each.stdout.readline().strip() for each in asking]

        assert answers("draw a map") == ["tools:travel:map"] * 3
        full.tool("registry", "music/flute", "Play a tune on the flute.")
        with Pegboard.at(registry_place(located())) as registry:
            registry.sync()
        until(lambda: answers("tune on the flute") == ["tools:music:flute"] * 3)
        for each in asking:
            each.stdin.close()
            assert each.wait(60) == 0


def _postmaster(trial):
    return int((trial.data / "postmaster.pid").read_text().splitlines()[0])


def _started(trial):
    try:
        trial.start()
    except RuntimeError:  # what is left of the old one is still ending
        return False
    return True


def test_a_registry_that_is_killed_between_and_during_searches(desk: Desk, monkeypatch):
    trial = TrialPostgres(LASTING, in_memory=True)
    try:
        trial.create()
        trial.start()
        monkeypatch.setenv("PEGBOARD_REGISTRY_URL", trial.url())
        desk.tool("project", "paper/greet", GREET)
        desk.tool("registry", "travel/map", MAP)
        desk.fill()
        with Pegboard.open() as board, Tiers(board, seconds=2) as tiers:
            assert tiers.search("draw a map", tier="all").hits[0].tier == "registry"
            os.kill(_postmaster(trial), signal.SIGKILL)
            for _ in range(3):
                answer = tiers.search("greeting card", tier="all")
                assert answer.hits[0].id == "tools:paper:greet"
                assert answer.tiers[-1].state in ("slow", "down")
            until(lambda: _started(trial))
            until(lambda: tiers.search("draw a map", tier="all").hits[0].tier == "registry")
    finally:
        trial.remove()
