"""What a user is shown, to whom hits below the threshold are not."""

from pegboard.board.measure.evaluating import EvalQuery, shown
from pegboard.model.answers import Hit
from pegboard.model.items import ItemId, Kind


def query(*gold, **alt):
    return EvalQuery("q", "text", gold, {key: tuple(values) for key, values in alt.items()})


def hit(item_id, fit):
    texts = dict.fromkeys(("namespace", "name", "category", "source", "description"), "")
    return Hit(
        id=ItemId(item_id),
        kind=Kind.TOOL,
        **texts,
        score=fit / 2,
        fit=fit,
        match_type="both",
        breakdown={},
        reason="",
    )


def test_an_equivalent_tool_answers_right_too():
    found = shown(query("a", a=["b"]), [hit("eval:b", 0.5), hit("eval:a", 0.4)], 0.5)
    assert found == {"answered": 1, "answered_right": 1}


def test_the_first_hit_is_the_answer_if_any_fits():
    hits = [hit("eval:a", 0.2), hit("eval:b", 0.6)]
    assert shown(query("a"), hits, 0.3) == {"answered": 1, "answered_right": 1}
    assert shown(query("b"), hits, 0.3) == {"answered": 1, "answered_right": 0}
    assert shown(query("b"), hits, 0.7) == {"answered": 0, "answered_right": 0}
