"""A sweep: what it chooses, how sure it is, and when it leaves things as they are."""

import json
import random
import tomllib
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.board.measure.evaluating import interval
from pegboard.board.measure.sweeping import (
    ENOUGH,
    MEASURE,
    distance,
    grid,
    hold_out,
    judge,
    pick,
    toml,
)
from pegboard.cli.main import cli
from pegboard.config.loading import load
from pegboard.errors import UsageError
from pegboard.search.fusion import FusionSettings, Method

PRESENT = FusionSettings()
BETTER = PRESENT._replace(alpha=0.2)
NEARER = PRESENT._replace(alpha=0.35)
BY_RANK = PRESENT._replace(method=Method.RRF)
SHARED = "please handle this urgent office paperwork today"
PLACES = ("river", "meadow", "harbour", "forest")

unit_scores = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def table(present, **others):
    named = {"better": BETTER, "nearer": NEARER, "by_rank": BY_RANK}
    return {PRESENT: present} | {named[name]: values for name, values in others.items()}


# Intervals


@given(unit_scores)
def test_the_interval_contains_the_mean(values):
    low, high = interval(values)
    assert low - 1e-4 <= fmean(values) <= high + 1e-4
    assert min(values) - 1e-4 <= low <= high <= max(values) + 1e-4


@given(unit_scores)
def test_the_same_values_have_the_same_interval_every_time(values):
    assert interval(values) == interval(values)


def test_more_queries_make_the_interval_narrower():
    def width(times):
        low, high = interval([0.0, 1.0, 1.0, 0.5] * times)
        return high - low

    assert width(4) > width(16) > width(64)


# The grid


@pytest.mark.parametrize("present", [PRESENT, BY_RANK, PRESENT._replace(alpha=0.37)])
def test_the_grid_begins_with_the_present_settings_and_has_none_twice(present):
    found = grid(present)
    assert found[0] == present
    assert len(set(found)) == len(found)
    assert {each.alpha for each in found if each.method is Method.SUM} >= {0.0, 0.5, 1.0}
    assert {each.k for each in found if each.method is Method.RRF} >= {10, 30, 60, 100}


def test_what_is_not_swept_stays_as_it_is():
    present = PRESENT._replace(fuzzy_weight=0.123)
    assert {each.fuzzy_weight for each in grid(present)} == {0.123}


def test_another_method_is_farther_away_than_any_number():
    apart = [distance(each, PRESENT) for each in grid(PRESENT)]
    same = [distance(each, PRESENT) for each in grid(PRESENT) if each.method is Method.SUM]
    assert distance(PRESENT, PRESENT) == 0
    assert sorted(apart)[: len(same)] == sorted(same)


# Picking


def test_the_best_is_picked_when_noise_cannot_explain_it():
    found = pick(table([0.2] * 30, better=[0.9] * 30), PRESENT, range(30))
    assert found == BETTER


def test_of_those_within_noise_of_the_best_the_nearest_to_the_present_is_picked():
    better = [0.9] * 30
    nearer = [0.9] * 28 + [0.0, 1.0]
    assert fmean(nearer) < fmean(better)
    found = pick(table([0.2] * 30, better=better, nearer=nearer), PRESENT, range(30))
    assert found == NEARER


def test_the_present_settings_win_a_tie():
    same = [0.1, 0.8, 0.5]
    found = pick(table(same, by_rank=same, better=same, nearer=same), PRESENT, range(3))
    assert found == PRESENT


def test_with_no_queries_to_pick_by_the_present_settings_are_picked():
    assert pick(table([0.1], better=[0.9]), PRESENT, []) == PRESENT


def test_a_query_has_no_say_in_the_settings_it_is_measured_with():
    """One query that loves another setting cannot vouch for it."""
    size = 30
    better = [0.5] * size
    better[7] = 1.0
    held_out = hold_out(table([0.5] * size, better=better), PRESENT)
    assert held_out.gain == 0


@given(st.integers(1, 60), st.integers(0, 1000))
def test_the_held_out_gain_is_never_above_what_the_best_gains_on_every_query(size, seed):
    draw = random.Random(seed)
    present, better, nearer = ([draw.random() for _ in range(size)] for _ in range(3))
    held_out = hold_out(table(present, better=better, nearer=nearer), PRESENT)
    most = fmean(max(values) for values in zip(present, better, nearer, strict=True))
    assert held_out.gain <= most - fmean(present) + 1e-9
    assert held_out.interval[0] - 1e-4 <= held_out.gain <= held_out.interval[1] + 1e-4
    assert held_out.picked.total() == held_out.folds * held_out.rounds


# Judging


