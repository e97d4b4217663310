"""Texts cut into pieces: what is marked, what is different, and what Markdown comes to."""

import time

from hypothesis import given
from hypothesis import strategies as st

from pegboard.serve.web.differences import MOST_LINES, difference, differences
from pegboard.serve.web.marking import marked, wanted_terms
from pegboard.serve.web.moments import ago, moment, span, took
from pegboard.serve.web.paths import item_path, quoted, search_path
from pegboard.serve.web.prose import blocks


def marks(text, query):
    return [piece.text for piece in marked(text, wanted_terms(query, None)) if piece.marked]


def test_words_are_marked_whatever_their_ending_case_or_accents():
    assert marks("Refunds and refunded Résumés", "refund resume") == [
        "Refunds",
        "refunded",
        "Résumés",
    ]


def test_of_an_identifier_only_the_part_is_marked_that_was_asked_for():
    assert marks("refund_payment createIssue", "payment issue") == ["payment", "Issue"]


def test_scripts_without_spaces_and_with_marks_are_marked_too():
    assert marks("创建新发票给客户", "发票") == ["发票"]
    assert marks("पैसे वापस करें", "पैसे") == ["पैसे"]


def test_words_that_say_nothing_are_not_marked():
    assert marks("Give the customer the money", "the money") == ["money"]


@given(st.text(), st.text())
def test_marking_loses_and_adds_nothing(text, query):
    assert "".join(piece.text for piece in marked(text, wanted_terms(query, None))) == text


def test_lines_that_differ_are_compared_word_by_word():
    found = difference("", "one\nsend it home\nlast", "one\nsend it away\nlast")
    assert [(line.sign, "".join(p.text for p in line.pieces)) for line in found.lines] == [
        ("", "one"),
        ("-", "send it home"),
        ("+", "send it away"),
        ("", "last"),
    ]
    assert [p.text for line in found.lines for p in line.pieces if p.marked] == ["home", "away"]


def test_far_apart_differences_are_shown_apart():
    lines = [f"line {n}" for n in range(50)]
    changed = ["first", *lines[1:-1], "end"]
    signs = [line.sign for line in difference("", "\n".join(lines), "\n".join(changed)).lines]
    assert signs.count("…") == 1
    assert len(signs) < 20


def test_objects_are_compared_field_by_field_and_what_is_the_same_is_left_out():
    found = differences({"a": {"x": 1}, "b": "same"}, {"a": {"x": 2}, "b": "same", "c": "new"})
    assert [each.title for each in found] == ["a", "c"]


@given(st.text(), st.text())
def test_a_difference_tells_all_of_both_texts_that_is_not_the_same(before, now):
    found = difference("", before, now)
    gone = ["".join(p.text for p in line.pieces) for line in found.lines if line.sign == "-"]
    come = ["".join(p.text for p in line.pieces) for line in found.lines if line.sign == "+"]
    assert set(gone) <= set(before.splitlines())
    assert set(come) <= set(now.splitlines())
    assert bool(found.lines) == (before.splitlines() != now.splitlines())


def test_texts_made_to_be_compared_for_ever_are_not():
    """Without a bound, each of these would take minutes."""
    old, new = "a b " * 400, "b a " * 400
    found = difference("", "\n".join([old] * 500), "\n".join([new] * 500))
    assert len(found.lines) == 1000
    found = difference("", "a\nb\n" * 1_000, "b\na\n" * 1_000)
    assert {line.sign for line in found.lines} == {"-", "+"}


def test_texts_without_end_are_cut_and_that_is_told():
    assert difference("", "x\n" * (MOST_LINES + 1), "y").cut


def kinds(text):
    return [(block.kind, "".join(span.text for span in block.spans)) for block in blocks(text)]


def test_markdown_comes_to_its_blocks():
    text = (
        "# Title #\n\nSome\ntext\n\n- one\n  * two\n3. three\n> said\n\n---\n```py\n# code\n```\n"
    )
    assert kinds(text) == [
        ("heading", "Title"),
        ("text", "Some\ntext"),
        ("entry", "one"),
        ("entry", "two"),
        ("entry", "three"),
        ("quote", "said"),
        ("rule", ""),
        ("code", "# code"),
    ]


def test_front_matter_is_no_part_of_a_document():
    assert kinds("---\ntitle: x\n---\n\nText\n") == [("text", "Text")]
    assert kinds("---\nnever ended") == [("rule", ""), ("text", "never ended")]


def test_in_a_line_code_stress_and_plain_links_are_told_apart():
    [block] = blocks("`a*b` **bold** *soft* [guide](https://a.example/x) 2 * 3 * 4")
    told = [(span.kind, span.text) for span in block.spans if span.kind]
    assert told == [("code", "a*b"), ("strong", "bold"), ("stress", "soft"), ("link", "guide")]


def test_links_that_could_do_something_are_shown_as_they_are_written():
    for to in ("javascript:alert(1)", "data:text/html,x", "//evil", "vbscript:x", "JaVaScRiPt:a"):
        [block] = blocks(f"[x]({to})")
        assert [span.kind for span in block.spans] == [""]
        assert block.spans[0].text == f"[x]({to})"


@given(st.text(alphabet=st.sampled_from("# -*`>[](){}<\n\t1.ab~_:/")))
def test_no_markdown_is_too_odd(text):
    for block in blocks(text):
        assert all(span.to.startswith(("http", "mailto:")) for span in block.spans if span.to)


def test_markdown_made_to_keep_us_busy_does_not():
    """Each is what regular expressions run away on; together they take no noticeable time."""
    for text in ("`" * 100_000, "[" * 100_000, "**" * 50_000, "- " * 100_000, "#" * 100_000):
        assert blocks(text) is not None
    for text in ("[a](" * 3_000, "*a " * 3_000, "<http://" * 1_000):
        assert blocks(text) is not None


def test_times_are_told_as_people_tell_them():
    assert [span(s) for s in (0, 1, 59, 61, 7200, 90_000, 40 * 86_400)] == [
        *("0 seconds", "1 second", "59 seconds", "1 minute", "2 hours", "1 day", "1 month")
    ]
    assert ago(2) == "just now"
    assert ago(3600) == "1 hour ago"
    assert (took(0.0421), took(2.34), took(90)) == ("42 ms", "2.3 s", "1 minute")
    found = moment(time.time() - 60)
    assert found is not None and found.said == "1 minute ago" and found.iso.endswith("UTC")
    assert moment(None) is None


def test_paths_lead_to_what_they_name_and_nowhere_else():
    assert item_path("public", "a:b:c") == "/ui/items/a:b:c"
    assert item_path("team", "x/../y?z#w") == "/ui/items/team%2Fx%2F..%2Fy%3Fz%23w"
    assert quoted("\ud800") == "%3F"
    assert search_path(("query", "a b"), ("tag", "")) == "/ui/?query=a+b"
