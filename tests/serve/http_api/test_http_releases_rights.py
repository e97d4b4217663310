"""Who may publish where, take back, decide, and read the log; on both databases."""

import pytest
from http_parts import CALLERS, encoded, published, serving, settle_in

from making_releases import Publisher
from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import Caller, Role

NAME = "tools:paper:fold"
WHO = {
    "olive": Caller("olive", (), Role.ADMIN),
    "ada": Caller("ada", ("team",), Role.ADMIN),
    "mia": Caller("mia", ("team", "public"), Role.AUTHOR),
    "cho": Caller("cho", ("team", "public"), Role.AUTHOR),
    "sam": Caller("sam", ("elsewhere",), Role.AUTHOR),
    "rob": Caller("rob", ("team", "public"), Role.READER),
    "out": Caller("out", (), Role.READER),
}
"""The owner of the board; of `team` an admin, two authors and a reader; and two from elsewhere."""


@pytest.fixture(params=["sqlite", "postgres"])
def api(request, tmp_path, monkeypatch):
    settle_in(monkeypatch, tmp_path)
    for name, caller in WHO.items():
        monkeypatch.setitem(CALLERS, name, caller)
    on_postgres = request.param == "postgres"
    place = request.getfixturevalue("postgres_url") if on_postgres else str(tmp_path / "board.db")
    with Pegboard.open(place, create=not on_postgres) as board, serving(board) as served:
        yield served


@pytest.fixture
def publisher(api, tmp_path):
    return Publisher(tmp_path / "published", api.board.settings.data_folder)


def place(namespace: str = "team") -> str:
    return f"/items/{encoded(f'{namespace}/{NAME}')}"


def statuses(api, method, path, body=None, but=()):
    """What each is told; nothing is to be done by any of them."""
    return {who: api.ask(method, path, body, who=who).status for who in WHO if who not in but}


def test_authors_publish_in_their_namespaces(api, publisher):
    parcel = publisher.parcel(namespace="team")
    for who, status in {"out": 403, "rob": 403, "sam": 403}.items():
        assert published(api, parcel, who).status == status, who
    assert published(api, parcel, "mia").status == 201
    assert published(api, publisher.parcel(namespace="elsewhere"), "sam").status == 201
    assert published(api, publisher.parcel(namespace="anew"), "olive").status == 201


def test_whose_it_is_publishes_further_versions_and_so_does_an_admin(api, publisher):
    published(api, publisher.parcel("1.0.0", namespace="team"), "mia")
    taken = published(api, publisher.parcel("1.1.0", namespace="team"), "cho")
    assert (taken.status, taken.json["state"]) == (422, "refused")
    for who, number in {"ada": "1.1.0", "olive": "1.2.0", "mia": "1.3.0"}.items():
        assert published(api, publisher.parcel(number, namespace="team"), who).status == 201, who
    told = api.ask("GET", f"{place()}/versions", who="rob").json
    assert told["author"] == "mia"
    by = {each["number"]: each["published_by"] for each in told["versions"]}
    assert by == {"1.0.0": "mia", "1.1.0": "ada", "1.2.0": "olive", "1.3.0": "mia"}


def test_what_is_a_teams_is_every_authors_of_it(api, publisher):
    published(api, publisher.parcel("1.0.0", namespace="team"), "mia", team=True)
    assert published(api, publisher.parcel("1.1.0", namespace="team"), "cho").status == 201
    yank = f"{place()}/versions/1.1.0/yank"
    assert api.ask("POST", yank, {}, who="cho").json["changed"]
    assert api.ask("GET", f"{place()}/versions", who="mia").json["author"] == "@team"
    found = published(
        api,
        publisher.parcel("1.0.0", namespace="team", name="cut"),
        "mia",
        team=True,
        visibility="private",
    )
    assert found.status == 400


def test_only_whose_it_is_and_admins_take_back_and_decide(api, publisher):
    published(api, publisher.parcel("1.0.0", namespace="team"), "mia")
    asked = {
        "yank": ("POST", f"{place()}/versions/1.0.0/yank", {}),
        "unyank": ("POST", f"{place()}/versions/1.0.0/unyank", None),
        "decide": ("PATCH", f"{place()}/release", {"deprecated": True}),
    }
    for what, (method, path, body) in asked.items():
        found = statuses(api, method, path, body, but=("mia", "ada", "olive"))
        # Whoever is less than an author is so whatever there is; what is hidden is not there.
        assert found == {"cho": 403, "sam": 404, "rob": 403, "out": 403}, what
        assert statuses(api, method, path, body, but=found) == {
            "olive": 200,
            "ada": 200,
            "mia": 200,
        }


