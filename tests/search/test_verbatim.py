"""Whether a question repeats the words of an item."""

import pytest

from making import make_item
from pegboard.search.verbatim import is_verbatim

ITEM = make_item(
    "list_pages",
    description="List the pages of a wiki, newest first.",
    input_schema={
        "type": "object",
        "properties": {
            "cursor": {"type": "string", "description": "Opaque token, of the `previous` page."},
            "sort": {"type": "string", "description": "Order"},
            "filter": {"type": "string", "description": "按 名称 过滤结果"},
        },
    },
)


@pytest.mark.parametrize(
    "text",
    [
        "Opaque token, of the `previous` page.",
        "opaque TOKEN of the previous",
        "pages of a wiki",
        "order",
        "过滤结果",
    ],
)
def test_words_in_their_order_are_found(text):
    assert is_verbatim(text, ITEM)


@pytest.mark.parametrize(
    "text", ["token of the page", "paque token", "token", "wiki", "previous page of", "", "?!"]
)
def test_other_words_parts_of_words_and_a_single_word_are_not(text):
    assert not is_verbatim(text, ITEM)
