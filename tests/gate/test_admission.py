import json
import math
from collections import UserDict
from types import MappingProxyType, SimpleNamespace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from making import SOURCE, clean_text, entry_of, json_objects, make_candidate, make_file
from pegboard.gate.admission import Limits, Refused, admit
from pegboard.gate.characters import first_forbidden
from pegboard.model.content import Link, Signature
from pegboard.model.items import Candidate, Item, Kind, Rejection, ToolType, Visibility

relaxed = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
PLAIN = (
    *("id", "name", "kind", "namespace", "title", "description", "category", "subcategory"),
    *("tool_type", "body", "visibility", "author", "source_protocol", "endpoint"),
    *("routing_domain", "semantic_namespace", "sensitivity_tier", "version", "manifest_text"),
    "replacement",
)
LISTS = ("tags", "aliases", "tech_stack", "examples", "keywords", "target_personas", "skills")
OBJECTS = ("input_schema", "output_schema", "executor", "manifest")
OTHERS = ("semantic_weight", "official", "links", "permissions", "deprecated", "changelog")
FIELDS = (*PLAIN, *LISTS, *OBJECTS, *OTHERS)


class Awkward:
    """An object that answers questions about itself with an error, as a NumPy array may."""

    def __bool__(self):
        raise ValueError("neither true nor false")

    __len__ = __iter__ = __float__ = __bool__

    def __eq__(self, other):
        raise ValueError("not to be compared")

    __hash__ = object.__hash__


weird = st.sampled_from(
    [
        Awkward(),
        object(),
        Awkward,
        len,
        b"bytes",
        {1, 2},
        range(3),
        1 + 2j,
        math.nan,
        math.inf,
        -math.inf,
        10**400,
        -(10**400),
        2**70,
        UserDict({"a": UserDict()}),
        MappingProxyType({"a": MappingProxyType({})}),
        SimpleNamespace(a=1),
        "\ud800",
        "\0",
        {1: 2, None: 3, 2.5: 4, False: 5},
        {(1, 2): 3},
        {"a": {1, 2}},
        {"a": math.nan},
        [[]],
        [None],
        {},
        "",
        0,
        False,
    ]
)
HARD = [10**5000, [10**5000], {"a": 10**5000}, Awkward(), [Awkward()]]
HARD_IDS = ["number", "list of number", "object of number", "awkward", "list of awkward"]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | weird,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
    ),
    max_leaves=10,
)
any_files = st.lists(st.builds(make_file, st.text(max_size=12)), max_size=3)


def rejection(candidate, limits=None):
    verdict = admit(candidate, limits)
    assert isinstance(verdict, Rejection), verdict
    return verdict


def item(candidate):
    verdict = admit(candidate)
    assert isinstance(verdict, Item), verdict
    return verdict


def nested(depth, make):
    value: object = {}
    for _ in range(depth):
        value = make(value)
    return value


@relaxed
@given(fields=st.dictionaries(st.sampled_from(FIELDS) | clean_text, anything), files=any_files)
def test_whatever_a_source_says_becomes_an_item_or_a_rejection(fields, files):
    verdict = admit(Candidate(SOURCE, "origin", "hash", fields, tuple(files)))
    assert isinstance(verdict, Item | Rejection)
    if isinstance(verdict, Rejection):
        assert verdict[:3] == (SOURCE, "origin", "hash")
        assert verdict.code.isidentifier()
        assert verdict.reason
        assert verdict.reason.isascii() or first_forbidden(verdict.reason) == ""


@relaxed
@given(field=st.sampled_from(FIELDS), value=anything)
def test_one_strange_field_in_a_good_candidate_never_raises(field, value):
    assert isinstance(admit(make_candidate(**{field: value})), Item | Rejection)


@pytest.mark.parametrize("value", HARD, ids=HARD_IDS)
def test_numbers_too_long_to_write_and_objects_that_resist_never_raise(value):
    """Such a number cannot be shown by Python itself: `str(10**5000)` is an error."""
    for field in FIELDS:
        assert isinstance(admit(make_candidate(**{field: value})), Item | Rejection)


@relaxed
@given(fields=st.dictionaries(st.sampled_from(FIELDS), anything), files=any_files)
def test_whatever_the_gate_admits_a_board_can_hold(store, fields, files):
    verdict = admit(make_candidate(files, **fields))
    if isinstance(verdict, Item):
        store.ledger.remove_source(SOURCE)
        store.items.put([verdict], None)
        found = entry_of(store, verdict).item
        assert set(found.version.files if found.version else ()) == set(files)
        assert found._replace(version=None) == verdict._replace(version=None)


@relaxed
@given(said=json_objects)
def test_a_clean_object_passes_unchanged(said):
    assume(not first_forbidden(json.dumps(said, ensure_ascii=False)))
    assert item(make_candidate(executor=said)).executor == said


