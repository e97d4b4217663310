"""What search will think of an item that is not on the board yet, on real boards."""

import json

import pytest

from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.board.measure import taking
from pegboard.board.measure.evaluating import EvalQuery
from pegboard.board.measure.foreseeing import Looking, foresee
from pegboard.board.measure.taking import most_like
from pegboard.config.parts import find_settings
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.local import LocalEmbedder
from pegboard.errors import ItemNotFound, ModelUnavailable
from pegboard.formats.plain import plain
from pegboard.model.items import Kind

TOOLS = {
    "refund_payment": "Give a customer their money back, in full or in part.",
    "create_invoice": "Write a bill for a customer, with its positions and taxes.",
    "send_email": "Send an e-mail to one or more recipients.",
    "search_inbox": "Look for mails that contain certain words.",
    "measure_distance": "Calculate how far two places are from one another.",
    "resize_image": "Make a picture smaller or larger, and keep its shape.",
}
QUERIES = (
    EvalQuery("q1", "give the customer their money back", ("mail:refund_payment",)),
    EvalQuery("q2", "write an e-mail to my colleagues", ("mcptools:mail:send_email",)),
    EvalQuery("q3", "how far is it from here to there", ("mail:measure_distance",)),
    EvalQuery("q4", "which mails are about the invoice", ("mail:create_invoice",)),
    EvalQuery("q5", "make the photo smaller", ("nowhere",), {"nowhere": ("mail:resize_image",)}),
)
RIVAL = "Give a customer their money back. Pay back what a customer paid: money back at once."
SAID = {"type": "object", "properties": {"id": {"type": "string", "description": "Which."}}}


@pytest.fixture(scope="module")
def model():
    found = LocalEmbedder()
    yield found
    found.close()


@pytest.fixture
def board(store, model):
    items = [make_item(name, description=text) for name, text in TOOLS.items()]
    settings = Settings(embed=EmbedSettings(provider="local"))
    made = Pegboard(store, settings)
    made.embedder = model
    store.items.put(items, made.target)
    made.backfill()
    return made


def looking(board, **others):
    settings = find_settings(board.settings.search)
    return Looking(board.search, board.show, board.embedder, settings)._replace(**others)


def rival(name="money_back", **fields):
    fields.setdefault("description", RIVAL)
    return make_item(name, source="new", input_schema=SAID, **fields)


def contents(board):
    return list(board.listed(limit=100)), board.store.tasks.waiting(board.target)


def test_a_rival_is_told_what_it_takes_and_from_whom_and_nothing_is_put(board):
    before = contents(board)
    found = foresee(rival(), looking(board), QUERIES)
    assert [(each.query, each.first) for each in found.taken] == [
        ("q1", "mcptools:mail:refund_payment")
    ]
    [taken] = found.taken
    assert taken.own_score > 0.5 > taken.score
    assert taken.text == QUERIES[0].text
    assert [hit.name for hit in found.alike] == ["refund_payment"]
    assert (found.asked, found.queries) == (5, 5)
    assert "public/mcptools:mail:refund_payment may do the same" in found.problems
    assert any(each.startswith("it would answer “give the customer") for each in found.problems)
    assert contents(board) == before


def test_what_was_foreseen_comes_true(board):
    item = rival()
    assert foresee(item, looking(board), QUERIES).taken
    board.store.items.put([item], board.target)
    board.backfill()
    assert [board.search(each.text).hits[0].name for each in QUERIES[:3]] == [
        *("money_back", "send_email", "measure_distance")
    ]


def test_one_that_does_something_else_takes_nothing_and_has_no_problems(board):
    item = rival("water_plants", description="Open the tap of the garden for some minutes.")
    found = foresee(item, looking(board), QUERIES)
    assert (found.alike, found.taken, found.problems) == ((), (), ())
    assert (found.description, found.suggestion, found.notices) == ((), "", ())


def test_another_version_of_an_item_is_no_rival_of_itself(board):
    own = make_item("refund_payment", description=RIVAL, input_schema=SAID)
    found = foresee(own, looking(board), QUERIES)
    assert (found.alike, found.taken) == ((), ())
    elsewhere = own._replace(namespace="team")
    assert [hit.name for hit in foresee(elsewhere, looking(board)).alike] == ["refund_payment"]


