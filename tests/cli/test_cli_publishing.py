"""Publish, pull and what is decided about releases, as a user has them, on real boards."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from making_signed import write_items
from pegboard.config.places import DEFAULTS, keyring_folder

RELEASE = ".ai/tools/ops/release.py"
REFERENCE = "public/tools:ops:release"


@pytest.fixture
def project(pegboard, desk, monkeypatch):
    """A project with items and a key, and a registry in a file."""
    write_items(desk / ".ai")
    registry = desk.parent / "registry.db"
    for command in (
        ("init",),
        ("init", "--board", str(registry)),
        ("add", "folder", ".ai"),
        ("keys", "new", "ada"),
    ):
        assert pegboard(*command).code == 0
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", str(registry))
    return desk


@pytest.fixture
def other(pegboard, project, monkeypatch):
    """To be called: another project of the same person."""

    def move() -> Path:
        folder = project.parent / "other"
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert pegboard("init").code == 0
        return folder

    return move


def publish(pegboard, what=RELEASE, version="1.0.0", *options):
    number = ("--version", version) if version else ()
    return pegboard("publish", what, *number, "--no-report", *options)


ALL = (
    (RELEASE, "1.0.0", "tools:ops:release"),
    (".ai/tools/mail/post", "", "tools:mail:post"),
    (".ai/directives/deploy.md", "", "directives::deploy"),
    (".ai/knowledge/vectors.md", "2.0.0", "knowledge::vectors"),
    (".ai/skills/pdf", "1.0.0-rc.1", "skills::pdf"),
)


def test_every_kind_is_published_pulled_and_on_the_board(pegboard, project, other):
    for path, version, item_id in ALL:
        ran = publish(pegboard, path, version, "--json")
        assert ran.code == 0, ran.err
        assert (ran.json["state"], ran.json["id"]) == ("published", item_id)
    folder = other()
    ran = pegboard("pull", "--pre", *(item_id for *_, item_id in ALL), "--json")
    assert ran.code == 0, ran.err
    assert {each["state"] for each in ran.json["items"]} == {"pulled"}
    for path, _, item_id in ALL:
        assert (folder / path).exists()
        shown = pegboard("show", item_id, "--json").json
        assert shown["item"]["signature"]["state"] == "trusted"
        assert pegboard("verify", item_id).code == 0
    assert (folder / ".ai/skills/pdf/scripts/fill.py").read_text() == "print('filled')\n"
    lock = json.loads((folder / "pegboard.lock").read_text())
    assert len(lock["items"]) == len(ALL)


def test_a_pulled_file_knows_its_version_and_is_refused_once_it_is_changed(
    pegboard, project, other
):
    publish(pegboard)
    folder = other()
    assert pegboard("pull", "release").code == 0
    assert pegboard("show", "release", "--json").json["item"]["version"]["version"] == "1.0.0"
    place = folder / RELEASE
    place.write_text(place.read_text().replace("package", "parcel"))
    pegboard("sync")
    [refused] = pegboard("rejections", "--json").json["rejections"]
    assert refused["code"] == "signature_changed"
    place.with_name("release.py.sig").unlink()
    pegboard("sync")
    assert pegboard("rejections", "--json").json["rejections"] == []


def test_by_id_from_the_board_also_what_was_made_there(pegboard, project, other, desk):
    assert publish(pegboard, "release").code == 0
    made = desk / "made"
    made.mkdir()
    (made / "tool.yaml").write_text(
        "tool_id: fold\ntool_type: bash\ncategory: paper\ndescription: Fold a sheet of paper.\n"
        "executor_config: {entrypoint: fold.sh}\n"
    )
    (made / "fold.sh").write_text("echo folded\n")
    assert pegboard("create", str(made)).code == 0
    ran = publish(pegboard, "created:paper:fold", "1.0.0", "--json")
    assert ran.json["id"] == "tools:paper:fold"
    folder = other()
    assert pegboard("pull", "fold").code == 0
    assert (folder / ".ai/tools/paper/fold/fold.sh").is_file()


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (("publish", "nowhere.py", "--version", "1.0.0"), 7, "there is no item"),
        (("publish", RELEASE), 2, "it has no version"),
        (("publish", RELEASE, "--version", "1.0"), 2, "such as 1.2.3"),
        (("publish", RELEASE, "--version", "1.0.0+x"), 2, "such as 1.2.3"),
        (("publish", ".ai/tools/mail/post", "--version", "2.0.0"), 2, "manifest says version"),
        (("publish", RELEASE, "--version", "1.0.0", "--namespace", "Not One"), 2, "no namespace"),
        (("publish", RELEASE, "--version", "1.0.0", "--key", "bob"), 2, "no key 'bob'"),
        (("publish", RELEASE, "--version", "1.0.0", "--strict", "--no-report"), 2, "--no-report"),
        (
            ("publish", RELEASE, "--version", "1.0.0", "--team", "--visibility", "private"),
            2,
            "cannot be private",
        ),
        (("publish", RELEASE, "--version", "1.0.0", "--registry", "nothing.db"), 4, "nothing.db"),
        (("pull", "release"), 7, "there is no item 'release' in the registry"),
        (("pull", "release@nonsense"), 2, "no version or range"),
        (("pull", "release", "--force", "--merge"), 2, "do not go together"),
        (("pull",), 2, "nothing to pull"),
        (("yank", "release", "1.0.0"), 7, "there is no item"),
        (("versions", "nothing"), 7, "there is no item"),
    ],
)
def test_what_goes_wrong_is_told_with_the_next_step(pegboard, project, args, code, says):
    ran = pegboard(*args)
    assert ran.code == code, ran.err
    assert says in ran.err
    assert not (project / "pegboard.lock").exists()
    assert pegboard("audit", "--json").json == {"audit": []}


def test_without_a_registry_the_setting_is_named(pegboard, project, monkeypatch):
    monkeypatch.delenv("PEGBOARD_REGISTRY_URL")
    for command in (("publish", RELEASE, "--version", "1.0.0"), ("pull", "release")):
        ran = pegboard(*command)
        assert ran.code == 3
        assert "PEGBOARD_REGISTRY_URL" in ran.err


def test_a_project_may_not_say_where_the_registry_is(pegboard, project):
    (project / "pegboard.toml").write_text('[registry]\nurl = "https://thief.example"\n')
    ran = pegboard("pull", "release")
    assert ran.code == 3
    assert "a project may not set registry.url" in ran.err


def test_the_same_again_is_no_error_and_other_content_is(pegboard, project):
    assert publish(pegboard, RELEASE, "1.0.0", "--changelog", "First.").code == 0
    again = publish(pegboard)
    assert (again.code, again.out) == (0, f"{REFERENCE}@1.0.0 is published already, just so\n")
    (project / RELEASE).write_text((project / RELEASE).read_text() + "# more\n")
    refused = publish(pegboard)
    assert refused.code == 1
    assert "such as 1.0.1" in refused.err
    assert publish(pegboard, RELEASE, "1.0.1", "--json").json["latest"] == "1.0.1"


def test_nothing_is_published_by_a_dry_run(pegboard, project):
    ran = publish(pegboard, RELEASE, "1.0.0", "--dry-run", "--json")
    assert (ran.code, ran.json["state"]) == (0, "checked")
    assert pegboard("versions", REFERENCE, "--registry", "../registry.db").code == 7


def test_a_key_that_the_registry_does_not_believe_publishes_nothing(pegboard, project):
    assert pegboard("keys", "revoke", "ada").code == 0
    assert pegboard("keys", "new", "bob", "--namespace", "team-b").code == 0
    ran = publish(pegboard)
    assert ran.code == 12
    assert "not trusted for namespace 'public'" in ran.err


def test_what_search_will_think_is_told_and_strict_goes_by_it(pegboard, project):
    bare = project / ".ai/tools/ops/x.py"
    bare.write_text('"""X."""\n\n\ndef run(a: int, b: int) -> int:\n    """X."""\n    return a\n')
    ran = pegboard("publish", str(bare), "--version", "1.0.0", "--strict")
    assert ran.code == 1
    assert "parameters without description: a, b" in ran.err
    assert "--strict was given" in ran.err
    assert pegboard("versions", "tools:ops:x", "--registry", "../registry.db").code == 7
    ran = pegboard("publish", str(bare), "--version", "1.0.0", "--json")
    assert ran.code == 0
    assert ran.json["forecast"]["undescribed"] == ["a", "b"]
    same = project / ".ai/tools/ops/deploy.py"
    same.write_text((project / RELEASE).read_text())
    publish(pegboard)
    ran = pegboard("publish", str(same), "--version", "1.0.0")
    assert "public/tools:ops:release may do the same" in ran.err


def test_queries_that_it_would_take_from_others_are_told(pegboard, project):
    publish(pegboard)
    folder = project.parent / "evaluation"
    folder.mkdir()
    query = {"id": "1", "query": "release a new version", "gold": ["tools:ops:release"]}
    (folder / "queries.jsonl").write_text(json.dumps(query))
    thief = project / ".ai/tools/ops/new_version.py"
    text = "Release a new version: release a new version."
    thief.write_text(f'"""{text}"""\n\n\ndef run() -> int:\n    """{text}"""\n    return 1\n')
    ran = pegboard("publish", str(thief), "--version", "1.0.0", "--dry-run", "--eval", str(folder))
    assert ran.code == 0
    assert "before public/tools:ops:release, which is right" in ran.err


def test_versions_and_their_differences(pegboard, project):
    publish(pegboard, RELEASE, "1.0.0", "--changelog", "First.")
    (project / RELEASE).write_text((project / RELEASE).read_text().replace("package", "parcel"))
    publish(pegboard, RELEASE, "1.1.0")
    publish(pegboard, RELEASE, "2.0.0-rc.1")
    shown = pegboard("versions", "release").out
    assert [line.split()[0] for line in shown.splitlines()[1:4]] == ["2.0.0-rc.1", "1.1.0", "1.0.0"]
    assert "latest" in shown.splitlines()[2]
    assert "First." in shown
    for args in (("release@1.0.0", "1.1.0"), (f"{REFERENCE}@1.0.0",), ("release@1.0.0", "latest")):
        ran = pegboard("diff", *args)
        assert ran.code == 1, ran.err
        assert '+    """Release a new version of the parcel."""' in ran.out
    ran = pegboard("diff", "release", "--json")  # the latest, and the one before
    assert (ran.json["from"], ran.json["to"]) == ("release@1.0.0", "release@1.1.0")
    ran = pegboard("diff", "release@1.1.0", "2.0.0-rc.1")
    assert (ran.code, ran.out) == (0, "release@1.1.0 to release@2.0.0-rc.1\n")
    assert pegboard("diff", "release@1.0.0", "9.9.9").code == 7


def test_the_only_version_is_taken_back_and_offered_again_by_any_name(pegboard, project):
    publish(pegboard)
    ran = pegboard("yank", "release", "1.0.0")
    assert (ran.code, "none: it is no longer found" in ran.out) == (0, True), ran.err
    assert pegboard("unyank", REFERENCE, "1.0.0").code == 0
    lines = pegboard("audit", "release", "--json").json["audit"]
    assert [each["action"] for each in lines] == ["unyank", "yank", "publish"]
    assert pegboard("audit", "nothing").code == 7


def test_knowledge_is_published_under_the_id_that_it_gives_itself(pegboard, project, other):
    place = project / ".ai/knowledge/paper/sizes.md"
    place.parent.mkdir()
    place.write_text("---\nid: paper-sizes\ntitle: Sizes of paper\n---\nA4 is half of A3.\n")
    ran = publish(pegboard, str(place), "1.0.0", "--json")
    assert ran.json["id"] == "knowledge:paper:paper-sizes", ran.err
    folder = other()
    assert pegboard("pull", "public/knowledge:paper:paper-sizes").code == 0
    assert (folder / ".ai/knowledge/paper/sizes.md").is_file()
    assert pegboard("pull").code == 0
    assert pegboard("show", "paper-sizes").code == 0


def test_two_namespaces_have_one_place_for_an_id(pegboard, project, other):
    publish(pegboard)
    publish(pegboard, RELEASE, "1.0.0", "--namespace", "team-b")
    folder = other()
    both = (REFERENCE, "team-b/tools:ops:release")
    ran = pegboard("pull", *both)
    assert (ran.code, "would lie at the same place" in ran.err) == (2, True)
    assert pegboard("pull", both[0]).code == 0
    ran = pegboard("pull", both[1])
    assert (ran.code, "was pulled as public/tools:ops:release" in ran.err) == (2, True)
    assert pegboard("pull", both[1], "--force").code == 0
    assert [*json.loads((folder / "pegboard.lock").read_text())["items"]] == [both[1]]
    assert pegboard("pull").code == 0


def test_a_download_is_counted_once_for_whoever_has_it(pegboard, project, other):
    publish(pegboard)
    other()
    for args in (("release", "--dry-run"), ("release",), ("release",), ()):
        assert pegboard("pull", *args).code == 0
    [line] = pegboard("versions", REFERENCE, "--json").json["versions"]
    assert line["download_count"] == 1


def test_what_the_manifest_says_of_versions_is_a_range(pegboard, project):
    (project / ".ai/tools/mail/post/tool.yaml").write_text(
        "tool_id: post\ntool_type: python\ndescription: Post a letter.\n"
        "requires: ['tools:ops:release@foo']\nexecutor_config: {entrypoint: main.py}\n"
    )
    ran = publish(pegboard, ".ai/tools/mail/post")
    assert (ran.code, "'foo' is no version or range" in ran.err) == (2, True)


def test_a_board_here_has_versions_too(pegboard, project, monkeypatch):
    monkeypatch.delenv("PEGBOARD_REGISTRY_URL")
    [line] = pegboard("versions", "post", "--json").json["versions"]
    assert line["number"] == "1.0.0"
    ran = pegboard("yank", "post", "1.0.0")
    assert ran.code == 2
    assert "was not published here" in ran.err


def test_taken_back_and_offered_again(pegboard, project, other):
    publish(pegboard)
    (project / RELEASE).write_text((project / RELEASE).read_text() + "# more\n")
    publish(pegboard, RELEASE, "1.1.0")
    ran = pegboard("yank", "release", "1.1.0", "--reason", "loses mail")
    assert "1.1.0 is taken back" in ran.out
    assert "latest     1.0.0" in ran.out
    assert pegboard("yank", "release", "1.1.0", "--json").json["changed"] is False
    other()
    assert pegboard("pull", "release", "--json").json["items"][0]["version"] == "1.0.0"
    ran = pegboard("pull", "release@1.1.0")
    assert ran.code == 0
    assert "was taken back: loses mail" in ran.err
    pegboard("yank", "release", "1.0.0")
    ran = pegboard("pull", REFERENCE, "--force")
    assert ran.code == 7
    assert "all versions of public/tools:ops:release were taken back" in ran.err
    assert pegboard("pull").code == 0  # whoever has it in a lock file goes on having it
    registry = ("--board", "../registry.db", "--json")
    assert pegboard("search", "release", *registry).json["hits"] == []
    assert "latest     1.1.0" in pegboard("unyank", REFERENCE, "1.1.0").out
    assert pegboard("search", "release", *registry).json["hits"][0]["version"] == "1.1.0"


def test_an_owner_decides_and_it_stays_with_the_next_version(pegboard, project):
    publish(pegboard)
    publish(pegboard, ".ai/tools/mail/post", "")
    ran = pegboard("deprecate", "release", "--replacement", "tools:mail:post")
    assert "deprecated; use tools:mail:post instead" in ran.out
    assert pegboard("visibility", "release", "unlisted", "--json").json["visibility"] == "unlisted"
    assert pegboard("transfer", REFERENCE, "bob", "--json").json["author"] == "bob"
    (project / RELEASE).write_text((project / RELEASE).read_text() + "# more\n")
    assert publish(pegboard, RELEASE, "1.1.0").code == 0
    shelf = pegboard("versions", REFERENCE, "--json").json
    assert (shelf["author"], shelf["visibility"]) == ("bob", "unlisted")
    assert (shelf["deprecated"], shelf["replacement"]) == (True, "tools:mail:post")
    assert pegboard("deprecate", REFERENCE, "--undo", "--json").json["deprecated"] is False
    actions = [each["action"] for each in pegboard("audit", REFERENCE, "--json").json["audit"]]
    assert actions == ["deprecate", "publish", "transfer", "visibility", "deprecate", "publish"]
    assert "unlisted" in pegboard("audit").out


def test_pulled_for_oneself(pegboard, project, other):
    publish(pegboard)
    other()
    ran = pegboard("pull", "release", "--to", "user", "--json")
    assert ran.code == 0, ran.err
    own = DEFAULTS.data_folder
    assert (own / "ai/tools/ops/release.py").is_file()
    assert (own / "pegboard.lock").is_file()
    assert pegboard("show", "release", "--board", str(own / "board.db")).code == 0


def test_what_the_gate_here_refuses_is_told(pegboard, project, other, monkeypatch):
    publish(pegboard)
    other()
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_PROJECT", "require")
    assert pegboard("pull", "release").code == 0
    trusted = keyring_folder() / "trusted.json"
    trusted.write_text(json.dumps({"pegboard": 1, "keys": []}))
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_REGISTRY", "warn")
    ran = pegboard("pull", "release")
    assert ran.code == 1
    assert "is not on the board here" in ran.err


def test_a_lock_file_brings_another_checkout_to_the_same_state(pegboard, project, other):
    publish(pegboard)
    folder = other()
    pegboard("pull", "release@^1")
    lock = (folder / "pegboard.lock").read_bytes()
    (project / RELEASE).write_text((project / RELEASE).read_text() + "# more\n")
    publish(pegboard, str(project / RELEASE), "1.1.0")
    (folder / RELEASE).unlink()
    ran = pegboard("pull", "--json")
    assert [each["version"] for each in ran.json["items"]] == ["1.0.0"]
    assert (folder / "pegboard.lock").read_bytes() == lock
    damaged = json.loads(lock)
    damaged["items"][REFERENCE]["bundle"] = "0" * 64
    (folder / "pegboard.lock").write_text(json.dumps(damaged))
    ran = pegboard("pull")
    assert ran.code == 12
    assert "not what it was when it was pulled first" in ran.err


@pytest.mark.program
def test_a_revoked_key_is_believed_in_nothing_that_is_published(pegboard, project):
    publish(pegboard)
    registry = ("--board", "../registry.db")
    assert pegboard("run", "release", "--arg", "version=1", *registry).code == 0
    [hit] = pegboard("search", "release", *registry, "--json").json["hits"]
    assert hit["signed"] == "trusted"
    pegboard("keys", "revoke", "ada")
    [hit] = pegboard("search", "release", *registry, "--json").json["hits"]
    assert (hit["signed"], hit["notes"]) == ("revoked", ["signature not trusted"])
    ran = pegboard("run", "release", "--arg", "version=1", "--approve", *registry)
    assert ran.code != 0
    assert "was revoked" in ran.err


def test_what_is_published_is_not_removed(pegboard, project):
    publish(pegboard)
    registry = ("--board", "../registry.db")
    for command in (("remove", "published"), ("delete", REFERENCE, "--yes")):
        ran = pegboard(*command, *registry)
        assert ran.code == 2
        assert "pegboard yank" in ran.err
    assert pegboard("versions", REFERENCE).code == 0


def test_a_release_passes_in_no_namespace_that_its_key_is_not_trusted_for(pegboard, project, other):
    publish(pegboard, RELEASE, "1.0.0", "--namespace", "sandbox")
    folder = other()
    pegboard("pull", "sandbox/tools:ops:release")
    key = pegboard("keys", "export", "ada").out.strip()
    assert pegboard("keys", "trust", key, "--name", "ada", "--namespace", "sandbox").code == 0
    pegboard("init", "--board", "prod.db")
    add = ("add", "folder", str(folder / ".ai"), "--board", "prod.db")
    assert pegboard(*add, "--namespace", "prod").code == 0
    [refused] = pegboard("rejections", "--board", "prod.db", "--json").json["rejections"]
    assert refused["code"] == "signature_invalid"
    assert pegboard("verify", "release").code == 0  # in the project, where it was pulled to


def test_texts_of_a_registry_reach_the_terminal_harmless(pegboard, project):
    publish(pegboard)
    ran = pegboard("transfer", REFERENCE, "\x1b]0;x\x07root")
    assert ran.code == 2
    assert "\x1b" not in ran.err


@pytest.fixture
def listener():
    """Something that is no registry, and remembers what it was shown."""
    shown: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown.append(self.headers["Authorization"])
            self.send_error(404)

        def log_message(self, *said: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", shown
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.server
def test_the_token_of_the_registry_is_shown_to_no_other(pegboard, project, listener, monkeypatch):
    url, shown = listener
    monkeypatch.setenv("PEGBOARD_REGISTRY_TOKEN", "of-the-registry")
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", "http://127.0.0.1:9")
    assert pegboard("pull", "release", "--registry", url).code != 0
    assert shown == [None]
    (project / "token").write_text("of-this-one\n")
    assert pegboard("pull", "release", "--registry", url, "--token-file", "token").code != 0
    assert shown == [None, "Bearer of-this-one"]
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", url)
    assert pegboard("pull", "release").code != 0
    assert shown[-1] == "Bearer of-the-registry"
    assert pegboard("pull", "release", "--token-file", "token").code != 0
    assert shown[-1] == "Bearer of-this-one"
