"""Questions that name a service, on boards with several."""

import time

import pytest

from making import hang, make_item
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.board.find.requests import find_requests
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.calls import Caller
from pegboard.model.items import Filters, Mode
from pegboard.store.sqlite import index

EMBEDDER = HashedEmbedder()


def item(source, name, **values):
    described = name.replace("_", " ").capitalize() + "."
    return make_item(
        name, id=f"{source}:{name}", source=source, category="", description=described, **values
    )


@pytest.fixture
def services(store):
    for source in ("github", "gitlab", "jira"):
        names = ("create_issue", "list_issues", "close_issue")
        hang(store, EMBEDDER, *(item(source, name) for name in names))
    hang(store, EMBEDDER, item("github", "merge_pull_request"))
    return store


def ids(store, text, **asked):
    return [hit.id for hit in asked_of(store, text, **asked).hits]


def asked_of(store, text, **asked):
    return find(store, EMBEDDER, Ask(text, **asked), FindSettings())


@pytest.mark.parametrize("source", ["github", "gitlab", "jira"])
def test_the_named_service_is_searched_alone(services, source):
    found = ids(services, f"create an issue in {source}")
    assert found[0] == f"{source}:create_issue"
    assert {each.partition(":")[0] for each in found} == {source}


def test_if_nothing_of_the_service_fits_everything_is_searched(services):
    found = asked_of(services, "merge the pull request in Jira")
    assert found.hits[0].id == "github:merge_pull_request"
    assert found.notices[0] == "no item of jira fits; searched all sources"


def test_if_all_sources_were_searched_explain_names_no_service(services):
    found = asked_of(services, "merge the pull request in Jira", explain=True)
    assert found.notices[0] == "no item of jira fits; searched all sources"
    assert found.explanation.services == ()


def test_explain_says_which_services_were_searched(services):
    found = asked_of(services, "create an issue in Jira", explain=True)
    assert found.explanation.services == ("jira",)
    assert asked_of(services, "create an issue", explain=True).explanation.services == ()


def test_an_item_is_found_by_its_whole_name_in_any_source(services):
    hang(services, EMBEDDER, item("scripts", "jira_export"))
    assert ids(services, "jira export")[0] == "scripts:jira_export"


def sources_of(answer):
    """The sources of the hits of each request."""
    return [{hit.source for hit in each.answer.hits} for each in answer.requests]


def split(store, text, **asked):
    ask = Ask(text, limit=9, mode=Mode.BM25, **asked)
    return find_requests(store, EMBEDDER, ask, FindSettings())


@pytest.mark.parametrize(
    "text",
    [
        "In GitHub, create an issue, then close the issue",
        "On github, list the issues, then close the issue",
        "In GitHub:\n1. create an issue\n2. close the issue",
        "GitHub:\n- create an issue\n- close the issue",
    ],
)
def test_a_service_that_the_question_opens_with_holds_for_every_request(services, text):
    assert sources_of(split(services, text)) == [{"github"}, {"github"}]


def test_a_request_that_names_a_service_itself_is_asked_there(services):
    text = "In GitHub, create an issue, then close the issue in Jira, then list the issues"
    assert sources_of(split(services, text)) == [{"github"}, {"jira"}, {"github"}]


def test_a_service_that_stands_elsewhere_holds_for_its_request_only(services):
    found = sources_of(split(services, "create an issue in GitHub, then close the issue"))
    assert found == [{"github"}, {"github", "gitlab", "jira"}]


def test_if_nothing_of_an_earlier_service_fits_everything_is_searched(services):
    found = split(services, "In Jira, create an issue, then merge the pull request")
    assert sources_of(found) == [{"jira"}, {"github"}]
    assert found.requests[1].answer.notices[0] == "no item of jira fits; searched all sources"


def test_filters_hold_for_an_earlier_service_too(services):
    text = "In GitHub, create an issue, then close the issue"
    found = split(services, text, filters=Filters(sources=("jira",)))
    assert sources_of(found) == [{"jira"}, {"jira"}]


@pytest.mark.parametrize("left", [("github",), ("github", "jira"), ("gitlab",)])
def test_a_filter_keeps_the_order_where_two_services_are_named(services, left):
    asked = "close the issue in GitHub and create it in GitLab"
    whole = asked_of(services, asked, mode=Mode.BM25, threshold=0.0, limit=30)
    kept = ids(
        services, asked, mode=Mode.BM25, threshold=0.0, limit=30, filters=Filters(sources=left)
    )
    wanted = [hit.id for hit in whole.hits if hit.source in left]
    assert kept and kept == wanted


def test_a_filter_keeps_the_order_of_a_named_service(services):
    asked = "close or create an issue in github"
    whole = ids(services, asked, threshold=0.0)
    kept = ids(services, asked, threshold=0.0, filters=Filters(sources=("github", "jira")))
    assert kept == whole


def test_source_counts_follow_the_board(services, monkeypatch):
    monkeypatch.setattr(index, "COUNTS_SECONDS", 0.0)
    assert set(services.index.source_counts().items) == {"github", "gitlab", "jira"}
    hang(services, EMBEDDER, item("slack", "post_message"))
    until = time.monotonic() + 10
    while "slack" not in services.index.source_counts().items:
        assert time.monotonic() < until


def test_a_service_that_the_caller_cannot_see_is_a_word_like_others(services):
    hang(services, EMBEDDER, item("zulip", "post_message", namespace="team"))
    outside = services.seen_by(Caller("eve", namespaces=("elsewhere",)))
    inside = services.seen_by(Caller("ann", namespaces=("team",)))
    assert "zulip" not in outside.index.source_counts().items
    assert inside.index.source_counts().items["zulip"] == {"team": 1}
    assert ids(inside, "post a message on zulip") == ["zulip:post_message"]
    assert "zulip:post_message" not in ids(outside, "post a message on zulip")
