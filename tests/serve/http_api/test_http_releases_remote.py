"""Releases behind a gateway: the same values, and the same errors, as those of a board here."""

import pytest

from making_releases import Publisher
from pegboard.app.pegboard import Pegboard
from pegboard.config.gateway import GatewayPlace
from pegboard.config.settings import Settings
from pegboard.errors import (
    ItemNotFound,
    NotAllowed,
    NotSignedIn,
    UsageError,
    exit_code,
)
from pegboard.model.items import Visibility
from pegboard.model.releases import Decision
from pegboard.remote.board import RemoteBoard

NAME = "tools:paper:fold"


@pytest.fixture
def publisher(board, tmp_path):
    return Publisher(tmp_path / "published", board.settings.data_folder)


@pytest.fixture
def there(api):
    """The gateway as its owner sees it."""
    with RemoteBoard(GatewayPlace(api.url, "owner"), Settings()) as found:
        yield found.releases


@pytest.fixture
def here(board: Pegboard):
    return board.releases


def test_every_answer_is_the_one_that_the_board_gives(there, here, publisher):
    parcel = publisher.parcel("1.0.0", changelog="Größer.", files={"ink.bin": b"\xff\x00"})
    done = there.publish(parcel, visibility="unlisted", team=True)
    assert (done.state, done.bundle) == ("published", parcel.sha256)
    assert there.publish(parcel) == here.publish(parcel, by="me")
    assert there.publish(publisher.parcel("1.1.0"), dry_run=True).state == "checked"
    other = publisher.parcel("1.0.0", script="echo other\n")
    refused = there.publish(other)
    assert refused == here.publish(other, by="me")
    assert (refused.state, refused.code) == ("refused", "version_exists")
    assert there.shelf(NAME) == here.shelf(NAME)
    assert there.version(NAME, "1.0.0") == here.version(NAME, "1.0.0")
    assert there.version(NAME, "") == here.version(NAME, "1.0.0")
    assert there.version("greet", "") == here.version("greet", "")
    assert there.parcel(NAME, "1.0.0") == here.parcel(NAME, "1.0.0") == parcel
    assert here.shelf(NAME).versions[0].download_count == 2
    assert there.parcel(NAME, "1.0.0", count=False) == parcel
    assert here.shelf(NAME).versions[0].download_count == 2
    assert there.yank(NAME, "1.0.0", yanked=True, reason="It tears.")
    assert not there.yank(NAME, "1.0.0", yanked=True, reason="It tears.")
    assert there.parcel(NAME, "1.0.0").yanked == "It tears."
    assert there.yank(NAME, "1.0.0", yanked=False, reason="")
    decision = Decision(Visibility.PUBLIC, "olga", deprecated=True, replacement="greet")
    assert there.decide(NAME, decision) == here.shelf(NAME)
    assert there.audit(NAME) == here.audit(NAME)
    assert there.audit(limit=2) == here.audit(limit=2)


def both_raise(there, here, work):
    """What both raise, which is the same."""
    found = []
    for each in (there, here):
        with pytest.raises(Exception) as raised:
            work(each)
        found.append(raised.value)
    one, other = found
    assert type(one) is type(other)
    assert one.message == other.message
    assert exit_code(one) == exit_code(other)
    return one


def test_every_error_is_the_one_that_the_board_gives(there, here, publisher):
    parcel = publisher.parcel()
    here.publish(parcel, by="me")
    wrong = [
        (UsageError, lambda board: board.publish(parcel._replace(bundle=b"PK"), by="me")),
        (ItemNotFound, lambda board: board.parcel(NAME, "9.9.9")),
        (ItemNotFound, lambda board: board.version(NAME, "9.9.9")),
        (ItemNotFound, lambda board: board.yank(NAME, "9.9.9", yanked=True, reason="", by="me")),
        (UsageError, lambda board: board.decide("greet", Decision(deprecated=True), "me")),
        (UsageError, lambda board: board.decide(NAME, Decision(owner=""), "me")),
        (ItemNotFound, lambda board: board.shelf("nothing_of_that_name")),
    ]
    for kind, work in wrong:
        assert type(both_raise(there, here, work)) is kind


def test_whoever_may_not_is_told_so(api, publisher):
    for token, kind in {"reader": NotAllowed, "nobody": NotSignedIn}.items():
        with RemoteBoard(GatewayPlace(api.url, token), Settings()) as found:
            with pytest.raises(kind) as raised:
                found.releases.publish(publisher.parcel())
            assert exit_code(raised.value) == 13
