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


@given(st.text(max_size=400))
def test_any_text_gives_between_one_and_the_most_requests(text):
    found = split_requests(text)
    assert 1 <= len(found) <= MAX_REQUESTS
    if len(found) > 1:
        assert all(found)
