"""How a model was calibrated is stored with the model, on both kinds of board."""

import pytest

from making import OTHER_MODEL
from pegboard.errors import NotAllowed
from pegboard.model.calls import Caller, Role
from pegboard.model.items import Calibration, Fingerprint, Model, ModelSpec

OWN = Model(Fingerprint("test", "hashed-ngrams", 256, 4), ModelSpec("test"))
OTHER = Model(OTHER_MODEL, ModelSpec("test", "another", 2))
FOUND = Calibration(slope=3.25, offset=-2.125, items=417, questions=240, at=1234.5)


@pytest.fixture
def chosen(store):
    store.models.want(OWN, chosen=False)
    return store


def test_a_model_is_not_calibrated_at_first(chosen):
    assert chosen.models.state().calibration is None
    assert [each.calibration for each in chosen.models.kept()] == [None]


def test_a_calibration_comes_back_as_it_was_stored(chosen):
    chosen.models.calibrate(OWN.fingerprint, FOUND)
    assert chosen.models.state().calibration == FOUND
    assert [each.calibration for each in chosen.models.kept()] == [FOUND]


def test_a_later_calibration_takes_the_place_of_an_earlier_one(chosen):
    chosen.models.calibrate(OWN.fingerprint, FOUND._replace(slope=1.0))
    chosen.models.calibrate(OWN.fingerprint, FOUND)
    assert chosen.models.state().calibration == FOUND


def test_each_model_has_its_own(chosen):
    chosen.models.calibrate(OWN.fingerprint, FOUND)
    chosen.models.want(OTHER, chosen=True)  # active at once: the first one has no vector
    assert chosen.models.state().calibration is None
    chosen.models.want(OWN, chosen=True)
    assert chosen.models.state().calibration == FOUND


def test_what_cannot_be_read_counts_as_not_calibrated(chosen):
    chosen.models.calibrate(OWN.fingerprint, FOUND._replace(items="many"))
    assert chosen.models.state().calibration is None


def test_only_who_administers_the_whole_board_calibrates(chosen):
    view = chosen.seen_by(Caller("ada", ("team",), Role.ADMIN))
    with pytest.raises(NotAllowed):
        view.models.calibrate(OWN.fingerprint, FOUND)
    assert chosen.models.state().calibration is None
