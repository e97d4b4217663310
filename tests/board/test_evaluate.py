"""Measures by hand, queries from files, and a whole evaluation."""

import gzip
import json
import re
from math import log2

import pytest

from pegboard.board.measure.evaluating import EvalQuery, ndcg, places, read_queries, recall, scores
from pegboard.cli.main import cli
from pegboard.errors import SourceError, UsageError

TOOLS = {
    "post": "Send a message into a channel.",
    "pin": "Pin an important message at the top of a channel.",
    "email": "Send an e-mail to one or more recipients.",
    "inbox": "Look for mails that contain certain words.",
    "refund": "Give a customer their money back.",
    "invoice": "Bill a customer for goods or services.",
    "distance": "Calculate how far two places are from one another.",
    "branch": "Start a new branch of a repository.",
    "crop": "Cut a rectangle out of a picture.",
    "zip": "Pack files and folders into an archive.",
}
QUERIES = [
    ("post a message", ["post"], {}),
    ("pin the message", ["pin"], {}),
    ("e-mail the recipients", ["email"], {}),
    ("bill the customer, then refund the money", ["invoice", "refund"], {}),
    ("cut a picture", ["crop"], {}),
    ("pack folders", ["tar"], {"tar": ["zip"]}),
    ("new branch", ["branch"], {}),
    ("find nothing at all", ["no such tool"], {}),
]
MEANS = [
    *("recall@1", "recall@5", "recall@10", "ndcg@5", "ndcg@10"),
    *("mrr", "hit@1", "complete@10", "zero_hit"),
]


def query(*gold, **alt):
    return EvalQuery("q", "text", gold, {key: tuple(values) for key, values in alt.items()})


@pytest.mark.parametrize(
    ("asked", "ranking", "expected"),
    [
        (query("a"), [], []),
        (query("a"), ["x", "y"], []),
        (query("a"), ["x", "a"], [2]),
        (query("a", "b"), ["b", "x", "a"], [1, 3]),
        (query("a"), ["a", "a", "a"], [1]),
        (query("a", "b"), ["a", "a", "b"], [1, 3]),
        (query("a", a=["a2", "a3"]), ["x", "a3", "a2", "a"], [2]),
        (query("a", "b", a=["c"], b=["c"]), ["c", "x"], [1]),
        (query("a", "b", a=["c"], b=["c"]), ["c", "b"], [1, 2]),
        (query("a", x=["y"]), ["y", "a"], [2]),
    ],
)
def test_every_gold_tool_has_at_most_one_place(asked, ranking, expected):
    assert places(asked, ranking) == expected


def test_a_gold_tool_is_not_used_up_as_the_equivalent_of_another():
    assert places(query("a", "b", a=["b"]), ["b", "a"]) == [1, 2]


def test_recall_counts_what_was_found_down_to_the_cutoff():
    assert recall([1, 3, 7], 4, 1) == 0.25
    assert recall([1, 3, 7], 4, 5) == 0.5
    assert recall([1, 3, 7], 4, 10) == 0.75
    assert recall([], 1, 10) == 0


def test_ndcg_is_the_gain_over_the_best_possible():
    assert ndcg([1], 1, 10) == 1
    assert ndcg([1, 2], 2, 10) == 1
    assert ndcg([2], 1, 10) == pytest.approx(1 / log2(3))
    assert ndcg([1, 4], 2, 10) == pytest.approx((1 + 1 / log2(5)) / (1 + 1 / log2(3)))
    assert ndcg([11], 1, 10) == 0
    assert ndcg([1, 2, 3, 4, 5], 7, 5) == pytest.approx(1)


def test_all_measures_of_one_query():
    found = scores(query("a", "b"), ["x", "a", *"cdefg", "b"])
    best = 1 + 1 / log2(3)
    assert list(found) == MEANS
    assert found == pytest.approx(
        {
            "recall@1": 0,
            "recall@5": 0.5,
            "recall@10": 1,
            "ndcg@5": 1 / log2(3) / best,
            "ndcg@10": (1 / log2(3) + 1 / log2(9)) / best,
            "mrr": 0.5,
            "hit@1": 0,
            "complete@10": 1,
            "zero_hit": 0,
        }
    )


