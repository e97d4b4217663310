import doctest

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pegboard.text
from making import clean_text, items, make_item
from pegboard.model.content import Signature, Version
from pegboard.model.items import DEFAULT_NAMESPACE, Kind, Visibility
from pegboard.search.ranker import CARD_LINES
from pegboard.text import (
    MAX_BODY,
    MAX_EMBEDDED,
    MAX_PASSAGES,
    MAX_WORD,
    PART_MARK,
    PASSAGE_MARK,
    Passage,
    card,
    embedded_passages,
    embedding_text,
    first_sentence,
    fold,
    harmless,
    index_fields,
    name_key,
    parameters,
    passages,
    prose,
    sections,
    signature,
    source_hash,
    spoken,
    terms,
    title,
    variants,
    words,
)
from waiting import SLOWER

relaxed = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
costly = settings(relaxed, max_examples=60)  # whole items take their time to make
anything = st.text(st.characters(), max_size=200)
DOCSTRING = """Send a letter. It may take days.

A second paragraph.

Args:
    to: Who receives it.

Returns:
    The number of the letter.
"""


def test_the_example_in_the_docstring_holds():
    assert doctest.testmod(pegboard.text) == doctest.TestResults(failed=0, attempted=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("createIssue", ["creat", "issu", "createissu"]),
        ("CreateIssue", ["creat", "issu", "createissu"]),
        ("create_issue", ["creat", "issu", "createissu"]),
        ("create-issue", ["creat", "issu"]),
        ("CREATE_ISSUE", ["creat", "issu", "createissu"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("parseJSON", ["pars", "json", "parsejson"]),
        ("getHTTPResponseCode", ["get", "http", "respons", "code", "gethttpresponsecod"]),
        ("__init__", ["init"]),
        ("_", []),
        ("s3", ["s3"]),
        ("OAuth2", ["o", "auth2", "oauth2"]),
        ("letters", ["letter"]),
        ("", []),
        ("... !?", []),
    ],
)
def test_identifiers_are_split_and_kept_whole(text, expected):
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("createIssue", "create issue"),
        ("create_issue", "createIssue"),
        ("HTTPServer", "http server"),
        ("creating issues", "create issue"),
        ("créerTicket", "creer ticket"),
        ("naïve café", "NAIVE CAFE"),
        ("ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("ﬁle", "file"),
        ("İstanbul", "istanbul"),
        ("Straße", "STRASSE"),
        ("cafe\u0301", "café"),
        ("Создать задачу", "создать ЗАДАЧУ"),
        ("Ёлка", "елка"),
        ("Größe_ändern", "grosse andern"),
        ("ΔΕΛΤΑ", "δελτα"),
    ],
)
def test_different_ways_to_write_a_word_share_its_terms(written, asked):
    assert set(terms(asked)) <= set(terms(written))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("在仓库中创建一个问题", "创建"),
        ("在仓库中创建一个问题", "仓库"),
        ("リポジトリにイシューを作成する", "作成"),
        ("リポジトリにイシューを作成する", "イシュー"),
        ("สร้างปัญหาในที่เก็บ", "ปัญหา"),
        ("ສ້າງບັນຫາ", "ບັນຫາ"),
        ("ပြဿနာဖန်တီးပါ", "ဖန်တီး"),
        ("បង្កើតបញ្ហា", "បញ្ហា"),
        ("создать новую задачу", "задачу"),
        ("إنشاء مشكلة جديدة", "مشكلة"),
        ("יצירת בעיה חדשה", "בעיה"),
        ("एक समस्या बनाएँ", "समस्या"),
        ("새 이슈 만들기", "이슈"),
        ("δημιουργία ζητήματος", "ζητήματος"),
        ("GitHub上创建issue", "issue"),
        ("GitHub上创建issue", "创建"),
    ],
)
def test_a_word_of_any_script_is_found_in_a_sentence_of_that_script(text, part):
    wanted = terms(part)
    assert wanted
    assert set(wanted) <= set(terms(text))


