"""A list page by page: what filters leave, in the order of ids and namespaces."""

import pytest

from making import entry_of, make_item, retire
from pegboard.board.describe.listing import listed
from pegboard.model.items import Filters, Kind, ToolType, Visibility
from pegboard.store.sqlite.index import SQL

ITEMS = [
    make_item("a", category="x", tags=("red",), tool_type=ToolType.PYTHON),
    make_item("b", category="x", namespace="team", author="mia"),
    make_item("b", category="x", tags=("red", "blue")),
    make_item("c", category="y", kind=Kind.SKILL),
    make_item("d", category="y", visibility=Visibility.PRIVATE, author="mia"),
    make_item("é", category="z"),
    make_item("金", category="z"),
]


@pytest.fixture
def filled(store):
    store.items.put(ITEMS, None)
    return store


def names(found):
    return [(each.item.namespace, each.item.name) for each in found]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(categories=("x",)), [("public", "a"), ("public", "b"), ("team", "b")]),
        (Filters(namespaces=("team",)), [("team", "b")]),
        (Filters(tags=("blue",)), [("public", "b")]),
        (Filters(kinds=("skill",)), [("public", "c")]),
        (Filters(tool_types=("python",)), [("public", "a")]),
        (Filters(authors=("mia",)), [("team", "b")]),
        (Filters(categories=("x",), tags=("red",), namespaces=("team",)), []),
        (Filters(active=False), []),
        (Filters(tags=("\0", "\ud800")), []),
    ],
)
def test_a_list_has_what_a_search_with_the_same_filters_could_find(filled, filters, expected):
    assert names(listed(filled, filters, None, limit=10)) == expected


def test_pages_of_any_size_are_the_whole_list_in_one_order(filled):
    whole = names(listed(filled, Filters(), None, limit=100))
    assert whole == [
        *[("public", "a"), ("public", "b"), ("team", "b"), ("public", "c")],
        *[("public", "é"), ("public", "金")],
    ]
    for size in (1, 2, 5):
        seen, after = [], ("", "")
        while page := listed(filled, Filters(), None, after=after, limit=size):
            seen += names(page)
            after = (page[-1].item.id, page[-1].item.namespace)
        assert seen == whole


def test_what_is_inactive_is_listed_when_it_is_asked_for(filled):
    retire(filled, *ITEMS[1:])
    assert names(listed(filled, Filters(active=False), None, limit=10)) == [("public", "a")]
    assert len(listed(filled, Filters(active=None), None, limit=10)) == 6
    assert not entry_of(filled, ITEMS[0]).active


def test_bounds_hold_whatever_is_asked_for(filled):
    bounds = Filters(namespaces=("team",))
    for asked in (Filters(), Filters(namespaces=("public",)), Filters(namespaces=("team",))):
        found = names(listed(filled, asked, bounds, limit=10))
        assert set(found) <= {("team", "b")}


@pytest.mark.parametrize("after", [("\0", "\0"), ("mcptools:x:b\0", ""), ("\U0010ffff", "")])
def test_a_page_can_begin_anywhere(filled, after):
    listed(filled, Filters(), None, after=after, limit=10)


def test_a_page_is_read_in_the_order_of_an_index(sqlite_store):
    sqlite_store.items.put(ITEMS, None)
    filters = sqlite_store.index._params(Filters(tags=("red",)))
    params = filters | {"id": "", "namespace": "", "limit": 5}
    plan = sqlite_store.database.rows("EXPLAIN QUERY PLAN " + SQL["listed"], params)
    told = [row[3] for row in plan]
    assert told[0] == "SEARCH i USING INDEX items_id (id>?)"
    assert [each for each in told if "TEMP" in each] == [
        "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"
    ]