def test_what_is_given_to_another_is_theirs(api, publisher):
    published(api, publisher.parcel("1.0.0", namespace="team"), "mia")
    assert api.ask("PATCH", f"{place()}/release", {"owner": "cho"}, who="mia").status == 200
    assert api.ask("PATCH", f"{place()}/release", {"owner": "mia"}, who="mia").status == 403
    assert published(api, publisher.parcel("1.1.0", namespace="team"), "cho").status == 201
    assert published(api, publisher.parcel("1.2.0", namespace="team"), "mia").status == 422


@pytest.mark.parametrize("what", ["versions", "versions/1.0.0", "versions/1.0.0/bundle"])
def test_what_is_public_unlisted_or_private_is_so_with_all_its_versions(api, publisher, what):
    published(api, publisher.parcel("1.0.0"), "mia")
    path = f"{place('public')}/{what}"
    assert set(statuses(api, "GET", path).values()) == {200}
    api.ask("PATCH", f"{place('public')}/release", {"visibility": "unlisted"}, who="mia")
    assert set(statuses(api, "GET", path).values()) == {200}, "whoever knows its id has it"
    listed = api.ask("GET", "/items?source=tools", who="out").json["items"]
    assert NAME not in [each["id"] for each in listed]
    api.ask("PATCH", f"{place('public')}/release", {"visibility": "private"}, who="mia")
    found = statuses(api, "GET", path)
    assert {who for who, status in found.items() if status == 200} == {"olive", "mia"}
    hidden = api.ask("GET", path, who="out").json
    nothing = api.ask("GET", path.replace("fold", "fade"), who="out").json
    assert hidden["detail"].replace("fold", "fade") == nothing["detail"]
    assert hidden | {"detail": ""} == nothing | {"detail": ""}


def test_another_namespace_is_as_if_it_were_not_there(api, publisher):
    published(api, publisher.parcel("1.0.0", namespace="team"), "mia")
    found = statuses(api, "GET", f"{place()}/versions/1.0.0/bundle")
    assert {who for who, status in found.items() if status == 404} == {"sam", "out"}
    lines = api.ask("GET", f"{place()}/versions", who="mia").json["versions"]
    assert lines[0]["download_count"] == len(WHO) - 2


def test_an_admin_reads_the_log_of_its_namespaces(api, publisher):
    published(api, publisher.parcel("1.0.0", namespace="team"), "mia")
    published(api, publisher.parcel("1.0.0", namespace="elsewhere"), "sam")
    spaces = {
        who: {each["namespace"] for each in api.ask("GET", "/audit", who=who).json["audit"]}
        for who in ("ada", "olive")
    }
    assert spaces["ada"] == {"team"}
    assert spaces["olive"] >= {"team", "elsewhere"}
    found = statuses(api, "GET", "/audit", but=("ada", "olive"))
    assert set(found.values()) == {403}


def test_the_registry_shows_what_each_may_find(api, publisher):
    published(api, publisher.parcel("1.0.0", tags="paper, birds"), "mia")
    published(api, publisher.parcel("2.0.0", name="cut", category="edges", namespace="team"), "mia")
    published(api, publisher.parcel("1.0.0", name="hidden"), "mia", visibility="unlisted")
    for who in ("out", "sam"):
        found = api.ask("GET", "/registry", who=who).json
        assert [each["name"] for each in found["items"]] == ["fold"]
        assert found["categories"] == [{"name": "paper", "items": 1}]
        assert found["tags"] == [{"name": "birds", "items": 1}, {"name": "paper", "items": 1}]
    everything = api.ask("GET", "/registry?order=newest", who="rob").json
    assert [each["name"] for each in everything["items"]] == ["cut", "fold"]
    [line] = api.ask("GET", "/registry?tag=birds", who="rob").json["items"]
    assert (line["latest"], line["author"], line["signature"]) == ("1.0.0", "mia", "trusted")
    edges = api.ask("GET", "/registry?category=edges&namespace=team", who="rob").json
    assert (edges["total"], [each["name"] for each in edges["items"]]) == (1, ["cut"])
    assert api.ask("GET", "/registry?category=%00", who="rob").json["total"] == 0
    api.ask("GET", f"{place('public')}/versions/1.0.0/bundle", who="out")
    popular = api.ask("GET", "/registry?order=downloads&limit=1", who="rob").json
    assert (popular["items"][0]["downloads"], popular["next"]) == (1, 1)
    rest = api.ask("GET", "/registry?order=downloads&start=1", who="rob").json
    assert ([each["name"] for each in rest["items"]], rest["next"]) == (["cut"], None)
    api.ask("POST", f"{place('public')}/versions/1.0.0/yank", {}, who="mia")
    assert api.ask("GET", "/registry", who="out").json["total"] == 0