def test_vowel_signs_stay_with_their_word():
    assert len(terms("हिन्दी")) == 1
    assert len(terms("عَرَبِيّ")) == 1


def test_a_single_character_of_a_script_without_spaces_is_a_term():
    assert terms("水") == ["水"]
    assert terms("水火木") == ["水火", "火木"]


@relaxed
@given(text=anything)
def test_terms_of_any_text_are_the_same_every_time_and_never_blank(text):
    found = terms(text)
    assert found == terms(text)
    assert all(term and not any(each.isspace() for each in term) for term in found)


@relaxed
@given(text=anything)
def test_case_and_composition_do_not_change_what_is_folded(text):
    assert fold(fold(text)) == fold(text)


@relaxed
@given(left=anything, right=anything)
def test_the_terms_of_two_texts_are_the_terms_of_each(left, right):
    assert terms(f"{left} {right}") == terms(left) + terms(right)


@costly
@given(item=items())
def test_index_fields_hold_the_terms_of_their_own_fields(item):
    fields = index_fields(item)
    assert fields.name.split() == terms(item.name)
    namespace = "" if item.namespace == DEFAULT_NAMESPACE else item.namespace
    filed = (item.category, item.subcategory, *item.tags, item.source, namespace)
    labels = [term for text in filed for term in terms(text)]
    assert fields.labels.split() == labels
    assert fields == index_fields(item)


def test_only_the_beginning_of_a_long_body_is_indexed():
    body = "word " * MAX_BODY + "needle"
    assert "needl" not in index_fields(make_item(body=body)).body


