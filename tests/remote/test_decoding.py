"""What a gateway tells becomes the values that it was made from."""

import json
from collections import Counter

import pytest

from pegboard.board.maintain.filling import Outcome
from pegboard.board.maintain.status import Building, Pace, Status
from pegboard.board.maintain.worker import WorkReport
from pegboard.board.sync.one_source import SyncReport
from pegboard.formats.plain import plain
from pegboard.model.answers import Answer, Explanation, Hit, HitFact, WordFact
from pegboard.model.calls import Health, ServerState
from pegboard.model.content import ItemFile, Link, Permission, Signature, Version
from pegboard.model.curation import Event, Happening, LooseLink, Tie
from pegboard.model.items import (
    Drift,
    EmbeddingCounts,
    EmbeddingState,
    EmbeddingStatus,
    Entry,
    Item,
    ItemId,
    Kind,
    MatchType,
    Rejection,
    SourceRecord,
    ToolType,
)
from pegboard.model.runs import Outcome as Ended
from pegboard.model.runs import Run, RunCounts
from pegboard.remote.decoding import Undecodable, decoded

HIT = Hit(
    ItemId("a:b:c"),
    Kind.TOOL,
    "public",
    "c",
    "b",
    "a",
    "Does it.",
    0.5,
    MatchType.BOTH,
    {"bm25": {"score": 1.5, "rank": 1}},
    "shares “it”",
    "c(x?)",
    (ItemId("a:b:d"),),
    ("deprecated",),
)
FILE = ItemFile("a.py", b"print()", "00", "text/x-python", executable=True)
ITEM = Item(
    ItemId("a:b:c"),
    "c",
    tags=("x", "y"),
    tool_type=ToolType.PYTHON,
    input_schema={"type": "object", "properties": {"x": {"type": ["string", "null"]}}},
    links=(Link("uses", "d"),),
    permissions=(Permission("read", "filesystem", "*"),),
    version=Version("1.0.0", "ff", {"tool_id": "c"}, "tool_id: c", "", (FILE,)),
    signature=Signature("ada", "ed25519", "AA", "now", "trusted"),
)
ENTRY = Entry(
    7,
    ITEM,
    EmbeddingState(EmbeddingStatus.READY, "aa", "m", 3, 1.5),
    True,
    Drift.NONE,
    None,
    "",
    "ff",
    2,
    "Does it.",
    "source",
    False,
    None,
    "",
    0,
    None,
    0.5,
    None,
    1.0,
    2.0,
)
STATUS = Status(
    {"board": "x", "read_only": False},
    "m",
    EmbeddingCounts(3, 2, 1),
    Building("n", EmbeddingCounts(3)),
    1,
    [SourceRecord("a", "mcp", "https://a/mcp", synced_at=3.0)],
    [ServerState("a", Health.DOWN, "gone", 2, 5.0)],
    ["b"],
    4,
    0,
    Pace(7.0, 1.5),
)
FACT = HitFact(
    ItemId("a:b:c"), {"name": ("c",)}, {"bm25": 1}, {"bm25": 2.0}, 0, 1, {}, 1, 1, "shown"
)
VALUES = [
    Answer(
        (HIT,),
        ("note",),
        0.1,
        0.2,
        explanation=Explanation("q", (WordFact("q", True, True, 3),), {"k": 60.0}, 0.2, (FACT,)),
    ),
    ENTRY,
    STATUS,
    Outcome([SyncReport("a", 1, rejected=Counter({"bad_name": 2}))], WorkReport(1, 2, 3), 4, ["n"]),
    Rejection("a", "b", "c", "d", "e", 1.0),
    Happening("public", ItemId("a:b:c"), 1.0, Event.DESCRIBED, "ada", "x"),
    Tie("uses", True, "d", ItemId("a:b:d"), "public", "d", Kind.SKILL),
    LooseLink("a", "public", ItemId("a:b:c"), "uses", "z"),
    Run("public", ItemId("a:b:c"), "1.0.0", 1.0, Ended.OK, 0.5, "ada"),
    RunCounts(2, 1, 3.0, 0.5),
]


def over_the_wire(value):
    return json.loads(json.dumps(plain(value)))


@pytest.mark.parametrize("value", VALUES, ids=lambda each: type(each).__name__)
def test_a_value_comes_back_as_it_was(value):
    told = decoded(type(value), over_the_wire(value))
    assert told == value
    assert over_the_wire(told) == over_the_wire(value)


def test_enums_and_bytes_are_what_they_were():
    told = decoded(Entry, over_the_wire(ENTRY))
    assert told.item.kind is Kind.TOOL
    assert told.item.tool_type is ToolType.PYTHON
    assert told.item.version.files[0].content == b"print()"


def test_lists_are_read_part_by_part():
    runs = [Run("public", ItemId("a:b:c"), "", 1.0, Ended.OK, 0.5)] * 2
    assert decoded(list[Run], over_the_wire(runs)) == runs
    assert decoded(tuple[Run, ...], over_the_wire(runs)) == tuple(runs)


def test_what_a_newer_gateway_says_more_is_passed_over():
    told = over_the_wire(HIT) | {"mood": "good"}
    assert decoded(Hit, told) == HIT


def test_what_an_older_gateway_leaves_out_takes_its_default():
    told = over_the_wire(HIT)
    for name in ("passage", "like_it", "signature"):
        del told[name]
    assert decoded(Hit, told) == HIT._replace(passage="", like_it=(), signature="")


def test_what_is_missing_and_has_no_default_is_named_with_its_place():
    told = over_the_wire(Answer((HIT, HIT)))
    del told["hits"][1]["score"]
    with pytest.raises(Undecodable, match=r"^hits\.1\.score is missing$"):
        decoded(Answer, told)


@pytest.mark.parametrize(
    ("where", "value", "said"),
    [
        ("score", "high", "score is 'high', and not a number"),
        ("score", True, "score is True, and not a number"),
        ("kind", "spell", "kind is 'spell', and not one of tool, skill, directive, knowledge"),
        ("name", None, "name is None, and not a text"),
        ("breakdown", [], r"breakdown is \[\], and not an object"),
        ("breakdown", {"bm25": 3}, "breakdown.bm25 is 3, and not an object"),
        ("like_it", "a:b:c", "like_it is 'a:b:c', and not a list"),
        ("notes", [1], "notes.0 is 1, and not a text"),
    ],
)
def test_what_is_of_another_kind_is_told_with_its_place(where, value, said):
    with pytest.raises(Undecodable, match=f"^{said}$"):
        decoded(Hit, over_the_wire(HIT) | {where: value})


@pytest.mark.parametrize("value", [None, 3, "text", [], [[]], {}, {"hits": None}])
def test_an_answer_that_is_none_is_never_taken_for_one(value):
    with pytest.raises(Undecodable):
        decoded(Answer, value)


def test_a_huge_value_at_the_wrong_place_is_not_repeated():
    with pytest.raises(Undecodable) as error:
        decoded(Hit, ["x" * 1_000_000] * 100)
    assert len(str(error.value)) < 300
