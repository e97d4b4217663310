"""Which combinations of terms can make a score: nothing that could is left out."""

from hypothesis import given
from hypothesis import strategies as st

from pegboard.store.weighing import DEEPEST, MOST_PHRASES, alternatives

weights = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=3), st.floats(0.01, 30))


def has_any(held, found):
    return any(term in held and (not more or has_any(held, more)) for term, more in found)


def phrases(found):
    return sum(1 + phrases(more) for _, more in found)


@given(weights, st.floats(0, 60), st.data())
def test_every_item_that_can_score_more_is_let_in(known, least, data):
    held = data.draw(st.sets(st.sampled_from(sorted(known)))) if known else set()
    if held and sum(known[term] for term in sorted(held)) > least + 1e-9:
        assert has_any(held, alternatives(known, least))


def test_items_that_cannot_are_left_out():
    known = {"rare": 9.0, "seldom": 6.0, "common": 2.0}
    assert alternatives(known, 20.0) == ()
    assert alternatives(known, 16.0) == (("rare", (("seldom", (("common", ()),)),)),)
    found = alternatives(known, 8.5)
    assert has_any({"rare"}, found)
    assert not has_any({"seldom", "common"}, found)


def test_an_expression_of_many_terms_stays_short():
    known = {f"t{number}": 5.0 for number in range(64)}
    assert DEEPEST > 1
    assert 0 < phrases(alternatives(known, 40.0)) <= max(MOST_PHRASES, len(known))
