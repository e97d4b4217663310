"""Editing an item, of which somebody else may have seen another state."""

import threading

import pytest

GREET = "/tools/tools:paper:greet"


def test_a_description_is_another_at_once_and_goes_back(api):
    found = api.ask("PATCH", GREET, {"description": "Say hello to a colleague."}).json
    assert found["item"]["description"] == "Say hello to a colleague."
    assert (found["manual_override"], found["override_by"]) == (True, "olga")
    assert found["imported_description"] == "Greet somebody by name."
    assert found["item"]["version"]["files"]
    again = api.ask("GET", "/search?query=hello%20colleague&mode=bm25").json
    assert again["hits"][0]["id"] == "tools:paper:greet"
    back = api.ask("PATCH", GREET, {"description": None}).json
    assert (back["item"]["description"], back["manual_override"]) == (
        "Greet somebody by name.",
        False,
    )


def test_several_things_are_decided_at_once(api):
    said = {"description": "Hello.", "tags": ["a", "b"], "active": False, "reason": "an audit"}
    found = api.ask("PATCH", GREET, said).json
    assert (found["item"]["tags"], found["active"]) == (["a", "b"], False)
    assert (found["off_by"], found["off_reason"]) == ("olga", "an audit")
    assert api.ask("GET", GREET).json["active"] is False
    assert "tools:paper:greet" not in api.ask("GET", "/tools").content.decode()
    [off] = api.ask("GET", "/tools?state=inactive").json["items"]
    assert off["id"] == "tools:paper:greet"
    back = api.ask("PATCH", GREET, {"active": True, "tags": None, "description": None}).json
    assert (back["item"]["tags"], back["active"]) == ([], True)
    events = [each["event"] for each in api.ask("GET", f"{GREET}/history").json["history"]]
    assert {"described", "tagged", "deactivated", "activated", "reset"} <= set(events)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({}, "the body says nothing that is to change"),
        ({"description": ""}, "the description is empty"),
        ({"description": "a\u202eb"}, "description"),
        ({"description": "a\0b"}, "description"),
        ({"tags": [""]}, "a tag is empty"),
        ({"tags": ["a"] * 201}, "tags is"),
        ({"tags": "a"}, "tags is"),
        ({"tags": [1]}, "tags.0 is 1"),
        ({"active": 1}, "active is 1"),
        ({"reason": "no reason"}, "reason"),
        ({"embedding": [0.1]}, "there is no 'embedding'"),
        ({"description": "x" * 200_001}, "description is"),
    ],
)
def test_an_edit_that_cannot_be_made_changes_nothing(api, body, complaint):
    before = api.ask("GET", GREET)
    found = api.ask("PATCH", GREET, body)
    assert (found.status, found.code) == (400, "usage_error")
    assert complaint in found.json["detail"]
    assert api.ask("GET", GREET).headers["etag"] == before.headers["etag"]


def test_an_edit_of_what_somebody_else_has_changed_is_refused(api):
    seen = api.ask("GET", GREET).headers["etag"]
    first = api.ask("PATCH", GREET, {"tags": ["first"]}, headers={"If-Match": seen})
    assert (first.status, first.headers["etag"] != seen) == (200, True)
    second = api.ask("PATCH", GREET, {"tags": ["second"]}, headers={"If-Match": seen})
    assert (second.status, second.code) == (412, "changed_meanwhile")
    assert api.ask("GET", GREET).json["item"]["tags"] == ["first"]
    now = f'"x", {first.headers["etag"]}'
    assert api.ask("PATCH", GREET, {"tags": []}, headers={"If-Match": now}).status == 200
    assert api.ask("PATCH", GREET, {"tags": ["any"]}, headers={"If-Match": "*"}).status == 200
    assert api.ask("PATCH", GREET, {"tags": ["bad"]}, headers={"If-Match": "x"}).status == 400
    weak = {"If-Match": f"W/{api.ask('GET', GREET).headers['etag']}"}
    assert api.ask("PATCH", GREET, {"tags": ["weak"]}, headers=weak).status == 412
    assert api.ask("PATCH", "/tools/nothing", {"tags": []}, headers={"If-Match": "*"}).status == 404


def test_of_edits_at_the_same_moment_one_is_made(api):
    seen = {"If-Match": api.ask("GET", GREET).headers["etag"]}
    start, statuses = threading.Barrier(8), []

    def edit(number):
        start.wait()
        statuses.append(api.ask("PATCH", GREET, {"tags": [str(number)]}, headers=seen).status)

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [412] * 7


def test_upkeep_of_embeddings_leaves_the_etag_alone(api, embedder):
    edited = api.ask("PATCH", GREET, {"description": "Say hello."})
    assert edited.json["embedding"]["status"] == "pending"
    api.board.backfill()
    ready = api.ask("GET", GREET)
    assert ready.json["embedding"]["status"] == "ready"
    assert ready.headers["etag"] == edited.headers["etag"]


def test_only_what_was_made_here_can_be_removed(api):
    found = api.ask("DELETE", GREET)
    assert (found.status, found.code) == (400, "usage_error")
    assert "comes from source 'ai'" in found.json["detail"]


def test_whoever_may_not_decide_is_told_so(api):
    for who in ("author", "admin"):  # neither author nor admin of public
        found = api.ask("PATCH", GREET, {"tags": []}, who=who)
        assert (found.status, found.code) == (403, "not_allowed")
        assert api.ask("POST", f"{GREET}/refresh", who=who).status == 403