def test_a_bare_candidate_gets_the_defaults():
    assert item(make_candidate()) == Item(
        id="mcptools:mail:send",
        name="send",
        source=SOURCE,
        origin="mail/send.py",
        origin_hash="hash of send",
    )


def test_every_field_of_a_full_candidate_arrives():
    said = {
        "id": "a:b:c",
        "name": "c",
        "kind": "skill",
        "namespace": "user/project",
        "visibility": "unlisted",
        "tool_type": "bash",
        "official": True,
        "semantic_weight": 3,
        **{name: f"the {name}" for name in PLAIN[4:] if name not in ("visibility", "tool_type")},
        **{name: [f"one {name}", "two"] for name in LISTS},
        **{name: {"of": [name]} for name in OBJECTS},
        "version": "1.2.3-rc.1+build.5",
    }
    found = item(make_candidate([make_file()], **said))
    version = found.version
    assert version is not None
    assert (version.version, version.manifest) == (said["version"], said["manifest"])
    assert version.manifest_text == "the manifest_text"
    assert version.files == (make_file(),)
    typed = {
        "kind": Kind.SKILL,
        "visibility": Visibility.UNLISTED,
        "tool_type": ToolType.BASH,
        "semantic_weight": 3.0,
        **{name: tuple(said[name]) for name in LISTS},
    }
    parts = {"version", "manifest", "manifest_text"}
    expected = {name: typed.get(name, value) for name, value in said.items() if name not in parts}
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"id": None}, "no_id"),
        ({"id": "  "}, "no_id"),
        ({"name": None}, "no_name"),
        ({"name": "\n\t"}, "no_name"),
        ({"kind": "gadget"}, "bad_kind"),
        ({"kind": 3}, "bad_kind"),
        ({"tool_type": "perl"}, "bad_tool_type"),
        ({"visibility": "secret"}, "bad_visibility"),
        ({"namespace": "Public"}, "bad_namespace"),
        ({"namespace": "a/b/c"}, "bad_namespace"),
        ({"namespace": "public\n"}, "bad_namespace"),
        ({"namespace": ["public"]}, "bad_namespace"),
        ({"description": b"bytes"}, "bad_type"),
        ({"tags": "one"}, "bad_type"),
        ({"tags": [1]}, "bad_type"),
        ({"input_schema": []}, "bad_type"),
        ({"semantic_weight": "heavy"}, "bad_type"),
        ({"semantic_weight": True}, "bad_type"),
        ({"semantic_weight": -0.1}, "out_of_range"),
        ({"semantic_weight": 10.5}, "out_of_range"),
        ({"semantic_weight": math.nan}, "out_of_range"),
        ({"semantic_weight": math.inf}, "out_of_range"),
        ({"semantic_weight": 10**400}, "out_of_range"),
        ({"name": "x" * 201}, "too_long"),
        ({"id": "x" * 513}, "too_long"),
        ({"description": "x" * 100_001}, "too_long"),
        ({"body": "x" * 1_000_001}, "too_long"),
        ({"tags": ["x" * 2001]}, "too_long"),
        ({"executor": {"a": "x" * 1_000_000}}, "too_long"),
        ({"tags": ["x"] * 101}, "too_many"),
        ({"name": "a\u200bb"}, "hidden_characters"),
        ({"tags": ["fine", "a\u202eb"]}, "hidden_characters"),
        ({"input_schema": {"a\U000e0041": 1}}, "hidden_characters"),
        ({"input_schema": {"a": ["\ud800"]}}, "hidden_characters"),
        ({"input_schema": {"a": {1, 2}}}, "not_json"),
        ({"input_schema": {(1, 2): 3}}, "not_json"),
        ({"input_schema": {"a": math.nan}}, "not_json"),
        ({"input_schema": {"a": 10**5000}}, "not_json"),
        ({"manifest": nested(41, lambda inner: {"a": inner})}, "too_deep"),
        ({"manifest": {"a": 1}, "version": "one"}, "bad_version"),
        ({"manifest": {"a": 1}, "version": "1.2"}, "bad_version"),
        ({"manifest": {"a": 1}, "version": "01.2.3"}, "bad_version"),
        ({"manifest": {"a": 1}, "version": "1.2.3-01"}, "bad_version"),
        ({"manifest": {"a": 1}, "version": "1.2.3-"}, "bad_version"),
        ({"manifest": {"a": 1}, "version": "1.2.3-a..b"}, "bad_version"),
        ({"manifest": {"a": 1}, "version": "1.2.3\n"}, "bad_version"),
        ({"manifest": {"a": 1}, "version": "١.٢.٣"}, "bad_version"),
    ],
)
def test_each_fault_is_refused_under_its_own_code(fields, code):
    verdict = rejection(make_candidate(**fields))
    assert verdict.code == code
    assert (verdict.source, verdict.origin) == (SOURCE, "mail/send.py")
    assert verdict.origin_hash == "hash of send"
    assert len(verdict.reason) < 300


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../up", "a\\b", "", "..", "/"])
def test_a_file_that_leaves_the_items_folder_is_refused(path):
    assert rejection(make_candidate([make_file(path)])).code == "bad_path"


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "\u202egnp.exe", "a\x1b[2Jb"])
def test_a_file_path_with_hidden_characters_is_refused(path):
    assert isinstance(admit(make_candidate([make_file(path)])), Rejection)


