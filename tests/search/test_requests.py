"""Splitting a question into its requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.search.requests import MAX_REQUESTS, split_requests


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "List my repositories, then open an issue in the newest, and tell the team.",
            ("List my repositories", "open an issue in the newest", "tell the team."),
        ),
        ("1. list boards\n2. archive a card", ("list boards", "archive a card")),
        ("- find the invoice\n- refund it", ("find the invoice", "refund it")),
        ("Convert the file. Then email it to her.", ("Convert the file.", "email it to her.")),
        (
            "Check the weather in Rome. Also, book a table for two.",
            ("Check the weather in Rome.", "book a table for two."),
        ),
        (
            "refund the payment, then e-mail the customer",
            ("refund the payment", "e-mail the customer"),
        ),
        ("Restart the server; delete the old logs", ("Restart the server", "delete the old logs")),
    ],
)
def test_several_requests_are_split(text, parts):
    assert split_requests(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "create a pull request",
        "Could you tell me the weather in Boston, and also in San Francisco?",
        "Could you fetch the news from Paris, and then the weather in Rome?",
        "resize the picture to 300 by 200 and keep the ratio",
        "I'm in Rome next week. My phone died. What's the weather there?",
        "if the build fails then notify the team",
        'post "Done. Then we can go." to #general',
        "I want to rent a flat near the beach. Can you show me some?",
        "Load an image and return its base64 data along with the mime type",
        "",
        "???",
    ],
)
def test_one_request_stays_whole(text):
    assert split_requests(text) == (text,)


COMMAS = ", " * 300
HOSTILE = {
    "commas": "," * 200_000,
    "imperatives": "open a file, " * 15_000,
    "connecting words": "open a file, then " * 11_000,
    "words before": "open a file" + ", please" * 25_000,
    "open quotes": "“" * 400_000,
    "sentences": "is it? " * 30_000,
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_not_split_in_quadratic_time(hostile):
    """At this length quadratic time exceeds the timeout of the suite."""
    assert split_requests(hostile) == (hostile.strip(),)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"open a page{COMMAS}then close it", ("open a page", "close it")),
        (f"{COMMAS}then open a page, then close it", ("open a page", "close it")),
        (
            f"open a page, then please also kindly close {'the very last one ' * 60}",
            ("open a page", "please also kindly close " + ("the very last one " * 60).strip()),
        ),
        ("say “one “two, then open a page", ("say “one “two", "open a page")),
        ("say “one, then open a page” twice", ("say “one, then open a page” twice",)),
    ],
)
def test_the_beginning_of_a_request_decides(text, parts):
    assert split_requests(text) == parts


@given(st.text(max_size=400))
def test_any_text_gives_between_one_and_the_most_requests(text):
    found = split_requests(text)
    assert 1 <= len(found) <= MAX_REQUESTS
    if len(found) > 1:
        assert all(found)