def test_a_query_that_finds_nothing_counts_as_zero_hit():
    found = scores(query("a"), ["x"])
    assert found.pop("zero_hit") == 1
    assert set(found.values()) == {0}


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "queries.jsonl"

    def write(content: bytes | str):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_queries_are_read_with_their_equivalents(queries):
    rows = '{"id": 1, "query": "ü", "gold": ["a"], "alt": {"a": ["b"]}, "slice": "x"}\n\n'
    rows += '{"id": "2", "query": "z", "gold": ["a", "c"], "alt": null}'
    assert read_queries(queries(rows)) == [
        EvalQuery("1", "ü", ("a",), {"a": ("b",)}),
        EvalQuery("2", "z", ("a", "c"), {}),
    ]


def test_a_gold_tool_that_is_named_twice_counts_once(queries):
    [asked] = read_queries(queries('{"id": "1", "query": "q", "gold": ["a", "b", "a"]}'))
    assert scores(asked, ["a", "b"])["recall@10"] == 1


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"id": 1, "query": "q", "gold": ["a"]}\n\n{"id": 2,', "line 3"),
        ("[]", "line 1"),
        ('"text"', "line 1"),
        ('{"id": 1, "query": "q"}', "gold"),
        ('{"id": 1, "gold": ["a"]}', "query"),
        ('{"id": 1, "query": "q", "gold": []}', "line 1: gold is empty"),
        ('{"id": 1, "query": "q", "gold": 3}', "line 1"),
        ('{"id": 1, "query": "q", "gold": "send_email"}', "line 1"),
        ('{"id": 1, "query": "q", "gold": ["a"], "alt": {"a": "send_email"}}', "line 1"),
        ('{"id": 1, "query": "q", "gold": ["a"], "alt": ["b"]}', "line 1"),
        pytest.param("[" * 100_000, "line 1", id="too deep"),
        ("", "no queries"),
        ("\n \n", "no queries"),
        (b'{"id": 1, "query": "\xff", "gold": ["a"]}', "UTF-8"),
    ],
)
def test_a_bad_file_of_queries_is_named_with_what_is_wrong(queries, content, expected):
    path = queries(content)
    with pytest.raises(UsageError) as error:
        read_queries(path)
    assert str(path) in str(error.value)
    assert expected in str(error.value)


def test_a_missing_file_of_queries_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"queries\.jsonl is not there"):
        read_queries(tmp_path / "queries.jsonl")


@pytest.fixture(params=["tools.jsonl", "tools.jsonl.gz"])
def data(tmp_path, request):
    """An evaluation folder: ten tools, eight queries."""
    folder = tmp_path / "data"
    folder.mkdir()
    rows = [
        {"id": name, "name": f"{name}_it", "category": "c", "description": text, "parameters": []}
        for name, text in TOOLS.items()
    ]
    text = "\n".join(map(json.dumps, rows)).encode()
    (folder / request.param).write_bytes(gzip.compress(text) if ".gz" in request.param else text)
    asked = [
        {"id": str(n), "query": q, "gold": gold, "alt": alt}
        for n, (q, gold, alt) in enumerate(QUERIES)
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)))
    return folder


@pytest.fixture
def measure(data, capsys, monkeypatch):
    """`pegboard eval`, and the object it prints."""
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")

    def run(*options):
        capsys.readouterr()
        cli.main(["eval", str(data), "--json", *map(str, options)], standalone_mode=False)
        return json.loads(capsys.readouterr().out)

    return run


def test_an_evaluation_prints_every_measure(measure):
    found = measure()
    assert found.keys() >= {*MEANS, "answered", "answered_right", "tools", "queries", "latency_ms"}
    assert (found["tools"], found["queries"]) == (10, 8)
    assert all(0 <= found[name] <= 1 for name in MEANS)
    assert found["recall@1"] <= found["recall@5"] <= found["recall@10"]
    for part in ("embed", "search"):
        assert 0 <= found["latency_ms"][part]["p50"] <= found["latency_ms"][part]["p95"]


