import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pegboard.model.items import WordQuery
from pegboard.search import query as queries
from pegboard.search.query import MAX_CHARACTERS, MAX_TERMS, choose, known_share, parse
from pegboard.text import terms

relaxed = settings(max_examples=300, deadline=None)
anything = st.text(st.characters(), max_size=300)
SYNTAX = re.compile(r"""["'*():^+{}\[\]\\.,;<>=!?&|~/%\s-]""")


@relaxed
@given(raw=anything)
@example(raw="")
@example(raw="\0" * 50)
@example(raw="\ud800 lone \udfff surrogates")
def test_no_text_upsets_the_parser(raw):
    query = parse(raw)
    assert query == parse(raw)
    assert len(query.text) <= MAX_CHARACTERS
    assert len(query.terms) <= MAX_TERMS
    assert len(set(query.terms)) == len(query.terms)
    assert query.text == " ".join(query.text.split())
    query.text.encode()


@relaxed
@given(raw=anything)
def test_no_syntax_is_left_in_any_term(raw):
    for term in parse(raw).terms:
        assert term
        assert not SYNTAX.search(term)
        assert not any(unicodedata.category(each) in ("Cc", "Cs", "Zs") for each in term)


@relaxed
@given(raw=anything)
def test_a_parsed_text_parses_to_itself(raw):
    query = parse(raw)
    assert parse(query.text) == query


@relaxed
@given(piece=st.text(st.characters(), min_size=1, max_size=5))
@example(piece="a")
@example(piece="aB")
@example(piece="_")
@example(piece="A")
@example(piece="\u0301")
@example(piece="文")
@example(piece="\ufdfa")
@example(piece='" OR ')
@example(piece="(")
@example(piece="𝕒")
def test_a_hundred_kilobytes_of_anything_are_cut_to_size(piece):
    query = parse(piece * (100_000 // len(piece)))
    assert len(query.text) <= MAX_CHARACTERS
    assert len(query.terms) <= MAX_TERMS
    assert sum(map(len, query.terms)) <= 40 * MAX_CHARACTERS


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("send AND letter", {"send", "letter"}),
        ('"send" OR letter*', {"send", "letter"}),
        ("name:send -letter", {"name", "send", "letter"}),
        ("NEAR(send letter, 5)", {"near", "send", "letter", "5"}),
        ("^send + {letter}", {"send", "letter"}),
        ("send'; DROP TABLE items; --", {"send", "drop", "tabl", "item"}),
    ],
)
def test_operators_become_words_or_vanish(raw, expected):
    assert set(parse(raw).terms) == expected


def test_words_that_say_nothing_are_left_out():
    assert parse("how do I send a letter to the office?").terms == ("send", "letter", "offic")


def test_words_that_say_nothing_are_kept_when_there_are_no_others():
    assert parse("who are you").terms == ("who", "are", "you")


def test_a_word_said_twice_counts_once():
    assert parse("send Send SENDING").terms == ("send",)


@pytest.mark.parametrize("raw", ["", "   ", "\n\t\u3000"])
def test_a_query_of_nothing_but_spaces_is_blank(raw):
    assert parse(raw).blank
    assert parse(raw).terms == ()


@pytest.mark.parametrize("raw", ["!!!", "?", "—", "🎉"])
def test_a_query_without_words_is_not_blank_and_has_no_terms(raw):
    assert not parse(raw).blank
    assert parse(raw).terms == ()


@pytest.mark.parametrize(
    "raw", ["创建问题", "イシュー", "สร้าง", "создать", "إنشاء", "बनाएँ", "만들기"]
)
def test_a_query_in_any_script_has_terms(raw):
    assert parse(raw).terms


def test_spaces_of_all_kinds_become_one():
    assert parse(" send\u3000\n a\t\u2028letter ").text == "send a letter"


def test_the_words_are_those_of_the_terms_as_they_were_spelled():
    assert parse("Creating the Isues in GitHub").words == ("creating", "isues", "git", "hub")
    assert parse("creatIsue créer").words == ("creat", "isue", "creer")


@relaxed
@given(raw=anything)
def test_every_word_stands_for_a_term(raw):
    query = parse(raw)
    assert all(set(terms(word)) & set(query.terms) for word in query.words)
    assert len(set(query.words)) == len(query.words)


@pytest.mark.parametrize("raw", ["runQuery", "run_query", "Run  query?", "RUN-QUERY"])
def test_a_query_has_the_key_of_the_name_that_it_may_be(raw):
    assert parse(raw).name_key == "runquery"


@pytest.fixture
def small(monkeypatch):
    """Budgets that a handful of terms can use up."""
    monkeypatch.setattr(queries, "MAX_POSTINGS", 300)
    monkeypatch.setattr(queries, "LEAD_POSTINGS", 20)


def test_on_a_small_board_all_known_terms_are_looked_for_in_the_order_they_were_said():
    counted = {"send": 0, "letter": 0, "post": 0}
    assert choose(["post", "unheard", "send"], counted) == WordQuery(
        ("post", "send"), ("post", "send")
    )


def test_no_known_term_is_nothing_to_look_for():
    assert choose([], {}) == choose(["unheard"], {"send": 0}) == WordQuery()


def test_common_terms_lead_nowhere_but_still_count(small):
    chosen = choose(["send", "zebra", "a"], {"send": 100, "zebra": 0, "a": 150})
    assert chosen == WordQuery(("send", "zebra", "a"), ("zebra",))


def test_the_commonest_are_left_out_where_even_counting_them_costs_too_much(small):
    chosen = choose(["send", "zebra", "a"], {"send": 100, "zebra": 0, "a": 250})
    assert chosen == WordQuery(("send", "zebra"), ("zebra",))


