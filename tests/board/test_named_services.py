"""Questions that name a service, on boards with several."""

import time

import pytest

from making import hang, make_item
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.calls import Caller
from pegboard.model.items import Filters
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
    assert found.notices[0] == "nothing of jira fits; searched everything"


def test_explain_says_which_services_were_searched(services):
    found = asked_of(services, "create an issue in Jira", explain=True)
    assert found.explanation.services == ("jira",)
    assert asked_of(services, "create an issue", explain=True).explanation.services == ()


def test_an_item_is_found_by_its_whole_name_in_any_source(services):
    hang(services, EMBEDDER, item("scripts", "jira_export"))
    assert ids(services, "jira export")[0] == "scripts:jira_export"


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