def test_an_evaluation_by_words_gives_what_a_person_counts(measure):
    found = measure("--mode", "bm25")
    assert found["zero_hit"] == 1 / 8
    assert found["complete@10"] == found["recall@10"] == 7 / 8
    assert found["hit@1"] == found["mrr"] == 7 / 8
    assert found["recall@1"] == pytest.approx(6.5 / 8, abs=1e-4)
    assert found["latency_ms"]["embed"] == {"p50": 0, "p95": 0}


@pytest.mark.parametrize("mode", ["bm25", "vector", "hybrid"])
def test_an_evaluation_can_be_made_in_every_mode(measure, mode):
    found = measure("--mode", mode)
    assert found["mode"] == mode
    assert found["recall@5"] > 0.5


def test_a_limit_of_1_leaves_one_tool_for_each_request_of_a_query(measure):
    found = measure("--limit", "1")
    assert found["recall@10"] == found["recall@5"] == found["recall@1"] + 0.5 / len(QUERIES)
    assert found["complete@10"] == found["hit@1"] == found["recall@10"]


def test_the_interval_of_the_main_measure_lies_around_it(measure):
    found = measure()
    low, high = found["ndcg@10_interval"]
    assert 0 <= low < found["ndcg@10"] < high <= 1


def test_a_threshold_decides_what_is_answered_but_not_how_it_is_ranked(measure, monkeypatch):
    found = {}
    for threshold in (0.0, 0.6, 1.0):
        monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", str(threshold))
        found[threshold] = measure()
        assert found[threshold]["threshold"] == threshold
    assert [each["answered"] for each in found.values()] == sorted(
        (each["answered"] for each in found.values()), reverse=True
    )
    assert found[0.0]["answered"] == 1
    assert found[0.0]["answered_right"] == found[0.0]["hit@1"]
    assert found[1.0]["answered"] == found[1.0]["answered_right"] == 0
    assert all(each["answered_right"] <= each["answered"] for each in found.values())
    assert len({(each["ndcg@10"], each["recall@5"]) for each in found.values()}) == 1


def test_a_board_that_is_kept_serves_the_second_run_without_embedding(measure, tmp_path, sql):
    first = measure("--board", tmp_path / "board.db")
    vectors = sql("SELECT * FROM vectors ORDER BY item_key")
    assert len(vectors) == 10
    second = measure("--board", tmp_path / "board.db")
    assert sql("SELECT * FROM vectors ORDER BY item_key") == vectors
    assert {k: second[k] for k in MEANS} == {k: first[k] for k in MEANS}


def test_an_evaluation_on_a_board_with_other_tools_measures_only_its_own(measure, board, tmp_path):
    alone = measure()
    board.close()
    found = measure("--board", tmp_path / "board.db")
    assert (found["tools"], found["recall@5"]) == (10, alone["recall@5"])


def test_refused_tools_are_told_and_the_rest_is_measured(measure, data, capsys):
    if (plain := data / "tools.jsonl").exists():
        plain.write_text(plain.read_text() + "\n{broken")
    else:
        zipped = data / "tools.jsonl.gz"
        zipped.write_bytes(zipped.read_bytes() + gzip.compress(b"\n{broken"))
    capsys.readouterr()
    cli.main(["eval", str(data)], standalone_mode=False)
    out, err = capsys.readouterr()
    assert re.search(r"^tools +10$", out, re.MULTILINE)
    assert "1 of the tools were refused" in err


def test_a_folder_without_tools_is_wrong_usage(measure, data):
    for path in data.glob("tools.*"):
        path.unlink()
    with pytest.raises(UsageError, match="neither"):
        measure()


def test_a_broken_archive_of_tools_is_a_source_error(measure, data):
    for path in data.glob("tools.*"):
        path.unlink()
    (data / "tools.jsonl.gz").write_bytes(b"no archive")
    with pytest.raises(SourceError, match="cannot be read"):
        measure()