def test_a_document_is_found_by_the_words_of_far_more_of_it():
    body = "word " * (MAX_BODY // 2) + "needle"
    assert "needl" in index_fields(make_item(body=body, kind=Kind.KNOWLEDGE)).body.split()


def test_a_word_counts_once_in_a_document_and_as_often_as_it_stands_in_a_tool():
    body = "# Letters\n\nletter letter stamp"
    assert index_fields(make_item(body=body, kind=Kind.SKILL)).body == "letter stamp"
    assert index_fields(make_item(body=body)).body == "letter letter letter stamp"


def test_headings_of_a_document_count_as_its_description():
    document = make_item(body="# Stamps\n\nx", kind=Kind.SKILL, description="Send a letter.")
    assert index_fields(document).description == "send a letter stamp"
    assert index_fields(document._replace(kind=Kind.TOOL)).description == "send a letter"


def test_the_text_to_embed_says_what_the_item_is_for():
    properties = {"dueDate": {"type": "string", "description": "When."}, "labels": {}}
    item = make_item(
        "createIssue",
        category="git_hub",
        description=DOCSTRING,
        tags=("bugs", "work"),
        keywords=("ticket",),
        examples=("open a bug",),
        endpoint="/issues",
        routing_domain="code",
        semantic_namespace="forge",
        target_personas=("developer",),
        input_schema={"type": "object", "properties": properties},
    )
    assert embedding_text(item).split(PART_MARK) == [
        "create Issue",
        "Send a letter. It may take days. A second paragraph. bugs, work."
        " ticket. open a bug. issues. code. forge. developer",
        "Send a letter",
        "due Date: When. labels",
    ]


def test_an_item_that_says_nothing_of_itself_is_embedded_by_its_category_and_name():
    assert embedding_text(make_item("createIssue", category="git_hub", description="")) == (
        "git hub create Issue"
    )


def test_an_item_without_a_name_to_speak_is_embedded_by_what_it_says():
    item = make_item("!", description="Send a letter. Post it.")
    assert embedding_text(item).split(PART_MARK) == ["", "Send a letter. Post it", "Send a letter"]


UNHEARD = {
    "id": "another:id:here",
    "namespace": "team",
    "source": "elsewhere",
    "origin": "moved.py",
    "origin_hash": "other",
    "author": "Mia",
    "official": True,
    "visibility": Visibility.PRIVATE,
    "semantic_weight": 2.0,
    "executor": {"command": "x"},
    "version": Version("1.0.0", "hash"),
    "signature": Signature("mia", "ed25519", "abc", "2030-01-01"),
}


@costly
@given(item=items(), field=st.sampled_from(sorted(UNHEARD)))
def test_ids_origins_and_audit_fields_never_change_the_text_to_embed(item, field):
    changed = item._replace(**{field: UNHEARD[field]})
    assert embedding_text(changed) == embedding_text(item)


@costly
@given(item=items())
def test_each_passage_is_bounded_of_four_lines_at_most_and_always_the_same(item):
    text = embedding_text(item)
    assert text == embedding_text(item)
    assert source_hash(text) == source_hash(embedding_text(item))
    assert 1 <= len(embedded_passages(text)) <= MAX_PASSAGES
    for passage in embedded_passages(text):
        parts = passage.split(PART_MARK)
        assert len(parts) <= len(Passage._fields) - 1
        assert all(len(part) <= MAX_EMBEDDED for part in parts)
        assert all(part == " ".join(part.split()) for part in parts)
        assert len(parts) == 1 or sum(map(bool, parts)) > 1
        assert parts[-1]


@costly
@given(item=items(kind=st.just(Kind.TOOL)))
def test_a_tool_has_one_passage_whatever_its_body(item):
    assert embedded_passages(embedding_text(item)) == [passages(item)[0].text]
    assert embedding_text(item._replace(body="# Other\n\nbody")) == embedding_text(item)


def test_a_long_text_to_embed_is_cut():
    item = make_item("x" * 5000, description="word " * 5000)
    label, body = embedding_text(item).split(PART_MARK)
    assert max(len(label), len(body)) <= MAX_EMBEDDED


@relaxed
@given(spaces=st.text(" \t", min_size=1, max_size=5))
def test_spacing_does_not_change_the_text_to_embed(spaces):
    plain, spaced = "Send a letter", f"{spaces}Send{spaces}a{spaces}letter{spaces}"
    texts = {embedding_text(make_item(description=each)) for each in (plain, spaced)}
    assert len(texts) == 1


def test_composed_and_decomposed_accents_give_the_same_text():
    texts = {embedding_text(make_item(description=each)) for each in ("café", "cafe\u0301")}
    assert len(texts) == 1


HANDBOOK = """Who carries the pager, and what to do.

# On-call handbook

## When it rings

Acknowledge within five minutes.

## Pay

A week is worth 350 euros.
"""


def test_a_document_has_a_passage_for_what_it_is_and_one_for_each_part():
    item = make_item(
        "On-call handbook",
        kind=Kind.KNOWLEDGE,
        description="Everything about the pager.",
        tags=("pager",),
        body=HANDBOOK,
    )
    assert [(each.heading, each.text) for each in passages(item)] == [
        ("", f"On call handbook{PART_MARK}Everything about the pager. pager"),
        ("", f"On call handbook{PART_MARK}Who carries the pager, and what to do."),
        (
            "When it rings",
            f"On call handbook. When it rings{PART_MARK}Acknowledge within five minutes.",
        ),
        ("Pay", f"On call handbook. Pay{PART_MARK}A week is worth 350 euros."),
    ]
    assert embedding_text(item) == PASSAGE_MARK.join(each.text for each in passages(item))


def test_the_passages_of_a_skill_are_called_by_its_headings():
    skill = make_item("pdf-forms", kind=Kind.SKILL, description="Fill in forms.", body=HANDBOOK)
    assert passages(skill)[0].text == f"pdf forms{PART_MARK}Fill in forms"
    assert [each.label for each in passages(skill)[1:]] == [
        "pdf forms",
        "pdf forms. On-call handbook > When it rings",
        "pdf forms. On-call handbook > Pay",
    ]


def test_what_a_directive_takes_is_among_its_steps():
    directive = make_item(
        "deploy",
        kind=Kind.DIRECTIVE,
        description="Bring it out.",
        body="1. tag: Tag it.\n\n2. ship: Ship it.",
        input_schema={"type": "object", "properties": {"stage": {"description": "Where to"}}},
    )
    [_, steps] = passages(directive)
    assert steps.text == f"deploy{PART_MARK}1. tag: Tag it. 2. ship: Ship it. - stage: Where to"


@pytest.mark.parametrize("description", ["", "Rinse the pipe.", "Rinse the pipe.  Then wait."])
def test_a_short_document_without_a_description_of_its_own_has_one_passage(description):
    body = "Rinse the pipe.\nThen wait. Error 8 means that the tray is out."
    note = make_item("Coffee", kind=Kind.KNOWLEDGE, description=description, body=body)
    told = "Rinse the pipe. Then wait. Error 8 means that the tray is out"
    assert embedding_text(note) == f"Coffee{PART_MARK}{told}"


def test_a_document_whose_name_says_nothing_is_embedded_by_its_parts():
    note = make_item("!", category="", kind=Kind.KNOWLEDGE, description="", body=HANDBOOK)
    assert [each.heading for each in passages(note)] == [
        "",
        "On-call handbook > When it rings",
        "On-call handbook > Pay",
    ]


def test_the_text_of_the_longest_document_can_be_queued_by_any_caller():
    """Rights on PostgreSQL let nobody queue more than 100,000 characters."""
    heads = "".join(f"{'#' * n} {'h' * 200}\n" for n in range(1, 7))
    body = "\n\n".join(f"# {n}\n{heads}{'word ' * 5000}" for n in range(20))
    item = make_item("x" * 200, kind=Kind.KNOWLEDGE, description="d" * 100_000, body=body)
    assert len(passages(item)) == MAX_PASSAGES
    assert len(embedding_text(item)) <= 100_000


@pytest.mark.parametrize("name", ["!", "___", "...", " "])
def test_an_item_that_says_nothing_has_a_blank_text(name):
    assert embedding_text(make_item(name, category="", description=" \n ")) == ""


@relaxed
@given(text=anything)
def test_every_text_has_a_hash(text):
    assert len(source_hash(text)) == 64


@pytest.mark.parametrize(
    ("identifier", "said"),
    [
        ("createIssue", "create Issue"),
        ("create_issue", "create issue"),
        ("HTTPServer", "HTTP Server"),
        ("创建问题", "创建问题"),
        ("!", ""),
    ],
)
def test_an_identifier_is_spoken_as_words(identifier, said):
    assert spoken(identifier) == said


@pytest.mark.parametrize(
    "heading", ["Args:", "args", "Arguments:", "Parameters", "Returns:", "Raises:", "Example:"]
)
def test_prose_ends_where_the_sections_of_a_docstring_begin(heading):
    assert prose(f"Send it.\n\nSoon.\n\n  {heading}\n    to: whom") == "Send it.\n\nSoon."


@pytest.mark.parametrize(
    "text",
    ["", "Args are fine in a sentence.", "Returns: the number", "Args:\n  to: whom", "One\nline."],
)
def test_prose_without_sections_or_with_nothing_before_them_is_left_alone(text):
    assert prose(text) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (DOCSTRING, "Send a letter."),
        ("One of them. Two.", "One of them."),
        ("Really so far? Yes.", "Really so far?"),
        ("No end", "No end"),
        ("Get Credits.\n\nGet the cast of a film. More.", "Get Credits. Get the cast of a film."),
        ("Get Credits. Get the cast. More.", "Get Credits. Get the cast."),
        ("Credits\n\nThe cast of a film.", "Credits: The cast of a film."),
        ("Get Credits.\n\n| a | table |", "Get Credits."),
        ("Over\ntwo lines. More.", "Over two lines."),
        ("A longer heading\n\nThe rest. And more.", "A longer heading"),
        ("Version 1.2 of it. More.", "Version 1.2 of it."),
        ("创建问题。然后关闭。", "创建问题。"),
        ("  \n ", ""),
        ("", ""),
    ],
)
def test_the_first_sentence_is_found(text, sentence):
    assert first_sentence(text) == sentence