def clear_gain(size):
    return table([0.5, 0.6] * (size // 2), better=[0.8, 0.9] * (size // 2))


def test_a_clear_gain_over_enough_queries_is_recommended():
    found = judge(clear_gain(ENOUGH), PRESENT)
    assert (found.recommended, found.chosen, found.reason) == (True, BETTER, "")
    assert found.held_out.gain == pytest.approx(0.3)


def test_the_same_gain_over_fewer_queries_is_not():
    found = judge(clear_gain(ENOUGH - 2), PRESENT)
    assert not found.recommended
    assert "too few queries" in found.reason


def test_a_single_query_can_be_judged():
    found = judge(table([0.1], better=[0.9]), PRESENT)
    assert (found.recommended, found.best, found.held_out.gain) == (False, BETTER, 0)


def test_a_gain_that_may_be_chance_is_called_that():
    wins, losses = [1.0] * 20, [0.0] * 14
    found = judge(table([0.5] * 34, better=wins + losses), PRESENT)
    assert found.chosen == BETTER
    assert not found.recommended
    assert "may be chance" in found.reason or "no gain" in found.reason
    low, high = found.held_out.interval
    assert f"interval {low:+.4f} to {high:+.4f}" in found.reason


def test_settings_that_are_the_best_already_stay():
    found = judge(table([0.9] * 40, better=[0.2] * 40), PRESENT)
    assert (found.best, found.chosen, found.recommended) == (PRESENT, PRESENT, False)
    assert "more than noise" in found.reason


def test_noise_is_hardly_ever_recommended(share):
    draw = random.Random(1)
    recommended = 0
    for _ in range(int(8 + 32 * share)):
        made = {each: [draw.random() for _ in range(40)] for each in grid(PRESENT)[:12]}
        recommended += judge(made, PRESENT).recommended
    assert recommended <= 6


# The whole way


def write(folder, count, source=""):
    """Queries in which one rare word decides, while the others make another tool look alike."""
    folder.mkdir(exist_ok=True)
    draw = random.Random(3)

    def sound():
        return "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(4))

    tools, queries = [], []
    for number in range(count):
        rare, other = sound(), [sound() for _ in range(25)]
        tools.append((f"gold{number}", f"{rare} {' '.join(other)}"))
        queries.append((f"{rare} {SHARED}", [f"{source}gold{number}"]))
    tools += [(f"decoy{n}", f"{SHARED} {place}") for n, place in enumerate(PLACES)]
    rows = [{"id": i, "name": i, "category": "c", "description": text} for i, text in tools]
    (folder / "tools.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = [{"id": str(n), "query": q, "gold": gold} for n, (q, gold) in enumerate(queries)]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)))
    return folder


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")

    def sweep(count, *options):
        capsys.readouterr()
        folder = write(tmp_path / "data", count)
        cli.main(["eval", str(folder), "--sweep", *map(str, options)], standalone_mode=False)
        return capsys.readouterr().out

    return sweep


def test_a_hundred_queries_that_words_decide_make_words_count_for_more(run):
    found = json.loads(run(100, "--json"))
    assert found["recommended"], found["recommendation"]
    assert found["chosen"]["fusion"] == "sum"
    assert found["chosen"]["alpha"] < PRESENT.alpha
    assert found["chosen"][MEASURE] > found["present"][MEASURE]
    assert found["held_out"]["interval"][0] > 0
    assert found["difference"] >= found["held_out"]["gain"] > 0
    assert (found["queries"], len(found["grid"])) == (100, len(grid(PRESENT)))
    assert found["seen"].keys() == {"present", "chosen"}


def test_eight_such_queries_change_nothing(run):
    found = json.loads(run(8, "--json"))
    assert not found["recommended"]
    assert found["toml"] == ""
    assert "too few queries" in found["recommendation"]


def test_two_sweeps_say_the_same(run, tmp_path):
    kept = ("--json", "--board", tmp_path / "board.db")
    assert run(30, *kept) == run(30, *kept) == run(30, "--json")


def test_a_sweep_measures_the_present_settings_as_an_evaluation_does(run, tmp_path, capsys):
    swept = json.loads(run(30, "--json"))
    cli.main(["eval", str(tmp_path / "data"), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)[MEASURE] == swept["present"][MEASURE]


def test_answers_that_are_named_by_their_whole_ids_are_known_to_a_sweep_too(tmp_path, run, capsys):
    short = json.loads(run(30, "--json"))
    folder = write(tmp_path / "whole", 30, "eval:")
    cli.main(["eval", str(folder), "--sweep", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["present"] == short["present"]


def test_the_lines_that_are_printed_are_the_settings_that_were_chosen(run, tmp_path):
    out = run(40)
    assert "change the settings" in out
    lines = out.partition("in pegboard.toml:")[2].partition("with search.threshold")[0]
    (tmp_path / "pegboard.toml").write_text(lines)
    again = json.loads(run(40, "--json"))
    assert again["present"].items() >= tomllib.loads(lines)["search"].items()
    assert again["difference"] == pytest.approx(0, abs=0.05)
    assert not again["recommended"]


@pytest.mark.parametrize("settings", [BETTER, BY_RANK])
def test_the_lines_are_settings_that_can_be_read(settings, tmp_path):
    (tmp_path / "pegboard.toml").write_text(toml(settings))
    found = load(cwd=tmp_path, environ={}, flags={}, user_file=None).settings.search
    assert (found.fusion, found.alpha, found.k) == (settings.method, settings.alpha, settings.k)


def test_a_blank_query_scores_nothing_under_any_settings(run, tmp_path, capsys):
    run(3)
    path = tmp_path / "data" / "queries.jsonl"
    path.write_text('{"id": "1", "query": " ", "gold": ["gold0"]}\n')
    cli.main(["eval", str(path.parent), "--sweep", "--json"], standalone_mode=False)
    assert {row[MEASURE] for row in json.loads(capsys.readouterr().out)["grid"]} == {0}


@pytest.mark.parametrize("options", [("--mode", "bm25"), ("--limit", "5")])
def test_a_sweep_takes_no_mode_and_no_limit(run, options):
    with pytest.raises(UsageError, match="hybrid"):
        run(3, *options)


def test_without_vectors_there_is_nothing_to_sweep(run, monkeypatch):
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "disabled")
    with pytest.raises(UsageError, match="embedding is disabled"):
        run(3)
