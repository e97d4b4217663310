import doctest

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pegboard.text
from making import clean_text, items, make_item
from pegboard.model import Signature, Version, Visibility
from pegboard.text import (
    MAX_BODY,
    MAX_EMBEDDED,
    embedding_text,
    first_sentence,
    fold,
    index_fields,
    parameters,
    prose,
    source_hash,
    spoken,
    terms,
)

relaxed = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
anything = st.text(st.characters(), max_size=200)
DOCSTRING = """Send a letter. It may take days.

A second paragraph.

Args:
    to: Who receives it.

Returns:
    The number of the letter.
"""


def test_the_example_in_the_docstring_holds():
    assert doctest.testmod(pegboard.text) == doctest.TestResults(failed=0, attempted=1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("createIssue", ["creat", "issu", "createissue"]),
        ("CreateIssue", ["creat", "issu", "createissue"]),
        ("create_issue", ["creat", "issu", "createissue"]),
        ("create-issue", ["creat", "issu"]),
        ("CREATE_ISSUE", ["creat", "issu", "createissue"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("parseJSON", ["pars", "json", "parsejson"]),
        ("getHTTPResponseCode", ["get", "http", "respons", "code", "gethttpresponsecode"]),
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


@relaxed
@given(item=items())
def test_index_fields_hold_the_terms_of_their_own_fields(item):
    fields = index_fields(item)
    assert fields.name.split() == terms(item.name)
    labels = [
        term for text in (item.category, item.subcategory, *item.tags) for term in terms(text)
    ]
    assert fields.labels.split() == labels
    assert fields == index_fields(item)


def test_only_the_beginning_of_a_long_body_is_indexed():
    body = "word " * MAX_BODY + "needle"
    assert "needl" not in index_fields(make_item(body=body)).body


def test_the_text_to_embed_says_what_the_item_is_for():
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
    )
    assert embedding_text(item) == (
        "create Issue. git hub. Send a letter. It may take days. A second paragraph. bugs, work."
        " ticket. open a bug. /issues. code. forge. developer"
    )


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


@relaxed
@given(item=items(), field=st.sampled_from(sorted(UNHEARD)))
def test_ids_origins_and_audit_fields_never_change_the_text_to_embed(item, field):
    changed = item._replace(**{field: UNHEARD[field]})
    assert embedding_text(changed) == embedding_text(item)


@relaxed
@given(item=items())
def test_the_text_to_embed_is_bounded_on_one_line_and_always_the_same(item):
    text = embedding_text(item)
    assert text == embedding_text(item)
    assert len(text) <= MAX_EMBEDDED
    assert text == " ".join(text.split())
    assert source_hash(text) == source_hash(embedding_text(item))


def test_a_long_text_to_embed_is_cut():
    assert len(embedding_text(make_item(description="word " * 5000))) <= MAX_EMBEDDED


@relaxed
@given(spaces=st.text(" \t\n", min_size=1, max_size=5))
def test_spacing_does_not_change_the_text_to_embed(spaces):
    plain, spaced = "Send a letter", f"{spaces}Send{spaces}a{spaces}letter{spaces}"
    texts = {embedding_text(make_item(description=each)) for each in (plain, spaced)}
    assert len(texts) == 1


def test_composed_and_decomposed_accents_give_the_same_text():
    texts = {embedding_text(make_item(description=each)) for each in ("café", "cafe\u0301")}
    assert len(texts) == 1


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
        ("One. Two.", "One."),
        ("Really? Yes.", "Really?"),
        ("No end", "No end"),
        ("Over\ntwo lines. More.", "Over two lines."),
        ("A heading\n\nThe rest. And more.", "A heading"),
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


@pytest.mark.timeout(10)
@pytest.mark.parametrize("action", [prose, first_sentence, terms], ids=lambda each: each.__name__)
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
def test_the_longest_text_the_gate_admits_does_not_hold_up_the_work(action, unit):
    """Milliseconds if the work grows with the length; minutes if it grows with its square."""
    text = f"x{unit * (100_000 // len(unit))}y"
    assert action(text) == action(text)
