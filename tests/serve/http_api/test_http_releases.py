"""Releases over HTTP: published, listed, taken away, compared, taken back and decided about."""

import hashlib
import threading

import pytest
from http_parts import body_of, encoded, published

from making_releases import Publisher, symlinked, zipped

ID = "tools:paper:fold"
PLACE = f"/items/{encoded(f'public/{ID}')}"


@pytest.fixture
def publisher(board, tmp_path):
    return Publisher(tmp_path / "published", board.settings.data_folder)


def test_a_release_is_published_once_and_then_unchanged(api, publisher):
    parcel = publisher.parcel("1.0.0", changelog="First.")
    found = published(api, parcel)
    assert (found.status, found.json["state"], found.json["latest"]) == (201, "published", "1.0.0")
    assert found.json["bundle"] == parcel.sha256
    assert found.headers["location"] == f"{PLACE}/versions/1.0.0".replace("%3A", ":")
    again = published(api, parcel)
    assert (again.status, again.json["state"]) == (200, "unchanged")
    assert api.ask("GET", found.headers["location"]).json["number"] == "1.0.0"
    metrics = api.ask("GET", "/metrics").content.decode()
    assert 'pegboard_publishes_total{state="published"} 1' in metrics


def test_a_dry_run_says_what_would_become_of_it_and_leaves_nothing(api, publisher):
    found = published(api, publisher.parcel(), dry_run=True)
    assert (found.status, found.json["state"]) == (200, "checked")
    assert "location" not in found.headers
    assert api.ask("GET", f"{PLACE}/versions").status == 404


def test_a_version_never_changes(api, publisher):
    published(api, publisher.parcel("1.0.0"))
    found = published(api, publisher.parcel("1.0.0", script="echo other\n"))
    assert (found.status, found.code) == (409, "version_exists")
    assert (found.json["state"], found.json["version"]) == ("refused", "1.0.0")
    assert "1.0.1" in found.json["reason"]


def test_what_is_published_is_told_with_all_its_versions(api, publisher):
    for number in ("1.0.0", "1.2.0", "1.1.0", "2.0.0-rc.1"):
        published(api, publisher.parcel(number, changelog=f"What is new in {number}."))
    found = api.ask("GET", f"{PLACE}/versions", who="reader").json
    assert [each["number"] for each in found["versions"]] == [
        "2.0.0-rc.1",
        "1.2.0",
        "1.1.0",
        "1.0.0",
    ]
    assert (found["latest"], found["author"], found["published"]) == ("1.2.0", "mia", True)
    first = found["versions"][-1]
    assert (first["published_by"], first["changelog"]) == ("mia", "What is new in 1.0.0.")
    assert first["signer"].startswith("ed25519:")
    under_tools = api.ask("GET", f"{PLACE}/versions".replace("/items/", "/tools/"))
    assert under_tools.json == found


def test_one_version_is_told_with_record_signature_and_files(api, publisher):
    parcel = publisher.parcel("1.0.0", changelog="First.")
    published(api, parcel)
    found = api.ask("GET", f"{PLACE}/versions/latest").json
    assert (found["number"], found["latest"], found["bundle"]) == ("1.0.0", True, parcel.sha256)
    assert found["record"]["path"] == "tools/paper/fold"
    assert found["signature"] == parcel.side_file.decode()
    assert [each["path"] for each in found["files"]] == ["run.sh", "tool.yaml"]
    assert {"size", "sha256", "executable"} <= found["files"][0].keys()
    assert "content" not in found["files"][0]
    told = api.ask("GET", f"{PLACE}/versions/1.0.0?files=true").json
    assert told["files"][0]["content"] == 'echo "folded $ARG_SHEET"\n'
    side = api.ask("GET", f"{PLACE}/versions/1.0.0/signature")
    assert side.content == parcel.side_file


def test_what_was_not_published_has_versions_but_no_bundle(api):
    place = "/items/tools:paper:greet"
    found = api.ask("GET", f"{place}/versions").json
    assert (found["published"], found["author"]) == (False, "")
    number = found["latest"]
    told = api.ask("GET", f"{place}/versions/{encoded(number)}").json
    assert (told["record"], told["signature"], told["bundle"]) == (None, "", "")
    for what in ("bundle", "signature"):
        assert api.ask("GET", f"{place}/versions/latest/{what}").status == 404


def test_whatever_is_told_of_a_version_says_which_that_is(api, publisher):
    published(api, publisher.parcel("1.0.0"))
    for what in ("", "/bundle", "/signature"):
        found = api.ask("GET", f"{PLACE}/versions/latest{what}")
        assert found.headers["pegboard-version"] == "1.0.0"


