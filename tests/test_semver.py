"""Version numbers and ranges, by examples and against npm's own reading of them."""

import json
import random
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.formats.semver import is_early, latest, parse, parse_range, precedence, split

SEMVER = Path(__file__).parents[1] / "build" / "parts" / "semver"
ORDER = [
    "1.0.0-0",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.1.0",
    "2.0.0-rc.1",
    "2.0.0",
    "10.0.0",
]


def test_versions_are_ordered_as_the_specification_says():
    assert all(precedence(one) < precedence(other) for one, other in pairwise(ORDER))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1.2",
        "1.2.3.4",
        "01.2.3",
        "1.2.3-",
        "1.2.3-01",
        "v1.2.3",
        "1.2.3 ",
        "1.2.3-é",
        "١.٢.٣",
        "1.2.3-a..b",
        "1.2.3+",
        "9" * 101,
        "1.2.99999999999999999999",
    ],
)
def test_what_is_no_version_is_none(text):
    assert parse(text) is None
    assert latest([text]) is None


def test_the_latest_is_a_release_unless_pre_releases_are_asked_for():
    there = ["1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1", "nonsense"]
    assert latest(there) == "1.10.0"
    assert latest(there, early=True) == "2.0.0-rc.1"
    assert latest(["2.0.0-rc.1"]) is None
    assert latest([]) is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("tools:ops:build@^1.2", ("tools:ops:build", "^1.2")),
        ("build@1.2.3", ("build", "1.2.3")),
        ("build@>=1 <2 || 3", ("build", ">=1 <2 || 3")),
        ("build", ("build", "")),
        ("me@home", ("me@home", "")),
        ("me@home@~2", ("me@home", "~2")),
        ("@scope", ("@scope", "")),
        ("build@1.2.3.4", ("build@1.2.3.4", "")),
    ],
)
def test_a_name_with_a_range_is_cut_where_the_range_begins(text, parts):
    assert split(text) == parts


@pytest.mark.parametrize("text", ["^", ">", "1.x.3", "latest", "1..2", "^^1", "1,2", "x" * 101])
def test_what_is_no_range_is_none(text):
    assert parse_range(text) is None


NUMBERS = st.builds(
    lambda core, early: ".".join(map(str, core)) + (f"-{early}" if early else ""),
    st.tuples(*[st.integers(0, 3)] * 3),
    st.sampled_from(["", "", "rc.1", "rc.2", "0", "alpha"]),
)


@given(st.lists(NUMBERS), st.sampled_from(["*", "^1", "~1.2", ">=1 <3", "1.x || 3", "^2.0.0-rc.1"]))
def test_the_best_is_the_highest_of_those_that_are_allowed(numbers, text):
    found = parse_range(text)
    assert found is not None
    best = found.best(numbers)
    allowed = [each for each in numbers if found.allows(each)]
    assert best == latest(allowed, early=True)
    if text == "*":
        assert best is None or not is_early(best)


def _version(draw: random.Random) -> str:
    early = ["rc.1", "alpha", "0", "1", "rc.2", "alpha.beta", "x"]
    text = ".".join(str(draw.randrange(4)) for _ in range(3))
    return text + (f"-{draw.choice(early)}" if draw.random() < 0.35 else "")


def _part(draw: random.Random) -> str:
    places = draw.choice([1, 2, 3, 3])
    given = draw.choice([places, places, max(places - 1, 0)])
    parts = [str(draw.randrange(4)) if i < given else draw.choice("x*X") for i in range(places)]
    early = f"-{draw.choice(['rc.1', '0', 'alpha'])}"
    return ".".join(parts) + (early if given == 3 and draw.random() < 0.3 else "")


def _range(draw: random.Random) -> str:
    if draw.random() < 0.15:
        return f"{_part(draw)} - {_part(draw)}"
    signs = ["^", "~", ">=", ">", "<", "<=", "=", "", "~>"]
    comparators = [
        [f"{draw.choice(signs)}{draw.choice(['', ' '])}{_part(draw)}" for _ in range(n)]
        for n in draw.choices([1, 1, 2], k=draw.choice([1, 1, 2]))
    ]
    return " || ".join(" ".join(each) for each in comparators)


@pytest.mark.program
def test_ranges_are_read_as_npm_reads_them():
    draw = random.Random(9)
    asked = [(_version(draw), _range(draw)) for _ in range(20_000)]
    # In npm, any `*` among alternatives makes the others count for nothing, pre-releases included.
    asked = [(v, r) for v, r in asked if not ("||" in r and re.search(r"(^|[\s=<>~^])[xX*]", r))]
    script = (
        "const s=require('semver');const rows=JSON.parse(require('fs').readFileSync(0,'utf8'));"
        "console.log(JSON.stringify(rows.map(([v,r])=>s.satisfies(v,r))))"
    )
    done = subprocess.run(
        ["node", "-e", script],
        cwd=SEMVER,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    theirs = json.loads(done.stdout)
    assert 3_000 < sum(theirs) < 16_000
    different = [
        (version, text, said)
        for (version, text), said in zip(asked, theirs, strict=True)
        if (found := parse_range(text)) is None or found.allows(version) != said
    ]
    assert different == []
