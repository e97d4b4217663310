import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.formats.markdown import (
    LONGEST,
    LONGEST_HEADING,
    MOST_READ,
    Cut,
    cut,
    headings,
    sentences,
)

relaxed = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOST = 64
LINES = st.sampled_from(
    [
        "# One",
        "## Two ##",
        "###### Six",
        "#no heading",
        "",
        "A sentence. Another one! A third?",
        "- an entry",
        "1. a number",
        "| a | b |",
        "|---|---|",
        "```python",
        "```",
        "~~~~",
        "# in code, perhaps",
        "x" * 2000,
        "词" * 700,
        "สวัสดี" * 200,
        "[a link](https://example.com/very/long) and more",
        "\f\x85\u2028",
        "e\u0301" * 600,
    ]
)
BODIES = st.lists(LINES | st.text(max_size=60), max_size=40).map("\n".join)


def texts(body, most=MOST):
    return [each.text for each in cut(body, most)]


def test_a_body_is_cut_at_its_headings_and_knows_what_stands_above():
    body = "Before.\n# Deploy\nHow.\n## Roll back\nUndo it.\n### Data\nCopy.\n"
    body += "## Tell\nWrite.\n# End\nBye."
    assert cut(body, MOST) == [
        Cut("", "Before."),
        Cut("Deploy", "How."),
        Cut("Deploy > Roll back", "Undo it."),
        Cut("Deploy > Roll back > Data", "Copy."),
        Cut("Deploy > Tell", "Write."),
        Cut("End", "Bye."),
    ]
    assert headings(body) == ["Deploy", "Roll back", "Data", "Tell", "End"]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# C# ", "C#"),
        ("## Steps ##", "Steps"),
        ("   # Three spaces", "Three spaces"),
        ("#\tTab", "Tab"),
        ("# [Guide](https://example.com)", "Guide"),
        ("# " + "long " * 100, ("long " * 100)[:LONGEST_HEADING].strip()),
    ],
)
def test_what_is_a_heading(line, heading):
    assert headings(f"{line}\ntext") == [heading]


@pytest.mark.parametrize("line", ["#tag", "    # code", "####### seven", "#", "\\# no"])
def test_what_is_none(line):
    assert headings(f"{line}\ntext") == []


@pytest.mark.parametrize(("fence", "end"), [("```", "```"), ("~~~~ sh", "~~~~~"), ("```py", "```")])
def test_a_comment_in_code_is_no_heading(fence, end):
    body = f"# Real\n{fence}\n# comment\n\nrun\n{end}\n# Next\nx"
    assert headings(body) == ["Real", "Next"]
    [code, _] = texts(body)
    assert "# comment run" in code


def test_a_fence_that_is_never_closed_takes_the_rest():
    assert headings("# Real\n```\n# comment\n~~~\n# comment") == ["Real"]


def test_paragraphs_share_a_passage_as_long_as_they_fit():
    short, long = "Short one.", "word " * 150
    assert texts(f"{short}\n\n{short}\n\n{long}\n\n{long}") == [
        f"{short} {short} {long.strip()}",
        long.strip(),
    ]


def test_a_long_paragraph_is_cut_between_sentences():
    sentence = "This is a sentence of some length, and there are many of them."
    found = texts(" ".join([sentence] * 40))
    assert len(found) == 3
    assert all(each.endswith("of them.") for each in found)


def test_a_long_list_is_cut_between_its_entries_and_code_between_its_lines():
    for entry, fence in (("- an entry. With two sentences in it", ""), ("call(a. b)", "```\n")):
        found = texts(fence + "\n".join([entry] * 100))
        assert len(found) > 1
        assert all(each.removeprefix("```").strip().startswith(entry) for each in found)
        assert all(each.endswith(entry) for each in found)


def test_scripts_without_spaces_are_cut_between_sentences_or_anywhere():
    sentence = "这是一个没有空格的句子。"
    assert all(each.endswith("。") for each in texts(sentence * 100))
    assert "".join(texts("词" * 1000)) == "词" * 1000


def test_a_mark_stays_with_its_letter():
    for piece in texts("x" + "e\u0301" * 2000):
        assert not piece.startswith("\u0301")


def test_a_link_is_told_by_its_name():
    assert texts('See [the guide](https://example.com/a/b#c "Title").') == ["See the guide."]


def test_rules_and_lines_of_tables_say_nothing():
    assert texts("a | b\n---|---\n1 | 2\n\n---\n\n***") == ["a | b 1 | 2"]


def test_short_parts_share_passages_if_there_are_too_many_for_each():
    body = "\n".join(f"# Question {n}\nAnswer {n}." for n in range(200))
    found = cut(body, MOST)
    assert len(found) <= MOST
    assert "Question 1: Answer 1." in found[0].text
    assert "Answer 199." in found[-1].text


def test_a_body_without_end_is_read_in_part():
    found = cut("word. " * MOST_READ, MOST)
    assert len(found) == MOST
    assert sum(len(each.text) for each in found) < MOST_READ


@relaxed
@given(BODIES)
def test_whatever_the_body_passages_are_short_on_one_line_and_always_the_same(body):
    found = cut(body, MOST)
    assert found == cut(body, MOST)
    assert len(found) <= MOST
    for each in found:
        assert 0 < len(each.text.encode("utf-8", "surrogatepass")) <= LONGEST
        assert each.text == " ".join(each.text.split())
        assert len(each.heading.splitlines()) <= 1


@relaxed
@given(BODIES)
def test_no_word_is_lost(body):
    """But for what tells nothing, the addresses of links, and what the passages are too few for."""
    body = body.replace("](", "] (")
    whole = "".join("".join(each.heading + each.text for each in cut(body, 10_000)).split())
    heads = "".join(headings(body))
    for word in body.split():
        if word.isalnum() and len(word) <= LONGEST_HEADING:
            assert word in whole or word in heads


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 300_000,
        "# " + " " * 300_000 + "x",
        "# # " * 100_000,
        "[a](" * 100_000,
        '![a](b "' * 50_000,
        "```\n" * 100_000,
        "# a\nb\n" * 50_000,
        "\u0301" * 300_000,
        ". " * 200_000,
        "a\n" * 200_000,
    ],
    ids=lambda text: repr(text[:8]),
)
@pytest.mark.timeout(20)
def test_no_text_takes_long(hostile):
    assert len(cut(hostile, MOST)) <= MOST


def test_sentences_of_any_script():
    assert sentences("One. Two! Drei? 四。五！") == ["One.", "Two!", "Drei?", "四。", "五！"]
