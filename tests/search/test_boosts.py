import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.search.boosts import DAY, HALF_LIFE_DAYS, MOST, BoostSettings, Traits, boosts, total

relaxed = settings(max_examples=300, deadline=None)
NOW = 20_000 * DAY
PLAIN = Traits(0.0, 0, 0.0, 1.0)
BEST = Traits(NOW, 1_000_000, 1.0, 2.0)
OFF = BoostSettings(0.0, 0.0, 0.0, 0.0)
traits = st.builds(
    Traits,
    updated_at=st.floats(0, 2 * NOW),
    download_count=st.integers(0, 10**9),
    merit=st.floats(-10, 10),
    semantic_weight=st.floats(-100, 100),
)
tunings = st.builds(BoostSettings, *(st.floats(0, MOST) for _ in BoostSettings._fields))


@relaxed
@given(each=traits, tuning=tunings)
def test_together_they_never_add_or_take_more_than_the_most(each, tuning):
    parts = boosts(each, tuning, NOW)
    assert -MOST <= total(parts) <= MOST
    assert all(abs(value) <= getattr(tuning, name) for name, value in parts.items())


@relaxed
@given(each=traits)
def test_switched_off_they_add_nothing(each):
    assert boosts(each, OFF, NOW) == {}
    assert total({}) == 0.0
    assert OFF.off
    assert not BoostSettings().off


@pytest.mark.parametrize("name", BoostSettings._fields)
def test_each_is_switched_on_and_off_by_itself(name):
    alone = boosts(BEST, OFF._replace(**{name: 0.01}), NOW)
    assert alone == {name: pytest.approx(0.01)}
    without = boosts(BEST, BoostSettings()._replace(**{name: 0.0}), NOW)
    assert without.keys() == set(BoostSettings._fields) - {name}


def test_an_item_of_which_nothing_is_known_gains_nothing():
    assert boosts(PLAIN, BoostSettings(), NOW) == {}


def test_what_was_changed_lately_gains_more_and_half_as_much_after_its_half_life():
    def gained(days):
        return boosts(PLAIN._replace(updated_at=NOW - days * DAY), BoostSettings(), NOW)["recency"]

    assert gained(0) > gained(1) > gained(30)
    assert gained(HALF_LIFE_DAYS) == pytest.approx(gained(0) / 2)
    assert gained(-5) == gained(0)


def test_in_the_course_of_one_day_nothing_changes():
    morning, evening = (PLAIN._replace(updated_at=NOW - DAY + hour * 3600) for hour in (1, 23))
    first = boosts(morning, BoostSettings(), NOW)
    assert first == boosts(evening, BoostSettings(), NOW)
    assert first == boosts(morning, BoostSettings(), NOW + 23 * 3600)


def test_what_has_proved_itself_gains_and_what_fails_loses():
    def gained(merit):
        return boosts(PLAIN._replace(merit=merit), BoostSettings(), NOW).get("quality", 0.0)

    assert gained(1.0) == -gained(-1.0) == BoostSettings().quality
    assert gained(-0.5) < gained(0.0) == 0.0 < gained(0.5)


def test_more_use_gains_more_up_to_a_point():
    gained = [
        boosts(PLAIN._replace(download_count=count), BoostSettings(), NOW).get("usage", 0.0)
        for count in (0, 1, 10, 100, 1_000, 10**9)
    ]
    assert gained == sorted(gained)
    assert gained[-1] == gained[-2] == BoostSettings().usage


def test_a_weight_below_one_takes_away_and_above_one_gives():
    def gained(weight):
        parts = boosts(PLAIN._replace(semantic_weight=weight), BoostSettings(), NOW)
        return parts.get("semantic_weight", 0.0)

    assert gained(0.0) < gained(0.5) < gained(1.0) == 0.0 < gained(1.5) < gained(2.0) == gained(99)
