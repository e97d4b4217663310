"""A service on a board: added, found, called with a secret, and nothing of it kept."""

import json

import pytest
from api_service import operation

from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import Outcome
from pegboard.model.runs import Run

KEY = "k3y-that-nobody-sees"


@pytest.fixture
def board(tmp_path, monkeypatch, service):
    """With a service that wants a key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("SHOP_LOGIN", KEY)
    limit = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
    written = {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": service.url}],
        "security": [{"login": []}],
        "paths": {
            "/echo": {
                "get": operation("list_orders", summary="List orders", parameters=[limit]),
                "delete": operation("drop_orders", summary="Drop all orders"),
            }
        },
        "components": {
            "securitySchemes": {"login": {"type": "apiKey", "in": "header", "name": "X-Key"}}
        },
    }
    (tmp_path / "shop.json").write_text(json.dumps(written))

    def opened(**flags):
        return Pegboard.open(str(tmp_path / "board.db"), create=True, **flags)

    with opened() as made:
        made.add_source("openapi", "shop.json", name="shop")
        made.sync()
    return opened


def test_a_service_is_found_and_called_with_its_secret(board, service, tmp_path):
    with board(run__loopback="on") as here:
        [hit] = here.search("list orders", mode="bm25", threshold=0, limit=1).hits
        result = here.call(hit.id, {"limit": 3})
        assert result.outcome is Outcome.OK, result.error
        assert result.structured["query"] == "limit=3"
        [asked] = service.asked
        assert asked.header("x-key") == KEY
        assert KEY not in repr(result)
        assert result.meta["http"]["status"] == 200
        [run] = here.store.runs.recent()
        assert isinstance(run, Run)
        assert (run.id, run.outcome) == (hit.id, Outcome.OK)
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("board.db*"))
    assert KEY.encode() not in kept


def test_this_machine_is_out_of_reach_unless_a_person_says_otherwise(board, service):
    with board() as here:
        denied = here.call("list_orders", {})
        assert denied.outcome is Outcome.DENIED
        assert "run.loopback" in denied.error
    assert service.asked == []


def test_what_deletes_is_asked_about_first(board, service):
    with board(run__loopback="on") as here:
        assert here.call("drop_orders", {}).outcome is Outcome.DENIED
        assert service.asked == []
        assert here.call("drop_orders", {}, approve=lambda question: True).outcome is Outcome.OK
    assert [asked.method for asked in service.asked] == ["DELETE"]


def test_a_missing_secret_is_named(board, service, monkeypatch):
    monkeypatch.delenv("SHOP_LOGIN")
    with board(run__loopback="on") as here:
        ended = here.call("list_orders", {})
    assert ended.outcome is Outcome.UNAVAILABLE
    assert "SHOP_LOGIN" in ended.error
