"""Services that a question names, and words that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.items import Filters, SourceCounts
from pegboard.search.query import parse
from pegboard.search.services import scope

BOARD = SourceCounts(
    (source, "public", 9)
    for source in (
        *("github", "gitlab-mcp-server", "Jira", "slack", "box", "linear", "time", "memory"),
        *("google-calendar", "monday", "filesystem", "api.trello.com", "demo", "tools", "42"),
        *("kanban-mcp", "notion", "python", "english", "users"),
    )
)


EVERYTHING = Filters()


def named(text, names=BOARD, filters=EVERYTHING):
    return scope(parse(text), names, filters).services


@pytest.mark.parametrize(
    ("question", "source", "left"),
    [
        ("create an issue in Jira", "Jira", "create an issue"),
        ("create a jira ticket", "Jira", "create a ticket"),
        ("post the report to slack", "slack", "post the report"),
        ("show my Box files", "box", "show my files"),
        ("list the files in my box account", "box", "list the files"),
        ("close the issue in Linear, then tell me", "linear", "close the issue , then tell me"),
        ("GitHub: open a pull request", "github", "open a pull request"),
        ("open a pull request on GitLab", "gitlab-mcp-server", "open a pull request"),
        ("add an event to Google Calendar", "google-calendar", "add an event"),
        ("move a card on trello", "api.trello.com", "move a card"),
        ("read a file from the Filesystem", "filesystem", "read a file"),
        ("read a file from the filesystem server", "filesystem", "read a file"),
        ("find the page on notion", "notion", "find the page"),
        ("find it in jira", "Jira", "find it"),
        ("star the repository on github", "github", "star the repository"),
        ("sign in with github", "github", "sign in"),
        ("add the event to my google calendar", "google-calendar", "add the event"),
        ("Slack: post the report", "slack", "post the report"),
        ("move the card in kanban", "kanban-mcp", "move the card"),
        ("move a Kanban card", "kanban-mcp", "move a card"),
        ("kanban: move the card", "kanban-mcp", "move the card"),
        ("store the files in a box account", "box", "store the files"),
        ("In Linear create an issue", "linear", "create an issue"),
        ("在GitHub上创建一个议题", "github", "在 上创建一个议题"),
        ("erstelle ein Ticket in Jira", "Jira", "erstelle ein Ticket"),
        ("list the repositories, using GitHub's API", "github", "list the repositories"),
    ],
)
def test_a_named_service_is_searched_alone_and_its_name_left_out(question, source, left):
    found = scope(parse(question), BOARD, Filters())
    assert found.services == (source,) == found.filters.sources
    assert found.query.plain == left
    assert found.query.text == question


@pytest.mark.parametrize(
    "question",
    [
        "fit a linear regression",
        "pack the box before noon",
        "find box office results in box offices",
        "what time is it in Tokyo",
        "how much memory is free",
        "list events on Monday",
        "Monday: list events",
        "show the tools of the demo",
        "Box the results",
        "FIND THE BOX FILES",
        "Time Zone Of A City",
        "answer 42",
        "put the books in a box",
        "put the books in the box",
        "sort files by time",
        "load it into memory",
        "keep it in memory",
        "fill the form with memory",
        "read a file from the filesystem",
        "move a kanban card",
        "translate it to english",
        "run the script in python",
        "send a mail to users",
        "",
    ],
)
def test_an_ambiguous_word_stays_a_word(question):
    found = scope(parse(question), BOARD, Filters())
    assert found.services == ()
    assert found.filters == Filters()
    assert found.query == parse(question)


def test_with_two_services_both_are_searched_and_the_question_is_kept():
    found = scope(parse("copy the file from GitHub to Box"), BOARD, Filters())
    assert found.services == ("box", "github")
    assert found.query.plain == "copy the file from GitHub to Box"


@pytest.mark.parametrize(
    "question",
    ["copy the file from GitHub to Box", "copy the file to GitHub", "post to slack", "sort it"],
)
@pytest.mark.parametrize("left", [("github",), ("linear",), ("box", "github")])
def test_a_filter_changes_the_sources_and_never_the_text(question, left):
    whole = scope(parse(question), BOARD, EVERYTHING)
    found = scope(parse(question), BOARD, Filters(sources=left))
    assert found.query == whole.query
    assert found.services == tuple(each for each in whole.services if each in left)
    assert found.filters.sources == (found.services or left)


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        ("In GitHub, create a branch", ("github",)),
        ("In GitHub create a branch", ("github",)),
        ("GitHub: create a branch", ("github",)),
        ("Using my Linear account, create an issue", ("linear",)),
        ("create a branch in GitHub", ()),
        ("From GitHub, copy the file", ()),
        ("Slack the team", ()),
        ("Jira tickets should be closed", ()),
    ],
)
def test_a_question_can_open_with_a_service(question, opening):
    assert scope(parse(question), BOARD, EVERYTHING).opening == opening


def test_inherited_services_hold_if_none_is_named_and_as_far_as_the_filters_leave_them():
    def services(question, filters=EVERYTHING):
        found = scope(parse(question), BOARD, filters, ("github",))
        assert found.filters.sources == (found.services or filters.sources)
        return found.services

    assert services("open a pull request") == ("github",)
    assert services("post to slack") == ("slack",)
    assert services("open a pull request", Filters(sources=("box",))) == ()
    assert services("post to slack", Filters(sources=("box",))) == ()


def test_a_question_of_nothing_but_a_service_keeps_its_words():
    found = scope(parse("github"), BOARD, Filters())
    assert found.services == ("github",)
    assert found.query == parse("github")


def test_two_sources_of_one_service_are_both_searched():
    both = SourceCounts((name, "public", 9) for name in ("github", "github-mcp", "other"))
    assert named("open an issue on github", both) == ("github", "github-mcp")


def test_only_sources_that_the_filters_leave_are_services():
    board = SourceCounts([("github", "public", 9), ("github", "team", 9), ("slack", "team", 9)])
    assert named("post to slack", board, Filters(namespaces=("public",))) == ()
    assert named("post to slack", board, Filters(namespaces=("team",))) == ("slack",)
    assert named("post to slack", board, Filters(sources=("github",))) == ()
    assert named("post to slack", board, Filters(sources=("github", "slack"))) == ("slack",)


@given(st.text(max_size=80), st.lists(st.text(max_size=12), max_size=4))
def test_any_text_and_any_names_give_a_scope(text, sources):
    names = SourceCounts((source, "public", 1) for source in sources)
    found = scope(parse(text), names, Filters())
    assert set(found.services) <= set(sources)
    assert found.query.text == parse(text).text
