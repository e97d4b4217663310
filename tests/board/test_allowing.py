"""What a person has allowed projects to start, kept in one file."""

import threading

import pytest

from pegboard.board.trust.allowing import Files, Trust
from pegboard.model.calls import OnChange, ServerConfig, Transport
from pegboard.model.items import ModelSpec
from pegboard.store.opening import open_store

SERVERS = [ServerConfig(f"server{number}", Transport.STDIO) for number in range(8)]


@pytest.fixture
def trust(tmp_path):
    files = Files((), "mine.toml", tmp_path / "own" / "allowed.json")
    store = open_store(tmp_path / "board.db", create=True)
    yield Trust(store, OnChange.HOLD, files, list)
    store.close()


def test_what_was_allowed_stays_when_more_is(trust):
    service = ModelSpec("openai-compatible", "small", base_url="http://127.0.0.1:1/v1")
    assert not trust.is_allowed(SERVERS[0])
    assert not trust.allows_service(service)
    trust.allow(SERVERS[:1])
    trust.allow_service(service)
    assert trust.is_allowed(SERVERS[0])
    assert trust.allows_service(service)
    assert not trust.is_allowed(SERVERS[0]._replace(command="another"))


def test_those_who_allow_at_the_same_time_lose_nothing_of_one_another(trust):
    together = threading.Barrier(len(SERVERS))
    failed = []

    def allow(server):
        together.wait(30)
        try:
            trust.allow([server])
        except Exception as error:  # noqa: BLE001 (told below)
            failed.append(error)

    threads = [threading.Thread(target=allow, args=(each,)) for each in SERVERS]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert failed == []
    assert [each.name for each in SERVERS if not trust.is_allowed(each)] == []
