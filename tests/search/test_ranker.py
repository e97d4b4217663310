"""The ranker: what it compares, and what it may never do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import make_item
from pegboard.search import ranker, ranker_reasons
from pegboard.search.query import parse
from pegboard.text import card

SIGNALS = ranker.Signals(0.5, 0.2, 0.35)


def values(text, *items):
    """The ranking values of items that the retrievers find equally good."""
    cards = [ranker.parse_card(card(item)) for item in items]
    return ranker.rank_values(ranker.Question(parse(text)), cards, [SIGNALS] * len(items))


def test_the_packaged_file_belongs_to_these_features():
    data = json.loads(ranker.FILE.read_text("utf-8"))
    assert data["features"] == list(ranker.FEATURES)
    assert data["trees"]
    columns = {node[0] for tree in data["trees"] for node in tree}
    assert columns <= set(range(-1, len(ranker.FEATURES)))


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("create a pull request", "pulls/create", "pulls/get"),
        ("add a webhook", "create_webhook", "get_webhook"),
        ("remove a webhook", "delete_webhook", "list_webhooks"),
        ("show the invoice", "get_invoice", "delete_invoice"),
        ("list the repos of an org", "list_organization_repositories", "list_user_repositories"),
    ],
)
def test_the_action_that_is_asked_for_decides_between_look_alikes(text, right, wrong):
    first, second = values(text, make_item(right), make_item(wrong))
    assert first > second


@pytest.mark.parametrize(
    ("text", "name", "title"),
    [
        ("add a comment to an issue", "issues/create-comment", "Create an issue comment"),
        ("list my repositories", "repos/17", "List repositories for the authenticated user"),
        ("remove a webhook", "hooks/17", "Delete a webhook"),
        ("list the repos", "list_repositories", ""),
    ],
)
def test_a_name_or_title_that_is_the_question_in_a_synonym_of_its_verb_says_the_same(
    text, name, title
):
    question = ranker.Question(parse(text))
    item = make_item(name, description="Does it.", title=title)
    assert ranker.is_same_request(question, ranker.parse_card(card(item)))
    more = item._replace(name=f"{name}_archive", title=f"{title} of a planet" if title else "")
    assert not ranker.is_same_request(question, ranker.parse_card(card(more)))
    assert "name or title says the same as the question" in ranker_reasons.explain(
        question, ranker.parse_card(card(item))
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("delete an issue", "create_issue"),
        ("issue", "create_issue"),
        ("create", "create"),
        ("", "x"),
    ],
)
def test_another_action_or_no_subject_is_not_the_same_request(text, name):
    found = ranker.parse_card(card(make_item(name, description="Does it.")))
    assert not ranker.is_same_request(ranker.Question(parse(text)), found)


def test_an_identifier_in_one_word_is_found_by_two():
    first, second = values(
        "list pull requests", make_item("list_pullrequests"), make_item("list_pushrequests")
    )
    assert first > second


def test_an_item_without_a_card_is_ranked_by_its_fused_value_alone_or_below():
    (value,) = ranker.rank_values(
        ranker.Question(parse("send a letter")), [ranker.parse_card("")], [SIGNALS]
    )
    assert value <= SIGNALS.fused + 0.2


def test_no_candidates_have_no_values():
    assert ranker.rank_values(ranker.Question(parse("anything")), [], []) == []


@given(text=st.text(max_size=80), names=st.lists(st.text(min_size=1, max_size=30), max_size=6))
def test_a_value_depends_on_its_own_item_alone(text, names):
    cards = [ranker.parse_card(card(make_item(name=name))) for name in names]
    together = ranker.rank_values(ranker.Question(parse(text)), cards, [SIGNALS] * len(cards))
    alone = [
        ranker.rank_values(ranker.Question(parse(text)), [each], [SIGNALS])[0] for each in cards
    ]
    assert together == pytest.approx(alone)


def test_more_cosine_is_never_worse():
    item = ranker.parse_card(card(make_item("send_letter", description="Send a letter.")))
    found = [
        ranker.rank_values(
            ranker.Question(parse("send a letter")), [item], [ranker.Signals(c, 0.2, 0.2 + c / 2)]
        )
        for c in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]
    assert found == sorted(found)


def test_an_abbreviation_in_another_item_does_not_change_the_features():
    named = ("send_mail", "list_repo")
    text = "Send mail to many people at once.\n\nIt can hold a repo."
    items = [make_item(name, description=text) for name in named]
    cards = [ranker.parse_card(card(item)) for item in items]
    question = ranker.Question(parse("send repository"))
    (alone,) = ranker.features(question, cards[:1], [SIGNALS])
    together = ranker.features(question, cards, [SIGNALS, SIGNALS])
    assert together[0] == alone


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("erase a webhook", "delete_webhook", "get_webhook"),
        ("look up an invoice", "get_invoice", "update_invoice"),
        ("get rid of a webhook", "delete_webhook", "list_webhooks"),
        ("a new webhook", "create_webhook", "delete_webhook"),
        ("alter a webhook", "update_webhook", "list_webhooks"),
    ],
)
def test_everyday_words_stand_for_the_verbs_that_tools_are_named_by(text, right, wrong):
    first, second = values(text, make_item(right), make_item(wrong))
    assert first > second


def test_my_things_are_those_of_the_authenticated_user():
    own = make_item("list_repos_for_authenticated_user", description="Anything.")
    public = make_item("list_public_repos", description="Anything.")
    first, second = values("list my repos", own, public)
    assert first > second
    first, second = values("list the public repos", own, public)
    assert first < second


def test_who_asks_to_do_something_means_it_for_the_caller():
    own = make_item("x_1", description="", title="Star a repository for the authenticated user")
    other = make_item("x_2", description="", title="Star a repository for an organization")
    first, second = values("star a repository", own, other)
    assert first > second
    assert "not asked for" not in " ".join(
        explained("star a repository", own.name, title=own.title)
    )


def test_my_things_come_before_the_things_of_all():
    own = make_item("x_1", description="", title="List organizations for the authenticated user")
    every = make_item("x_2", description="", title="List organizations")
    first, second = values("list my organizations", own, every)
    assert first > second


def test_a_compound_is_another_thing_and_no_abbreviation():
    first, second = values(
        "list invoices", make_item("listInvoices"), make_item("listInvoiceitems")
    )
    assert first > second
    assert "name covers 'list'" in explained("list invoices", "listInvoiceitems")


@pytest.mark.parametrize(
    ("text", "name"),
    [("list repos", "list_repositories"), ("show the organization", "get_org")],
)
def test_an_abbreviation_is_no_compound(text, name):
    assert "name or title says the same as the question" in explained(text, name)


def test_the_verb_at_the_end_of_a_path_is_its_action():
    cancel = make_item("PostPayoutsPayoutCancel", endpoint="POST /payouts/{payout}/cancel")
    create = make_item("PostPayouts", endpoint="POST /payouts")
    first, second = values("create a payout", create, cancel)
    assert first > second
    first, second = values("cancel a payout", create, cancel)
    assert first < second


def test_one_and_all_choose_between_an_item_about_one_and_an_item_about_many():
    one = make_item("deletePod", endpoint="DELETE /pods/{name}")
    many = make_item("deleteCollectionPod", endpoint="DELETE /pods")
    first, second = values("delete all pods", one, many)
    assert first < second
    first, second = values("delete one single pod", one, many)
    assert first > second


def test_to_create_a_refund_is_to_refund():
    create = make_item("PostRefunds", title="Create a refund", endpoint="POST /refunds")
    cancel = make_item(
        "CancelRefund", title="Cancel a refund", endpoint="POST /refunds/{id}/cancel"
    )
    first, second = values("refund the money", create, cancel)
    assert first > second


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("show the variables of a project", 1),
        ("list app connectors and their status", 1),
        ("which containers are running?", 1),
        ("delete all pods", 1),
        ("show the status of a project", 0),
        ("get the address of a shop", 0),
        ("show gist aa5a315d61ae", -1),
        ("show me one single pod", -1),
        ("delete pod web-1", 0),
        ("", 0),
    ],
)
def test_a_question_is_about_one_thing_or_several(text, number):
    assert ranker.Question(parse(text)).number == number


def test_one_named_thing_is_preferred_to_a_list_of_them():
    first, second = values(
        "show what is in gist aa5a315d61ae", make_item("get_gist"), make_item("list_gists")
    )
    assert first > second


def test_what_a_question_excludes_speaks_against_an_item():
    rows = make_item("list_rows", description="List the rows."), make_item("get_schema")
    question = ranker.Question(parse("give me the schema, not its rows"))
    cards = [ranker.parse_card(card(item)) for item in rows]
    excluded = [
        row[ranker.FEATURES.index("denied")]
        for row in ranker.features(question, cards, [SIGNALS] * 2)
    ]
    assert excluded[0] < 0 == excluded[1]


def test_a_rare_verb_fits_itself():
    first, second = values(
        "defragment the disk", make_item("defragment_disk"), make_item("get_disk")
    )
    assert first > second


def test_a_misspelled_word_counts_as_the_word_it_was_read_as():
    cards = [ranker.parse_card(card(make_item(name))) for name in ("refund_payment", "x")]
    signals = [SIGNALS, SIGNALS]
    readings = {"refnd": ("refund",), "paymnet": ("payment", "payments")}
    read = ranker.rank_values(ranker.Question(parse("refnd a paymnet"), readings), cards, signals)
    right = ranker.rank_values(ranker.Question(parse("refund a payment")), cards, signals)
    assert read == right


def test_every_reading_of_a_word_counts():
    question = ranker.Question(parse("mak"), read_as={"mak": ("make", "mask")})
    cards = [ranker.parse_card(card(make_item(name))) for name in ("make", "mask", "list")]
    rows = ranker.features(question, cards, [SIGNALS] * 3)
    in_name = [row[ranker.FEATURES.index("in_name")] for row in rows]
    assert in_name == [1, 1, 0]


@pytest.mark.parametrize(
    ("text", "hint", "fits"),
    [
        ("show the invoice", "readOnlyHint", True),
        ("delete the invoice", "readOnlyHint", False),
        ("delete the invoice", "destructiveHint", True),
        ("show the invoice", "destructiveHint", False),
    ],
)
def test_the_annotations_of_an_mcp_server_act_like_an_http_method(text, hint, fits):
    item = make_item("invoice", executor={"annotations": {hint: True}})
    (row,) = ranker.features(
        ranker.Question(parse(text)), [ranker.parse_card(card(item))], [SIGNALS]
    )
    assert (row[ranker.FEATURES.index("effect")] > 0) is fits


def explained(text, name, **more):
    item = make_item(name, **{"description": "", **more})
    return ranker_reasons.explain(ranker.Question(parse(text)), ranker.parse_card(card(item)))


def test_an_explanation_names_what_speaks_for_an_item():
    assert explained("create a pull request", "create_pull_request") == (
        "name covers 'create', 'pull', 'request'",
        "name or title says the same as the question",
        "action create fits",
    )


def test_an_explanation_names_what_speaks_against_an_item():
    assert explained("create a pull request", "get_pull_review") == (
        "name covers 'pull'",
        "nothing covers 'create', 'request'",
        "action get does not fit create",
        "2 extra words in the name",
    )


def test_an_explanation_says_that_a_title_is_nearly_the_question():
    found = explained("create a new pull request", "x_1", title="Create a pull request")
    assert "title covers 'create', 'pull', 'request'" in found
    assert "title is nearly the question" in found


def test_an_explanation_says_whose_things_an_item_is_about():
    own = "list_repos_for_authenticated_user"
    assert "is for the caller's own" in explained("list my repos", own)
    assert "is for the caller's own, not asked for" in explained("list repos", own)


def test_an_explanation_says_how_many_things_an_item_is_about():
    assert "is about many" in explained("list all repos", "list_repos")
    one = explained("list all repos", "get_repo", endpoint="GET /repos/{repo}")
    assert "is about one, not about many" in one


@given(text=st.text(max_size=80), name=st.text(min_size=1, max_size=30))
def test_any_question_and_item_can_be_explained(text, name):
    explained(text, name)