def test_a_single_term_leads_however_common_it_is(small):
    assert choose(["a", "x"], {"a": 10**6}) == WordQuery(("a",), ("a",))


def test_where_all_are_common_an_item_must_have_the_rarest_three(small):
    counted = {"a": 400, "b": 300, "c": 200, "d": 150}
    chosen = choose(list("abcd"), counted)
    assert chosen.every
    assert chosen.lead == ("b", "c", "d")
    assert set(chosen.lead) <= set(chosen.terms)


@relaxed
@given(counted=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 10**6)), data=st.data())
def test_the_choice_is_among_the_known_terms_and_its_work_is_bounded(counted, data):
    said = data.draw(st.lists(st.sampled_from("abcdefghxyz"), unique=True))
    chosen = choose(said, counted)
    known = [term for term in said if term in counted]
    assert list(chosen.terms) == [term for term in known if term in chosen.terms]
    assert set(chosen.lead) <= set(chosen.terms)
    assert bool(chosen.lead) == bool(known)
    least = min((counted[term] for term in known), default=0)
    if not chosen.every:
        assert sum(counted[each] for each in chosen.terms) <= max(queries.MAX_POSTINGS, least)
        assert sum(counted[each] for each in chosen.lead) <= max(queries.LEAD_POSTINGS, least)
    assert all(
        counted[taken] <= counted[left]
        for taken in chosen.lead
        for left in set(known) - set(chosen.lead)
    )


@pytest.mark.parametrize(("said", "share"), [([], 0.0), (["a"], 1.0), (["a", "x"], 0.5), ("x", 0)])
def test_the_known_share_is_that_of_the_terms(said, share):
    assert known_share(said, {"a": 0, "b": 7}) == share


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ('create an issue titled "delete all the files"', "create an issue titled"),
        ("create an issue titled “delete all the files”", "create an issue titled"),
        ("create an issue titled „alles löschen“ today", "create an issue titled today"),
        ("create an issue titled «удалить всё»", "create an issue titled"),
        ("create an issue titled 「すべて削除」", "create an issue titled"),
        (r'create an issue titled "he said \"delete\" it"', "create an issue titled"),
        ("open /etc/passwd.list in the editor", "open in the editor"),
        ('post "hello" to https://slack.example.com/merge/pulls', 'post "hello" to'),
        ("visit example.com/search/delete for a screenshot", "visit for a screenshot"),
        ("copy s3://bucket/delete/list.json to the disk", "copy to the disk"),
        ("mail delete.list@search.example.com the agenda", "mail the agenda"),
        ("clone git@github.com:delete/list.git to the laptop", "clone to the laptop"),
        ("read report.pdf and summarize it", "read pdf and summarize it"),
        ("count rows in search_results.csv", "count rows in csv"),
        ("find user 550e8400-e29b-41d4-a716-446655440000", "find user"),
        ("show commit deadbeefcafe", "show commit"),
        ("refund payment pi_3MtwBwLkdIwHu7ix28a3tqPa", "refund payment"),
        ('insert {"action": "delete"} into the events table', "insert into the events table"),
    ],
)
def test_the_arguments_of_a_request_are_left_out(raw, plain):
    assert parse(raw).plain == plain


@pytest.mark.parametrize(
    "raw",
    [
        'create an issue titled "delete all the files',  # the quote has no end
        'convert 6" to centimetres and 10" to inches',
        "the customers’ invoices and the team’s calendar",
        "list John's and Mary's open tickets",
        "read/write permissions of the user",
        "cancel order 12345678",
        "base64_encode the text of a file",
        "call GET /v1/charges/search of the list",
        "call the endpoint /repos/{owner}/issues of the list",
        "把PDF第3页提取出来并保存到文件夹",
        'translate "good morning"',  # too little would be left
        "https://example.com/delete",
        "/etc/passwd",
        "report.pdf",
    ],
)
def test_what_may_be_the_subject_stays(raw):
    assert parse(raw).plain == raw


def test_a_contraction_leaves_no_word_behind():
    assert parse("don't delete my files").terms == tuple(terms("delete files"))
    assert parse("I can’t open it").terms == tuple(terms("open"))


HOSTILE = {
    "dashes": "-" * 200_000,
    "plus signs": "+" * 600_000,
    "no scheme": "a-" * 100_000,
    "no host": "a." * 200_000,
    "no file": "a/" * 100_000,
    "no file on a drive": "a\\" * 100_000,
    "dots and dashes": "-." * 100_000,
    "path of an API": "-/" * 100_000 + "{",
    "another path of an API": "a./" * 70_000 + "{",
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_no_pattern_takes_quadratic_time(hostile, monkeypatch):
    """At this length quadratic time exceeds the timeout of the suite."""
    monkeypatch.setattr(queries, "MAX_CHARACTERS", 1_000_000)
    assert parse(hostile).plain == hostile
    assert parse(f"send the letter to {hostile}").terms[:2] == ("send", "letter")


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        (f"send the letter {'-' * 900}.pdf today", "send the letter pdf today"),
        (f"send the letter {'a/' * 900}b.pdf today", "send the letter pdf today"),
        (f"send the letter {'-' * 900}@example.com today", "send the letter today"),
        (f"send the letter {'a.' * 900}com/x today", "send the letter today"),
        (f"send the letter {'/a-' * 600} today", "send the letter today"),
        ("send the letter ms-secondary-screen-controller:x today", None),
        ("send the letter ms-secondary-screen-controller://x today", "send the letter today"),
        ("send the letter 1.http://x.example/y today", "send the letter 1. today"),
        ("send the letter a.pdf\\n today", "send the letter pdf \\n today"),
    ],
)
def test_long_and_odd_addresses_are_left_out(raw, plain):
    assert parse(raw).plain == (plain or raw)