def test_two_files_at_one_path_are_refused():
    twice = [make_file("a.py", b"one"), make_file("a.py", b"two")]
    assert isinstance(admit(make_candidate(twice)), Rejection)


@pytest.mark.parametrize("path", ["a.py", "a/b.py", ".hidden", "a..b", "größe/文件.txt"])
def test_an_ordinary_file_is_kept(path):
    version = item(make_candidate([make_file(path)])).version
    assert version is not None
    assert version.files == (make_file(path),)


@pytest.mark.parametrize("field", ["name", "description", "category", "tags", "input_schema"])
@pytest.mark.parametrize(
    "character",
    [
        *("\x00", "\x08", "\x0b", "\x1b", "\x7f", "\x9b", "\u00ad", "\u200b", "\u202e"),
        *("\u2028", "\u2060", "\ufeff", "\ud800", "\ufdd0", "\uffff", "\U000e0041", "\u3164"),
    ],
    ids=ascii,
)
def test_a_hidden_character_is_refused_wherever_it_stands(field, character):
    text = f"a{character}b"
    value = {"tags": ["fine", text], "input_schema": {"x": [{"y": text}]}}.get(field, text)
    verdict = rejection(make_candidate(**{field: value}))
    assert verdict.code == "hidden_characters"
    assert f"U+{ord(character):04X}" in verdict.reason
    assert verdict.reason.isascii()


@pytest.mark.parametrize("character", ["\x00", "\x08", "\x1b", "\u200b"], ids=ascii)
def test_a_hidden_character_is_refused_in_the_names_of_an_object_too(character):
    candidate = make_candidate(input_schema={f"a{character}b": 1})
    assert rejection(candidate).code == "hidden_characters"


@pytest.mark.parametrize(
    "text",
    [
        "line\nline\r\n\ttab",
        "می\u200cخواهم",
        "क्\u200dष",
        "👩\u200d💻 ❤\ufe0f",
        "naïve — “ok”…",
        "日本語",
    ],
)
def test_what_people_write_passes(text):
    assert item(make_candidate(description=text)).description == text
    assert item(make_candidate(input_schema={"a": text})).input_schema == {"a": text}


@pytest.mark.parametrize("make", [lambda x: {"a": x}, lambda x: [x], lambda x: (x,)])
def test_a_depth_of_a_hundred_thousand_does_no_harm(make):
    deep = {"a": nested(100_000, make)}
    assert rejection(make_candidate(input_schema=deep)).code == "too_deep"
    assert rejection(make_candidate(tags=[deep])).code == "bad_type"
    assert rejection(make_candidate(name=deep)).code == "bad_type"
    while deep:  # taken apart by hand: Python would free it level by level, too deep for its stack
        deep = next(iter(deep.values() if isinstance(deep, dict) else deep), None)


def test_the_deepest_object_that_is_allowed_passes():
    edge = nested(Limits().object_depth - 1, lambda inner: {"a": inner})
    assert item(make_candidate(input_schema={"a": edge})).input_schema == {"a": edge}
    assert rejection(make_candidate(input_schema={"a": {"a": edge}})).code == "too_deep"


def test_an_object_that_holds_itself_is_refused():
    loop: dict[str, object] = {}
    loop["again"] = loop
    assert rejection(make_candidate(input_schema=loop)).code in ("too_deep", "not_json")


class TooMuchWork(Exception):
    pass


class Counted(list):
    """A list that is willing to be looked through only so often, together with all its kind."""

    left = 0

    def __iter__(self):
        Counted.left -= 1
        if Counted.left < 0:
            raise TooMuchWork
        return super().__iter__()


def test_a_small_object_that_would_be_huge_when_written_out_costs_little():
    """Lists that hold the same list twice, as YAML anchors make them: 2**30 entries in 30 lists."""
    Counted.left = 2_000_000
    bomb = nested(30, lambda inner: Counted([inner, inner]))
    assert isinstance(admit(make_candidate(input_schema={"a": bomb})), Rejection)


