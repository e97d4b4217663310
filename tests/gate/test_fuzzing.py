import pytest
from fuzzing import GOOD, run


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_written_an_item_or_a_rejection_comes_out(seed, share):
    tally = run(int(200 + 800 * share), seed)
    assert tally.items.keys() == {form.value for form in GOOD}
    assert len(tally.rejections) > 10