@relaxed
@given(text=anything)
def test_any_description_has_prose_and_a_first_sentence_of_one_line(text):
    assert text.startswith(prose(text))
    assert len(first_sentence(text).splitlines()) <= 1


def test_parameters_are_names_and_descriptions_of_the_top_level():
    schema = {
        "properties": {
            "to": {"description": "Who receives it."},
            "copies": {"type": "integer"},
            "odd": True,
            "wrong": {"description": 7},
        }
    }
    assert parameters(schema) == [
        ("to", "Who receives it."),
        ("copies", ""),
        ("odd", ""),
        ("wrong", ""),
    ]


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": None}, {"type": "x"}])
def test_a_schema_without_properties_has_no_parameters(schema):
    assert parameters(schema) == []


@relaxed
@given(name=clean_text, described=st.none() | clean_text | st.integers())
def test_any_property_is_a_parameter(name, described):
    [(found, text)] = parameters({"properties": {name: {"description": described}}})
    assert (found, text) == (name, described if isinstance(described, str) else "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("run_query", "runQuery"),
        ("run_query", "Run query"),
        ("run_query", "RUN-QUERY!"),
        ("run_query", " run  query "),
        ("HTTPServer", "http server"),
        ("café", "CAFE\u0301"),
        ("Straße", "STRASSE"),
        ("ｒｕｎ", "run"),
        ("创建 问题", "创建问题"),
        ("समस्या बनाएँ", "समस्या_बनाएँ"),
    ],
)
def test_all_spellings_of_a_name_have_one_key(one, other):
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("run_query", "run_queries"), ("a1", "a2"), ("की", "को"), ("ดี", "ดู"), ("C", "C2")],
)
def test_different_names_have_different_keys(one, other):
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize("name", ["", "!", "🎉", "___", "- -"])
def test_a_name_without_a_letter_or_digit_has_no_key(name):
    assert name_key(name) == ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("createIssue", ["create", "issue"]),
        ("creating_issues", ["creating", "issues"]),
        ("HTTPServer 2", ["http", "server", "2"]),
        ("Café Größe Straße", ["cafe", "grosse", "strasse"]),
        ("łódź_ØRSTED", ["łodz", "ørsted"]),
        ("Создать задачу", ["создать", "задачу"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("GitHub上创建issue", ["git", "hub", "issue"]),
        ("创建问题", []),
        ("?!", []),
    ],
)
def test_words_are_the_parts_of_identifiers_as_they_are_spelled(text, found):
    assert words(text) == found


