"""Making tools over HTTP, and removing them."""

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from http_parts import encoded

from waiting import until

MANIFEST = {
    "tool_id": "fold_paper",
    "tool_type": "python",
    "category": "paper",
    "description": "Fold a sheet of paper into a crane.",
    "parameters": [{"name": "sheet", "type": "string", "required": True}],
}
CODE = "def run(sheet):\n    return sheet + ' crane'\n"
ID = "created:paper:fold_paper"


def create(api, code=CODE, *, who="owner", **said):
    manifest = MANIFEST | said.pop("manifest", {})
    return api.ask(
        "POST", "/tools", {"manifest": manifest, "files": {"main.py": code}} | said, who=who
    )


def test_a_tool_is_made_found_called_and_removed(api):
    made = create(api, try_with={"sheet": "a"})
    assert (made.status, made.json["state"], made.json["id"]) == (201, "created", ID)
    assert made.json["trial"]["text"] == "a crane"
    assert made.json["trial"]["seconds"] > 0
    place = made.headers["location"]
    assert place == f"/tools/public%2F{ID}"
    assert api.ask("GET", place).json["item"]["author"] == "olga"
    hits = api.ask("GET", "/search?query=fold%20paper&mode=bm25").json["hits"]
    assert hits[0]["id"] == ID
    assert api.ask("POST", f"{place}/call", {"arguments": {"sheet": "b"}}).json["text"] == "b crane"
    assert api.ask("DELETE", place).status == 204
    assert api.ask("GET", place).status == 404
    assert api.ask("DELETE", place).status == 404
    assert api.ask("GET", f"/tools/{ID}/history").json["history"][0]["event"] == "removed"
    assert api.board.check() == []


def test_the_same_again_changes_nothing_and_another_is_a_new_version(api):
    create(api)
    again = create(api)
    assert (again.status, again.json["state"], again.json["version"]) == (200, "unchanged", "1.0.0")
    changed = create(api, CODE + "# better\n")
    assert (changed.status, changed.json["state"], changed.json["version"]) == (
        200,
        "updated",
        "1.0.1",
    )
    versions = api.ask("GET", f"/tools/{ID}/versions").json["versions"]
    assert [each["number"] for each in versions] == ["1.0.1", "1.0.0"]


def test_a_tool_for_the_same_is_shown_instead(api):
    create(api)
    other = {"tool_id": "crease_paper"}
    found = create(api, manifest=other)
    assert (found.status, found.code) == (409, "alike")
    assert found.json["alike"][0]["id"] == ID
    assert api.ask("GET", "/tools/created:paper:crease_paper").status == 404
    assert create(api, manifest=other, anyway=True).status == 201