def test_huge_lists_and_objects_are_refused():
    many = ["x"] * 1_000_000
    assert rejection(make_candidate(tags=many)).code == "too_many"
    assert rejection(make_candidate(input_schema={"enum": many})).code == "too_long"
    wide = {f"k{n}": n for n in range(200_000)}
    assert rejection(make_candidate(executor=wide)).code == "too_long"


def test_a_rejection_does_not_repeat_a_long_or_hidden_value():
    for value in ("x" * 10_000, "\u202e" * 10, "\x1b[2J"):
        reason = rejection(make_candidate(kind=value)).reason
        assert len(reason) < 200
        assert first_forbidden(reason) == ""


def test_limits_can_be_set():
    assert rejection(make_candidate(name="sender"), Limits(name=5)).code == "too_long"
    assert rejection(make_candidate(tags=["a", "b"]), Limits(list_items=1)).code == "too_many"


@pytest.mark.parametrize("value", ["yes", 1, "true", [True], None])
def test_only_a_true_true_makes_an_item_official(value):
    assert item(make_candidate(official=value)).official is False


def test_a_version_without_a_number_is_named_after_its_content():
    first = item(make_candidate([make_file(content=b"1")])).version
    again = item(make_candidate([make_file(content=b"1")])).version
    other = item(make_candidate([make_file(content=b"2")])).version
    assert first == again
    assert first is not None
    assert other is not None
    assert first.version == f"0.0.0+{first.content_hash[:12]}"
    assert first.version != other.version


def test_the_order_of_files_does_not_change_the_content_hash():
    one, two = make_file("a.py"), make_file("b.py", b"other")
    versions = [item(make_candidate(files)).version for files in ([one, two], [two, one])]
    assert len({version.content_hash for version in versions if version}) == 1


def test_an_item_without_files_and_manifest_has_no_version():
    assert item(make_candidate(version="1.2.3")).version is None


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\t", "\x85", "\x0c"])
@pytest.mark.parametrize("field", ["name", "id", "category", "endpoint", "author"])
def test_what_is_shown_on_one_line_has_only_one(field, end):
    for text in (f"a{end}b", f"a{end}"):
        assert rejection(make_candidate(**{field: text})).code == "line_break"


@pytest.mark.parametrize("field", ["tags", "aliases", "keywords"])
def test_words_of_a_list_have_one_line_each(field):
    assert rejection(make_candidate(**{field: ["fine", "a\nb"]})).code == "line_break"


@pytest.mark.parametrize(
    "links", [["a"], [("uses",)], [("uses", "a", "b")], [("", "a")], [("uses", " ")], [3]], ids=str
)
def test_a_link_has_a_relation_and_a_target(links):
    assert rejection(make_candidate(links=links)).code == "bad_link"


def test_links_are_kept_each_once():
    found = item(make_candidate(links=[("uses", "a"), ["uses", "a "], Link("related", "b")]))
    assert found.links == (Link("uses", "a"), Link("related", "b"))
    assert rejection(make_candidate(links=[("a", "b")] * 1001)).code == "too_many"
    assert rejection(make_candidate(links=[("a\nb", "c")])).code == "line_break"


def test_whatever_seals_an_item_may_refuse_it():
    seen = []

    def seal(candidate, found):
        seen.append((candidate.origin, found.name))
        return found._replace(signature=Signature("me", "ed25519", "value", "now"))

    def refuse(candidate, found):
        raise Refused("unsigned", "it has no signature; sign it")

    sealed = admit(make_candidate(), seal=seal)
    assert isinstance(sealed, Item)
    assert sealed.signature == Signature("me", "ed25519", "value", "now")
    assert seen == [("mail/send.py", "send")]
    verdict = admit(make_candidate(), seal=refuse)
    assert isinstance(verdict, Rejection)
    assert (verdict.code, verdict.origin_hash) == ("unsigned", "hash of send")
    assert isinstance(admit(make_candidate(name=None), seal=seal), Rejection)
    assert len(seen) == 1


def test_descriptions_may_have_as_many_lines_as_they_like():
    assert admit(make_candidate(description="a\n\tb\r\nc")).description == "a\n\tb\r\nc"


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("Send a letter", None),
        ("x" * 300, None),
        ("x" * 301, "too_long"),
        ("Send\na letter", "line_break"),
        ("Send\ta letter", "line_break"),
        ("Send\u200b a letter", "hidden_characters"),
        ("Send\x00", "hidden_characters"),
        (5, "bad_type"),
    ],
)
def test_a_title_is_one_line_that_can_be_read(title, code):
    verdict = admit(make_candidate(title=title))
    if code is None:
        assert isinstance(verdict, Item)
        assert verdict.title == title
    else:
        assert isinstance(verdict, Rejection)
        assert verdict.code == code
