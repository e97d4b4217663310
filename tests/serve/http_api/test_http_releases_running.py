"""What is published and runs at a gateway: signed by its version, and given nothing of others."""

import time
from dataclasses import replace

import pytest
from http_parts import CALLERS, encoded, published

from making_releases import Publisher
from pegboard.gate.side_files import moment

ID = "tools:paper:fold"
BILLING = "permissions: [read secret BILLING_KEY]"


@pytest.fixture
def publisher(board, tmp_path):
    return Publisher(tmp_path / "published", board.settings.data_folder)


def call(api, name=ID, who="author"):
    body = {"arguments": {"sheet": "letter"}}
    return api.ask("POST", f"/tools/{encoded(name)}/call", body, who=who)


@pytest.fixture
def strict(board, monkeypatch):
    """Where nobody runs what is not signed."""
    monkeypatch.setenv("PEGBOARD_RUN_UNSIGNED_USER", "deny")
    run = replace(board.settings.run, unsigned_user="deny", unsigned_project="deny")
    monkeypatch.setattr(board, "settings", replace(board.settings, run=run))


def test_a_version_runs_by_its_own_signature(strict, api, publisher):
    published(api, publisher.parcel("1.0.0", script="echo first\n"))
    published(api, publisher.parcel("1.1.0", script="echo second\n"))
    assert call(api, "greet").status == 403, "nobody signed it"
    assert call(api).json["text"] == "second\n"
    assert call(api, f"{ID}@1.0.0").json["text"] == "first\n"
    publisher.keyring.revoke("paper", "it was lost", moment(time.time()))
    for name in (ID, f"{ID}@1.0.0"):
        assert (call(api, name).status, call(api, name).code) == (403, "denied")


def test_what_was_taken_back_runs_by_its_number_with_a_note(api, publisher):
    for number in ("1.0.0", "1.1.0"):
        published(api, publisher.parcel(number, script=f"echo {number}\n"))
    place = f"/items/{encoded(ID)}/versions/1.1.0/yank"
    api.ask("POST", place, {"reason": "It tears the sheet."}, who="author")
    assert call(api).json["text"] == "1.0.0\n"
    found = call(api, f"{ID}@1.1.0").json
    assert (found["outcome"], found["text"]) == ("ok", "1.1.0\n")
    assert "note: version 1.1.0 was taken back: It tears the sheet." in found["logs"]
    assert "taken back" not in call(api, f"{ID}@1.0.0").json["logs"]


@pytest.mark.parametrize(
    "wish",
    [
        *("read secret BILLING_KEY", "read environment BILLING_KEY"),
        *("read filesystem /etc/**", "read filesystem ~/.netrc"),
    ],
)
def test_who_signed_a_tool_does_not_give_it_what_is_the_gateways(api, publisher, wish, monkeypatch):
    monkeypatch.setenv("BILLING_KEY", "sesame")
    more = f"permissions: [{wish}]"
    assert published(api, publisher.parcel("1.0.0", more=more)).status == 201
    for who in ("author", "reader", "admin"):
        found = call(api, who=who)
        assert (found.status, found.code) == (403, "denied"), who
        assert wish.split()[2] in found.json["detail"]
        assert "pull it" in found.json["hint"]
    assert call(api, f"{ID}@1.0.0").status == 403
    assert call(api, who="owner").json["outcome"] == "ok", "its owner runs what he likes"


@pytest.mark.parametrize("access", ["read", "write"])
def test_without_a_project_no_file_is_one_of_it(api, publisher, access):
    """Else it would be the folder in which the gateway was started, such as somebody's home."""
    more = f"permissions: ['{access} filesystem **', connect network *]"
    published(api, publisher.parcel("1.0.0", more=more))
    for who in ("reader", "author", "admin"):
        found = call(api, who=who)
        assert (found.status, found.code) == (403, "denied"), who


def test_what_a_signed_tool_wishes_is_asked_about_where_many_call(api, publisher):
    published(api, publisher.parcel("1.0.0", more="permissions: [connect network *]"))
    asked = call(api)
    assert (asked.status, asked.code) == (409, "approval_needed")
    assert "it wants the network" in asked.json["question"]
    assert call(api, who="reader").status == 409


def test_what_is_meant_for_authors_a_published_tool_has_too(board, publisher, monkeypatch, request):
    monkeypatch.setenv("BILLING_KEY", "sesame")
    serve = replace(board.settings.serve, author_secrets="BILLING_KEY")
    monkeypatch.setattr(board, "settings", replace(board.settings, serve=serve))
    api = request.getfixturevalue("api")
    parcel = publisher.parcel("1.0.0", more=BILLING, script="echo ${#BILLING_KEY}\n")
    published(api, parcel)
    asked = call(api)
    assert (asked.status, asked.code) == (409, "approval_needed")
    body = {"arguments": {"sheet": "letter"}, "approve": asked.json["mark"]}
    for who, status in (("reader", 403), ("author", 200)):
        found = api.ask("POST", f"/tools/{encoded(ID)}/call", body, who=who)
        assert found.status == status
    assert found.json["text"] == "6\n"
    assert not CALLERS["author"].everywhere
