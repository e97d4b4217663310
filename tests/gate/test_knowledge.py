import pytest
from gate_parts import admitted, example_in, refused

from pegboard.model.content import Link
from pegboard.model.items import Form, Kind


def item(text, name="retries", **fields):
    return admitted(Form.KNOWLEDGE, text, name, **fields)


def fault(text, name="retries", **fields):
    return refused(Form.KNOWLEDGE, text, name, **fields)


def entry(front, body="# Retries\n\nTry again.\n"):
    return f"---\n{front}\n---\n\n{body}"


def test_the_example_of_the_documentation_is_admitted():
    text = example_in("knowledge.md", "markdown")
    found = item(text)
    assert (found.id, found.kind) == ("knowledge:ops:retry-with-backoff", Kind.KNOWLEDGE)
    assert (found.name, found.aliases) == ("Retry with backoff", ("retry-with-backoff",))
    assert (found.category, found.subcategory) == ("ops", "pattern")
    assert found.tags == ("http", "reliability", "pattern")
    assert found.author == "platform"
    assert found.description == (
        "Wait longer after each failure, with some chance in it, and give up in the end."
    )
    assert found.body.startswith("# Retry with backoff\n\nWait longer")
    assert found.links == (
        Link("related", "idempotent-requests"),
        Link("extends", "timeouts"),
        Link("related", "rate-limits"),
        Link("related", "circuit-breaker"),
    )
    assert found.version is not None
    assert found.version.version == "1.0.0"
    assert found.version.manifest_text == text
    assert found.version.manifest["type"] == "pattern"


def test_a_file_without_front_matter_is_an_entry():
    found = item("# Retries of calls #\n\n> quoted\n\nTry again.\n\nSee [[limits]].\n")
    assert (found.id, found.name) == ("knowledge:ops:retries", "Retries of calls")
    assert (found.aliases, found.subcategory) == (("retries",), "")
    assert found.links == (Link("related", "limits"),)
    assert item("Only text.").name == "retries"
    assert item("Only text.").aliases == ()


def test_a_file_that_says_nothing_is_refused():
    assert fault("").code == "no_body"
    assert fault("---\ntitle: Empty\n---\n").code == "no_body"
    assert item("---\ndescription: Short.\n---\n").description == "Short."


def test_the_description_is_the_first_paragraph_and_not_too_long():
    text = f"# T\n\n<!-- hidden -->\n\n```\ncode\n```\n\nFirst\nparagraph.\n\n{'word ' * 1000}"
    assert item(text).description == "First paragraph."
    assert len(item(f"# T\n\n{'word ' * 1000}").description) <= 500


def test_the_older_names_of_keys_are_understood():
    found = item(entry("zettel_id: 202508111200\nentry_type: learning\nsummary: Told.\ntags: a, b"))
    assert found.id == "knowledge:ops:202508111200"
    assert (found.subcategory, found.description) == ("learning", "Told.")
    assert found.tags == ("a", "b", "learning")


def test_the_type_is_a_tag_only_once():
    assert item(entry("type: pattern\ntags: [pattern, x]")).tags == ("pattern", "x")


def test_links_in_code_are_none():
    fenced = "```\n[[b]]\n```\n~~~~\n```\n[[d]]\n~~~~"
    body = f"`[[a]]` and\n\n{fenced}\n<!-- [[c]] -->\n[[e#part|f]] \\[[g]]"
    assert item(body).links == (Link("related", "e"),)


@pytest.mark.parametrize(
    ("front", "links"),
    [
        ("links: [a, b]", [("related", "a"), ("related", "b")]),
        ("related: a, b", [("related", "a"), ("related", "b")]),
        ("relationships:\n- {id: a, relation: extends}", [("extends", "a")]),
        ("links:\n- {to: a, type: contradicts}\n- to: b", [("contradicts", "a"), ("related", "b")]),
        ("references: [a]\nextends: [b]", [("references", "a"), ("extends", "b")]),
        ('links: ["[[a|shown]]", 12]', [("related", "a"), ("related", "12")]),
        ("links: [a, a]", [("related", "a")]),
        ("links:", []),
    ],
)
def test_links_are_written_in_many_ways(front, links):
    assert item(entry(front)).links == tuple(Link(*each) for each in links)


def test_what_the_front_matter_links_is_not_linked_again_by_the_text():
    found = item(entry("extends: [limits]", "See [[limits]].\n"))
    assert found.links == (Link("extends", "limits"),)


@pytest.mark.parametrize(
    ("front", "code", "said"),
    [
        ("title: [a", "bad_yaml", "line 3, column 1"),
        ("a: 1\na: 2", "bad_yaml", "line 3, column 4: the key 'a' stands here twice"),
        ("- a", "bad_yaml", "line 2"),
        ("links: 3", "bad_type", "links is 3"),
        ("links: [[a]]", "bad_link", "links[0] is list"),
        ("links: [{too: a}]", "bad_link", "'too'; it takes to, id"),
        ("links: [{type: a}]", "bad_link", "write the id that it leads to"),
        ("links: ['']", "bad_link", "no relation or no target"),
        ("id: a:b", "bad_id", "'a:b'"),
        ("id: a/b", "bad_id", "'a/b'"),
        ("id: 1.10", "bad_id", "1.1"),
        ("title: [a]", "bad_type", "title is list"),
        ("version: 1.10", "bad_version", "in quotes"),
        ("version: soon", "bad_version", "write it as 1.2.3"),
        ("category: sales", "wrong_category", "'sales'"),
        ("tags: [1]", "bad_type", "tags[0] is 1"),
        ("aliases: [[a]]", "bad_type", "aliases has list"),
    ],
)
def test_each_fault_is_refused_with_its_place(front, code, said):
    found = fault(entry(front))
    assert (found.code, said in found.reason) == (code, True), found


def test_front_matter_without_end_is_refused():
    assert fault("---\ntitle: x\n").code == "bad_yaml"


def test_front_matter_ends_at_its_first_line_of_dashes():
    found = item("---\r\ntitle: T\r\n---\r\nText.\r\n\r\n---\r\n\r\nMore.\r\n")
    assert (found.name, found.body) == ("T", "Text.\r\n\r\n---\r\n\r\nMore.\r\n")


def test_hidden_characters_anywhere_are_refused_with_their_line():
    found = fault(entry("title: T", "One\n\ntwo\u200b\n"))
    assert found.code == "hidden_characters"
    assert "line 7 contains U+200B" in found.reason
    assert fault(entry("title: T\nnote: a\u202eb")).code == "hidden_characters"


def test_bombs_and_depth_cost_nothing():
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert fault(entry(bomb)).code == "bad_yaml"
    assert fault(entry("a: " + "[" * 100_000)).code == "bad_yaml"
    assert fault(b"x" * 1_000_001).code == "too_large"


@pytest.mark.parametrize(
    "body",
    ["[[" * 300_000, "`" * 600_000, "<!--" * 200_000, " " * 900_000 + "x", "```\n" * 200_000],
    ids=["brackets", "backticks", "comments", "spaces", "fences"],
)
def test_texts_made_to_take_long_do_not(body):
    """Bounded by the time that a test may take."""
    assert item(f"Text.\n\n{body}").description == "Text."
