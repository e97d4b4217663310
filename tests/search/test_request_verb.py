"""The verb of a request, however it is put."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.search.request_verb import requested_verb


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("create a board", "create"),
        ("could you please list my boards", "list"),
        ("I'd like to rename the column", "rename"),
        ("how do I export the invoices?", "export"),
        ("Deleting a webhook", "delete"),
        ("on the roadmap board, archive the first card", "archive"),
        ("the build is broken, so roll the release back", "roll"),
        ("make it private", "update"),
        ("make a private gist", "make"),
        ("a new webhook", "create"),
        ("new branch hotfix-2 off main", "create"),
        ("let's merge it", "merge"),
        ("the ticket is settled,\nclose it", "close"),
        ("," * 1998 + "x", ""),
        ("comment on the issue", "comment"),
        ("", ""),
        ("the weather", ""),
        ("默认", ""),
    ],
)
def test_a_request_is_an_imperative_with_or_without_polite_words(text, verb):
    assert requested_verb(text).verb == verb


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("get rid of a webhook", "remove"),
        ("please look up an invoice", "lookup"),
        ("turn off the light", "disable"),
        ("take this old label off the card", "remove"),
        ("take back my vote", "remove"),
        ("put a label on the card", "add"),
        ("bring the archived channel back", "restore"),
        ("turn the light on", "enable"),
        ("turn the page on the screen", "turn"),
        ("take a picture", "take"),
        ("give me the schema", "get"),
        ("give Ana the key", "give"),
        ("kick off the cleanup", "start"),
    ],
)
def test_a_verb_and_its_particle_have_one_meaning(text, verb):
    assert requested_verb(text).verb == verb


@pytest.mark.parametrize(
    "text",
    [
        "which teams has she joined?",
        "what changed since Monday",
        "who starred the repository",
        "how many pods are running?",
        "is pull request 44 merged",
        "does the team exist?",
        "open pull requests?",
        "tell me who reviewed it",
        "I want to know which boards I have",
    ],
)
def test_a_question_asks_for_information_whatever_it_says_happened(text):
    assert requested_verb(text).verb == "get"


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("the staging key leaked, it has to go", "remove"),
        ("Tom needs to be removed from the group", "remove"),
        ("this card needs archiving", "archive"),
        ("legacy-shop should be archived", "archive"),
        ("my review is still pending, send it", "send"),
        ("the review I started and never sent", ""),
        ("everything that happened to the order, including the edits", ""),
        ("pull 91 must not merge itself", ""),
    ],
)
def test_a_statement_asks_for_what_has_to_happen_and_not_for_what_happened(text, verb):
    assert requested_verb(text).verb == verb


def test_the_words_of_the_verb_and_those_behind_it_are_told():
    assert requested_verb("please get rid of the old hooks").used == ("get", "rid")
    assert requested_verb("which containers are running?").behind == (
        *("which", "containers", "are", "running"),
    )
    assert requested_verb("list the rows of a table").behind == ("the", "rows", "of", "a", "table")


@given(st.text(max_size=300))
def test_any_text_has_a_verb_or_none(text):
    found = requested_verb(text)
    assert found.verb == found.verb.lower()