def test_a_bundle_is_taken_away_and_counted(api, publisher):
    parcel = publisher.parcel("1.0.0")
    published(api, parcel)
    found = api.ask("GET", f"{PLACE}/versions/latest/bundle", who="reader")
    assert found.content == parcel.bundle
    assert found.headers["content-type"] == "application/zip"
    assert found.headers["etag"] == f'"{hashlib.sha256(parcel.bundle).hexdigest()}"'
    assert found.headers["pegboard-version"] == "1.0.0"
    said = found.headers["content-disposition"]
    assert said == "attachment; filename=\"fold-1.0.0.zip\"; filename*=UTF-8''fold-1.0.0.zip"
    seen = {"If-None-Match": found.headers["etag"]}
    assert api.ask("GET", f"{PLACE}/versions/1.0.0/bundle", headers=seen).status == 304
    head = api.ask("HEAD", f"{PLACE}/versions/1.0.0/bundle")
    assert (head.status, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == len(parcel.bundle)
    other = {"If-None-Match": '"something-else"'}
    assert api.ask("GET", f"{PLACE}/versions/1.0.0/bundle", headers=other).status == 200
    [line] = api.ask("GET", f"{PLACE}/versions").json["versions"]
    assert line["download_count"] == 2
    assert "pegboard_downloads_total 2" in api.ask("GET", "/metrics").content.decode()


def test_two_versions_are_compared_file_by_file(api, publisher):
    published(api, publisher.parcel("1.0.0", files={"gone.txt": b"gone\n", "ink.bin": b"\xff\x00"}))
    (publisher.folder / ".ai/tools/paper/fold/gone.txt").unlink()
    after = {"new.txt": b"new\n", "ink.bin": b"\xff\x01"}
    published(api, publisher.parcel("1.1.0", script="echo better\n", files=after))
    found = api.ask("GET", f"{PLACE}/diff?from=1.0.0").json
    assert (found["from"], found["to"]) == ("1.0.0", "1.1.0")
    by_path = {each["path"]: each for each in found["files"]}
    assert {path: each["state"] for path, each in by_path.items()} == {
        "gone.txt": "removed",
        "ink.bin": "changed",
        "new.txt": "added",
        "run.sh": "changed",
    }
    assert by_path["ink.bin"]["binary"]
    assert by_path["run.sh"]["lines"][1:] == ['-echo "folded $ARG_SHEET"', "+echo better"]
    assert api.ask("GET", f"{PLACE}/diff?from=1.0.0&to=9.9.9").status == 404
    assert api.ask("GET", f"{PLACE}/diff").status == 400


def test_a_version_is_taken_back_and_offered_again(api, publisher):
    for number in ("1.0.0", "1.1.0"):
        published(api, publisher.parcel(number))
    place = f"{PLACE}/versions/1.1.0"
    said = {"reason": "It tears the sheet."}
    found = api.ask("POST", f"{place}/yank", said, who="author").json
    assert found == {"changed": True, "latest": "1.0.0"}
    assert not api.ask("POST", f"{place}/yank", said, who="author").json["changed"]
    told = api.ask("GET", place).json
    assert (told["yanked_by"], told["yank_reason"]) == ("mia", "It tears the sheet.")
    assert api.ask("GET", f"{place}/bundle").status == 200
    back = api.ask("POST", f"{place}/unyank", who="author").json
    assert back == {"changed": True, "latest": "1.1.0"}
    assert api.ask("POST", f"{PLACE}/versions/9.9.9/yank", {}, who="author").status == 404
    hidden = {"reason": "\u202eolleh"}
    assert api.ask("POST", f"{place}/yank", hidden, who="author").status == 400


def test_taking_back_every_version_leaves_them_to_be_had_by_number(api, publisher):
    published(api, publisher.parcel("1.0.0"))
    api.ask("POST", f"{PLACE}/versions/1.0.0/yank", {}, who="author")
    assert api.ask("GET", f"{PLACE}/versions/latest/bundle").status == 404
    assert api.ask("GET", f"{PLACE}/versions/1.0.0/bundle").status == 200
    assert api.ask("GET", f"{PLACE}/versions").json["latest"] == ""


def test_an_owner_decides_about_what_is_published(api, publisher):
    published(api, publisher.parcel("1.0.0"))
    said = {"deprecated": True, "replacement": "tools:paper:greet", "visibility": "unlisted"}
    found = api.ask("PATCH", f"{PLACE}/release", said, who="author")
    assert found.status == 200
    assert {name: found.json[name] for name in said} == said
    hidden = {"replacement": "fold\u202e"}
    for wrong in ({}, {"visibility": "hidden"}, {"owner": ""}, {"owner": "@other"}, hidden):
        assert api.ask("PATCH", f"{PLACE}/release", wrong, who="author").status == 400, wrong
    given = api.ask("PATCH", f"{PLACE}/release", {"owner": "@public"}, who="author")
    assert given.json["author"] == "@public"
    taken = api.ask("PATCH", f"{PLACE}/release", {"owner": "mia"}, who="author")
    assert taken.status == 403, "what all own, none of them takes"
    assert api.ask("PATCH", f"{PLACE}/release", {"owner": "mia"}, who="owner").status == 200
    unpublished = api.ask("PATCH", "/items/greet/release", {"deprecated": True})
    assert (unpublished.status, unpublished.code) == (400, "usage_error")


def test_what_is_decided_is_in_the_log_and_nothing_changes_that(api, publisher):
    published(api, publisher.parcel("1.0.0"))
    api.ask("POST", f"{PLACE}/versions/1.0.0/yank", {"reason": "wrong"}, who="author")
    api.ask("PATCH", f"{PLACE}/release", {"owner": "@public"}, who="author")
    lines = api.ask("GET", f"/audit?id={encoded(f'public/{ID}')}").json["audit"]
    assert [(each["action"], each["who"]) for each in lines] == [
        ("transfer", "mia"),
        ("yank", "mia"),
        ("publish", "mia"),
    ]
    assert lines[1]["detail"] == "wrong"
    everything = api.ask("GET", "/audit?limit=1000").json["audit"]
    assert {"trust", "policy"} <= {each["action"] for each in everything}
    assert len(api.ask("GET", "/audit?limit=1").json["audit"]) == 1
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        found = api.ask(method, "/audit", who="owner")
        assert (found.status, found.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize("who", ["author", "reader"])
def test_the_log_is_for_admins(api, who):
    assert api.ask("GET", "/audit", who=who).status == 403


HOSTILE = {
    "no archive": lambda: b"PK nothing",
    "nothing": lambda: b"",
    "a bomb": lambda: zipped(("files/a", b"\0" * 1_000_000), method=8),
    "out of the folder": lambda: zipped(("../../etc/cron.d/x", b"x")),
    "a link": symlinked,
    "many entries": lambda: zipped(*((f"files/{n}", b"") for n in range(100_000))),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_bundle_is_refused_in_words(api, publisher, what):
    found = published(api, publisher.parcel()._replace(bundle=HOSTILE[what]()))
    assert (found.status, found.code) == (400, "usage_error")
    assert "the bundle is refused" in found.json["detail"]


def test_what_is_not_base64_is_refused(api, publisher):
    said = body_of(publisher.parcel())
    for wrong in ("not base64!", said["bundle"][:-3], "ab", "Ä"):
        found = api.ask("POST", "/releases", said | {"bundle": wrong}, who="author")
        assert found.status == 400, wrong


def test_a_signature_must_fit_and_be_trusted(api, publisher, tmp_path):
    one, other = publisher.parcel("1.0.0"), publisher.parcel("1.0.1", script="echo other\n")
    mixed = published(api, one._replace(side_file=other.side_file))
    assert (mixed.status, mixed.code) == (422, "signature_invalid")
    stranger = Publisher(tmp_path / "stranger", tmp_path / "strangers-keys", "stranger")
    unknown = published(api, stranger.parcel("1.0.0"))
    assert unknown.status == 422
    assert unknown.json["state"] == "refused"
    unsigned = published(api, one._replace(side_file=b""))
    assert unsigned.status == 422
    assert api.ask("GET", f"{PLACE}/versions").status == 404


def test_of_many_that_publish_the_same_version_at_once_one_does(api, publisher):
    parcels = [publisher.parcel("1.0.0", script=f"echo {n}\n") for n in range(4)]
    found = {}
    begin = threading.Barrier(len(parcels))

    def run(number: int) -> None:
        begin.wait()
        found[number] = api.send("POST", "/releases", body_of(parcels[number]), who="author")

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(parcels))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(each.status for each in found.values()) == [201, 409, 409, 409]
    winner = next(n for n, each in found.items() if each.status == 201)
    kept = api.ask("GET", f"{PLACE}/versions/1.0.0/bundle").content
    assert kept == parcels[winner].bundle