@pytest.mark.parametrize(
    ("said", "code", "complaint"),
    [
        ({"manifest": {"tool_type": "spell"}}, "refused", "tool_type"),
        ({"manifest": {"description": "a\0b"}}, "refused", "description"),
        ({"manifest": {"version": "one"}}, "refused", "version"),
        ({"files": {}}, "refused", ""),
        ({"files": {"../main.py": CODE}}, "refused", ""),
        ({"files": {"/etc/passwd": CODE}}, "refused", ""),
        ({"files": {"main.py": CODE, "Main.py\0": ""}}, "refused", ""),
        ({"try_with": {"sheet": 5}}, "trial_failed", "trying it failed"),
        ({"manifest": "tool_id: [", "files": {}}, "refused", ""),
        (
            {"manifest": {"parameters": [{"name": "n", "type": "integer", "default": 10**90}]}},
            "",
            "",
        ),
    ],
)
def test_what_the_gate_does_not_let_in_is_refused_with_the_reason(api, said, code, complaint):
    body = {"manifest": MANIFEST, "files": {"main.py": CODE}} | said
    if isinstance(said.get("manifest"), dict):
        body["manifest"] = MANIFEST | said["manifest"]
    found = api.ask("POST", "/tools", body)
    assert found.status == (422 if code else 201), found
    if code:
        assert found.code == code
        assert complaint in found.json["detail"]
    assert api.board.check() == []


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({}, "manifest is missing"),
        ({"manifest": []}, "manifest is []; input should be an object or a valid string"),
        ({"manifest": MANIFEST, "files": []}, "files is []"),
        (
            {"manifest": MANIFEST, "files": {"a": 5}},
            "files.a is 5; input should be a valid string or an object",
        ),
        (
            {"manifest": MANIFEST, "files": {"a": {"base64": "!!"}}},
            'files.a.base64 is "!!"; it is no base64: ',
        ),
        (
            {"manifest": MANIFEST, "files": {"a": {"base64": "A"}}},
            'files.a.base64 is "A"; it is no base64: ',
        ),
        (
            {"manifest": MANIFEST, "files": {"a": {"base64": "\u00e4"}}},
            'files.a.base64 is "\u00e4"; it is no base64: ',
        ),
        (
            {"manifest": MANIFEST, "files": {"a": {"text": "x"}}},
            "files.a.base64 is missing; there is no 'files.a.text'",
        ),
        ({"manifest": MANIFEST, "files": {"tool.yaml": "a"}}, "files has tool.yaml in it"),
        ({"manifest": MANIFEST, "files": {str(n): "" for n in range(201)}}, "files is"),
        ({"manifest": MANIFEST, "anyway": "yes"}, "anyway is"),
        ({"manifest": MANIFEST, "namespace": "Not A Namespace"}, "is no namespace"),
    ],
)
def test_a_request_to_make_a_tool_is_checked_first(api, body, complaint):
    found = api.ask("POST", "/tools", body)
    assert (found.status, found.code) == (400, "usage_error")
    assert complaint in found.json["detail"]
    assert "InBase64" not in found.json["detail"]


def test_a_file_can_be_bytes_and_a_manifest_text(api):
    data = base64.b64encode(b"\xff\x00ink").decode()
    manifest = "tool_id: ink\ntool_type: python\ncategory: paper\ndescription: Ink a page.\n"
    files = {"main.py": "def run(): return 1\n", "ink.bin": {"base64": data}}
    made = api.ask("POST", "/tools", {"manifest": manifest, "files": files})
    assert made.status == 201
    told = api.ask("GET", "/tools/ink?files=true").json["item"]["version"]["files"]
    ink = next(each for each in told if each["path"] == "ink.bin")
    assert base64.b64decode(ink["base64"]) == b"\xff\x00ink"


def test_an_author_makes_tools_in_its_own_namespaces_and_decides_about_them(api):
    made = create(api, who="author", namespace="team")
    place = made.headers["location"]
    assert (made.status, place) == (201, f"/tools/{encoded('team/' + ID).replace('%3A', ':')}")
    told = api.ask("GET", place).json["item"]
    assert (told["namespace"], told["author"]) == ("team", "mia")
    assert api.ask("PATCH", place, {"tags": ["mine"]}, who="author").status == 200
    assert create(api, CODE + "#\n", who="author", namespace="team").json["state"] == "updated"
    assert create(api, CODE + "##\n", namespace="team").json["state"] == "updated"
    assert api.ask("GET", place).json["item"]["author"] == "mia"
    for namespace in ("elsewhere", "nowhere/at-all"):
        found = create(api, who="author", namespace=namespace)
        assert (found.status, found.code) == (403, "not_allowed")
    assert create(api, who="reader").status == 403
    assert api.ask("DELETE", place, who="author").status == 204


def test_what_somebody_else_made_is_not_an_authors_to_change(api):
    place = create(api).headers["location"]
    found = create(api, CODE + "# mine\n", who="author", namespace="public")
    assert (found.status, found.code) == (422, "refused")
    assert api.ask("DELETE", place, who="author").status == 403
    assert api.ask("PATCH", place, {"active": False}, who="author").status == 403