@relaxed
@given(text=anything)
def test_every_word_has_a_term_and_no_space(text):
    for word in words(text):
        assert terms(word)
        assert word == "".join(word.split())


@relaxed
@given(word=st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=12))
def test_the_variants_of_a_word_are_itself_and_itself_less_one_letter(word):
    found = variants(word)
    assert found[0] == word
    assert len(found) == len(set(found)) <= len(word) + 1
    assert {len(each) for each in found[1:]} <= {len(word) - 1}


@pytest.mark.parametrize(
    ("said", "meant"),
    [("isue", "issue"), ("isssue", "issue"), ("issur", "issue"), ("isseu", "issue"), ("x", "xy")],
)
def test_two_words_one_typing_error_apart_have_a_variant_in_common(said, meant):
    assert set(variants(said)) & set(variants(meant))


def test_sections_are_what_prose_leaves_out():
    assert prose(DOCSTRING) + sections(DOCSTRING) == DOCSTRING
    assert "Args" in sections(DOCSTRING)


def call(properties, required=(), name="create_issue"):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return signature(make_item(name, input_schema=schema))


def test_a_signature_names_what_is_required_first_and_marks_the_rest():
    properties = {"body": {"type": "string"}, "title": {"type": "string"}, "n": {"type": "integer"}}
    assert call(properties, ["title"]) == (
        "create_issue(title: string, body?: string, n?: integer)"
    )


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"type": "array"}, "any[]"),
        ({"type": ["string", "null"]}, "string"),
        ({"enum": ["low", "high"]}, "low|high"),
        ({"enum": ["fraudulent", "requested_by_customer"]}, "fraudulent|requested_by_custom…"),
        ({"anyOf": [{"type": "object"}, {"enum": [""]}]}, 'object|""'),
        ({"enum": list(range(9)), "type": "integer"}, "integer"),
        ({"anyOf": []}, "any"),
        (True, "any"),
    ],
)
def test_a_signature_says_each_type_in_one_word(schema, said):
    assert call({"x": schema}, ["x"], "f") == f"f(x: {said})"