def test_what_the_older_version_has_taken_is_not_taken_again(board):
    board.store.items.put([rival()], board.target)
    board.backfill()
    right = (*QUERIES[:1], EvalQuery("q9", RIVAL, ("mail:money_back",)))
    found = foresee(rival(description=f"{RIVAL} Again."), looking(board), right)
    assert found.taken == ()


def test_a_query_that_the_new_item_is_right_for_is_not_taken(board):
    both = EvalQuery("q1", QUERIES[0].text, ("mail:refund_payment", "mail:money_back"))
    assert foresee(rival(), looking(board), [both]).taken == ()


def test_by_words_alone_where_there_is_no_model_or_it_is_gone(board):
    found = foresee(rival(), looking(board, embedder=None), QUERIES)
    assert [each.query for each in found.taken] == ["q1"]

    class Gone(HashedEmbedder):
        def embed(self, texts):
            raise ModelUnavailable("the service is down")

        embed_query = embed

    found = foresee(rival(), looking(board, embedder=Gone()), QUERIES)
    assert [each.query for each in found.taken] == ["q1"]
    [notice] = found.notices
    assert "by words alone: the service is down" in notice


def test_without_an_evaluation_it_says_so(board):
    found = foresee(rival(), looking(board))
    assert (found.taken, found.asked, found.queries) == ((), 0, 0)
    assert found.notices == ("no evaluation was given, so nobody can say whose queries it takes",)


def test_of_many_queries_those_most_like_the_item_are_asked_and_it_says_so(
    board, model, monkeypatch
):
    monkeypatch.setattr(taking, "MOST_ASKED", 20)
    many = [EvalQuery(f"n{n}", f"lake number {n}", ("x",)) for n in range(60)]
    queries = [*many, *QUERIES]
    steps = []
    found = foresee(rival(), looking(board), queries, lambda *step: steps.append(step))
    assert [each.query for each in found.taken] == ["q1"]
    assert found.notices == (
        f"20 of {len(queries)} queries were asked: those that are most like it",
    )
    assert ("asking", 20, 20) in steps
    assert steps[-1][0] == "reading"
    assert most_like(rival(), queries, model)[0].id == "q1"
    assert most_like(rival(), queries, None)[0].id == "q1"


def test_what_is_gone_meanwhile_is_left_out(board):
    def show(name):
        if "refund" not in name:
            raise ItemNotFound(f"there is no item {name!r}")
        return board.show(name)

    found = foresee(rival(), looking(board, show=show), QUERIES)
    assert [each.query for each in found.taken] == ["q1"]


def test_parameters_and_description_are_looked_at_too(board):
    schema = {"type": "object", "properties": {f"p{n}": {} for n in range(8)}, "required": ["p7"]}
    item = rival("fly_kite", description="This tool lets go of a kite.")._replace(
        input_schema=schema
    )
    found = foresee(item, looking(board))
    assert found.undescribed[:2] == ("p7", "p0")
    begins = "it begins with “This tool”, which says nothing; begin with the verb"
    assert found.problems == (
        "parameters without description: p7, p0, p1, p2, p3 and 3 more",
        f"the description: {begins}",
    )


def test_a_forecast_is_json_and_other_kinds_have_one_too(board):
    text = rival(
        "getting_started", kind=Kind.KNOWLEDGE, description="Was man am ersten Tag braucht."
    )
    for item in (rival(), text, rival("名前", description="客にお金を返します。返金です。")):
        found = foresee(item, looking(board), QUERIES)
        again = json.loads(json.dumps(plain(found)))
        assert set(again) == set(found._fields)
    assert foresee(text, looking(board)).alike == ()


def test_hostile_items_have_a_forecast(board):
    deep: dict[str, object] = {}
    for _ in range(300):
        deep = {"type": "object", "properties": {"a": deep, "b": {"$ref": "#"}}}
    for description in ("", "\x00\n" * 50, "x" * 30_000, "“”; ' OR 1=1 --", "\ud800 lone"[1:]):
        item = rival("odd", description=description)._replace(input_schema=deep)
        found = foresee(item, looking(board), QUERIES[:2])
        assert found.undescribed