NAMING = (
    {"permissions": ["read secret BILLING_KEY"]},
    {"permissions": ["read environment BILLING_KEY"]},
    {"executor_config": {"env": {"KEY": "secret://BILLING_KEY"}}},
    {
        "tool_type": "api",
        "executor_config": {"url": "https://example.com", "headers": {"X": "${BILLING_KEY}"}},
    },
)


@pytest.mark.parametrize("manifest", NAMING)
def test_the_gateways_secrets_are_not_an_authors_to_name(api, manifest):
    refused = create(api, who="author", manifest=manifest)
    assert (refused.status, refused.code) == (422, "refused")
    assert "BILLING_KEY" in refused.json["detail"]
    assert "serve.author_secrets" in refused.json["detail"]
    assert api.ask("GET", f"/tools/{ID}").status == 404
    assert create(api, manifest=manifest).status == 201, "its owner names what he likes"


@pytest.mark.parametrize("manifest", NAMING)
def test_an_author_names_the_secrets_that_are_meant_for_authors(api, manifest, monkeypatch):
    serve = replace(api.board.settings.serve, author_secrets="OTHER, BILLING_KEY")
    monkeypatch.setattr(api.board, "settings", replace(api.board.settings, serve=serve))
    assert create(api, who="author", manifest=manifest).status == 201


@pytest.mark.parametrize(
    "wish",
    [
        *("read environment *", "read environment BILLING_*", "read secret *"),
        *("read filesystem /**", "write filesystem /tmp/**", "read filesystem ~/.netrc"),
    ],
)
def test_an_author_asks_for_nothing_of_the_host(api, wish):
    refused = create(api, who="author", manifest={"permissions": [wish]})
    assert (refused.status, refused.code) == (422, "refused")
    assert wish.split()[2] in refused.json["detail"]
    assert create(api, manifest={"permissions": [wish]}).status == 201


def test_whoever_tries_much_at_once_waits_and_nobody_else_does(api, monkeypatch):
    """Trials of one caller have a bound, and none of them holds up the others."""
    release = threading.Event()
    trial = api.board.running.trial

    def slow(self, item, arguments):
        if item.author == "mia":
            release.wait(30)
        return trial(item, arguments)

    monkeypatch.setattr(type(api.board.running), "trial", slow)

    def attempt(number):
        said = {"manifest": {"tool_id": f"fold_{number}"}, "try_with": {"sheet": "a"}}
        return create(api, who="author", anyway=True, **said)

    with ThreadPoolExecutor(12) as threads:
        tries = [threads.submit(attempt, number) for number in range(12)]
        until(lambda: sum(each.done() for each in tries) == 10)
        assert api.ask("GET", "/search?query=message&mode=bm25").status == 200
        assert create(api, who="owner", try_with={"sheet": "b"}, anyway=True).status == 201
        release.set()
        found = sorted(each.result().status for each in tries)
    assert found == [201] * 2 + [429] * 10
    assert attempt(20).status == 201, "and then there is room again"


def test_a_tool_was_made_even_if_somebody_removes_it_at_that_moment(api, monkeypatch):
    curation = type(api.board.store.curation)
    resolve = curation.resolve_links

    def removed_first(self):
        monkeypatch.setattr(curation, "resolve_links", resolve)
        api.board.curate.remove(ID, "somebody")
        return resolve(self)

    monkeypatch.setattr(curation, "resolve_links", removed_first)
    made = create(api)
    assert (made.status, made.json["state"]) == (201, "created")
    assert api.ask("GET", made.headers["location"]).status == 404


def test_a_tool_that_is_no_longer_what_was_seen_is_not_removed(api):
    place = create(api).headers["location"]
    seen = {"If-Match": api.ask("GET", place).headers["etag"]}
    api.ask("PATCH", place, {"tags": ["kept"]})
    assert api.ask("DELETE", place, headers=seen).status == 412
    assert api.ask("DELETE", place, headers={"If-Match": "*"}).status == 204