def test_a_long_signature_is_cut_but_never_in_what_is_required():
    properties = {f"p{n}": {"type": "string"} for n in range(30)}
    assert call(properties).endswith("p11?: string, …)")
    assert call(properties, list(properties)).count(":") == 30


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"required": 7}])
def test_an_item_without_parameters_has_an_empty_signature(schema):
    assert signature(make_item("now", input_schema=schema)) == "now()"


@costly
@given(item=items())
def test_any_item_has_a_signature(item):
    assert signature(item).startswith(item.name)


def test_the_rest_of_a_very_long_word_is_not_looked_at():
    assert terms("x" * MAX_WORD) == terms("x" * 10 * MAX_WORD)


@pytest.mark.timeout(10 * SLOWER)
@pytest.mark.parametrize(
    "action", [prose, first_sentence, terms, words, name_key], ids=lambda each: each.__name__
)
@pytest.mark.parametrize(
    "unit",
    [
        "\n",
        " ",
        "args ",
        "args\n\n",
        "args:",
        "A",
        "aB",
        "_",
        "a.",
        "\u0301",
        "文",
        "\ufdfa",
        "\n x",
    ],
    ids=ascii,
)
def test_the_longest_text_the_gate_admits_does_not_hold_up_the_work(action, unit, share):
    """Milliseconds if the work grows with the length; minutes if it grows with its square."""
    text = f"x{unit * int(100_000 * share / len(unit))}y"
    assert action(text) == action(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
SCHEMAS = st.dictionaries(
    st.sampled_from(["properties", "required", "type", "anyOf", "enum", "items", "x"]),
    JSON | st.dictionaries(st.text(max_size=5), JSON, max_size=3),
    max_size=4,
)


@given(SCHEMAS)
def test_any_json_as_a_schema_becomes_text(schema):
    item = make_item(input_schema=schema, output_schema=schema)
    assert signature(item).startswith("send(")
    assert embedding_text(item)
    assert index_fields(item)


@pytest.mark.parametrize(
    "said", ["\x1b]0;owned\x07\x1b[2J", "a\rb\nc", "\u202e\u2028x", "\x85\x0c y"]
)
def test_words_of_others_are_told_on_one_line_without_orders_to_a_terminal(said):
    told = harmless(said)
    assert told.isprintable()
    assert len(told.splitlines()) <= 1


@pytest.mark.parametrize(
    ("said", "description", "expected"),
    [
        ("Send a letter", "Anything else.", "Send a letter"),
        ("", "Send a letter by post. Then wait.", "Send a letter by post."),
        ("", "Get Credits. Returns the credits.", "Get Credits. Returns the credits."),
        ("", f"Get Credits. {'word ' * 30}", "Get Credits."),
        ("", "word " * 26, ""),
        ("", "word " * 25, ("word " * 25).strip()),
        ("", "信" * 301, ""),
        (" ", "Send it away.", "Send it away."),
        ("", "", ""),
    ],
)
def test_the_title_is_the_items_own_or_a_short_first_sentence(said, description, expected):
    item = make_item(title=said, description=description)
    assert title(item) == expected


def test_only_a_title_of_its_own_is_indexed_beside_the_description():
    assert index_fields(make_item(title="Send a letter")).title.split() == terms("Send a letter")
    assert index_fields(make_item(description="Send a letter.")).title == ""


def test_a_card_has_what_reranking_compares():
    item = make_item(
        "createIssue",
        title="Open tickets",
        category="git_hub",
        tags=("bugs",),
        source="tools",
        description="Opens a ticket.\n\nTwice a ticket.\n\nArgs:\n    x: hidden",
        input_schema={"properties": {"repoName": {"description": "Where."}, "body": {}}},
        endpoint="POST /issues",
    )
    assert card(item).split("\n") == [
        "creat issu",
        "open ticket",
        "git hub bug tool mcptool",
        "repo name bodi",
        "where",
        "open a ticket twice",
        "create issue open tickets",
        "create open",
        "create|issue one",
        "issu",
        "opentickets",
        "issue tickets issues",
    ]


@pytest.mark.parametrize(
    ("endpoint", "effect"),
    [
        ("GET /letters", "list many"),
        ("GET /letters/{id}", "get one"),
        ("GET /me", "get"),
        ("POST /letters", "create one"),
        ("POST /letters/{id}", "update one"),
        ("PATCH /letters/{id}", "update one"),
        ("DELETE /letters/{id}", "delete one"),
        ("POST /letters/{id}/send", "send one"),
        ("PUT /letters/{id}/archive/", "archive one"),
        ("DELETE /letters/{id}/lock", "delete many"),
        ("POST /letters.archive", "archive"),
        ("POST /letters/{id}:cancel", "cancel one"),
        ("POST /createLetter", "create"),
        ("POST /report", "create one"),
        ("POST /reports", "create|report one"),
        ("POST /report-runs", "create one"),
        ("GET /letters.list", "list many"),
        ("GET /letters/search", "search many"),
        ("GET /letters/{id}/order", "get"),
        ("GET /letters/{id}/download", "download one"),
        ("DELETE /letters", "delete many"),
        ("courier.Scales/Weigh", ""),
        ("", ""),
    ],
)
def test_a_card_says_what_a_request_does(endpoint, effect):
    assert card(make_item(endpoint=endpoint)).split("\n")[8] == effect


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({"readOnlyHint": True}, "read-only"),
        ({"readOnlyHint": True, "destructiveHint": True}, "read-only"),
        ({"destructiveHint": True}, "destructive"),
        ({"readOnlyHint": False}, ""),
        ({"readOnlyHint": "yes"}, ""),
        ("none", ""),
    ],
)
def test_a_card_says_what_the_annotations_of_an_mcp_tool_say(hints, effect):
    item = make_item(executor={"annotations": hints})
    assert card(item).split("\n")[8] == effect


@costly
@given(item=items())
def test_a_card_always_has_the_same_lines(item):
    lines = card(item).split("\n")
    assert len(lines) == CARD_LINES
    assert all(len(line.splitlines()) <= 1 for line in lines)


def test_a_card_is_short_however_long_the_item_is():
    many = " ".join(f"word{n}x" for n in range(5_000))
    properties = {f"name{n}x": {} for n in range(5_000)}
    item = make_item(
        description=many, tags=(many,), input_schema={"properties": properties}, body=many
    )
    assert len(card(item)) < 10_000


def test_korean_is_split_into_pairs_since_particles_and_compounds_hide_its_words():
    assert terms("캘린더에") == ["캘린", "린더", "더에"]
    assert set(terms("캘린더")) < set(terms("캘린더에"))
