"""A registry and three projects, each in its own process: all the steps, and a death in each."""

import json

import pytest
from company_parts import PATH, REFERENCE, company
from releasing_parts import GREET, write

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]
"""It takes many processes, which is long on a machine that has much else to do."""

POLITE = GREET.replace("hello", "good day")


@pytest.fixture(params=["sqlite", "postgres"])
def firm(request, tmp_path):
    board = str(tmp_path / "registry.db")
    if request.param == "postgres":
        board = request.getfixturevalue("postgres_url")
    with company(tmp_path, board) as made:
        yield made


def run(person) -> str:
    return person.does("run", "greet", "--arg", "name=Ada").strip()


def found(person) -> dict[str, str]:
    """The version of each place where a search over all tiers finds the tool."""
    said = ("search", "greet somebody by name", "--tier", "all", "--threshold", "0")
    hits = person.tells(*said)["hits"]
    [hit] = [each for each in hits if each["id"] == "tools:paper:greet"]
    assert hit["signed"] == "trusted" or hit["tier"] == "project"
    return {place["tier"]: place["version"] for place in hit["places"]}


def test_published_by_one_found_pulled_and_run_by_all_and_changed_and_published_again(firm):
    ada, bob, eve = firm.people
    ada.write(GREET)
    told = ada.tells("publish", PATH, "--version", "1.0.0", "--changelog", "First.")
    assert (told["state"], told["latest"]) == ("published", "1.0.0")
    for person in (bob, eve):
        assert found(person) == {"registry": "1.0.0"}
        [pulled] = person.tells("pull", "greet")["items"]
        assert (pulled["state"], pulled["reference"]) == ("pulled", REFERENCE)
        assert run(person) == "hello Ada"
        assert found(person) == {"project": "1.0.0", "registry": "1.0.0"}
    bob.write(POLITE)
    code, _, err = bob.says("publish", PATH, "--version", "1.1.0")
    assert code != 0
    assert "no key to sign with" in err
    ada.write(POLITE)
    ada.does("publish", PATH, "--version", "1.1.0")
    for person in (bob, eve):  # the next question already is answered with it
        assert found(person)["registry"] == "1.1.0"
        shelf = person.tells("versions", REFERENCE)
        assert [each["number"] for each in shelf["versions"]] == ["1.1.0", "1.0.0"]
        assert shelf["latest"] == "1.1.0"
    [pulled] = eve.tells("pull", "greet")["items"]
    assert (pulled["state"], pulled["before"], pulled["version"]) == ("updated", "1.0.0", "1.1.0")
    assert run(eve) == "good day Ada"
    [pulled] = bob.tells("pull", "greet")["items"]  # what he wrote happens to be the same
    assert pulled["version"] == "1.1.0"
    assert run(bob) == "good day Ada"
    code, _, err = bob.says("yank", REFERENCE, "1.1.0")
    assert (code, "not yours to change" in err) == (13, True)
    ada.does("yank", REFERENCE, "1.1.0", "--reason", "too polite")
    [pulled] = eve.tells("pull", "greet")["items"]
    assert pulled["version"] == "1.0.0"
    assert run(eve) == "hello Ada"
    lines = {each["number"]: each for each in eve.tells("versions", REFERENCE)["versions"]}
    assert lines["1.0.0"]["download_count"] == 3
    assert lines["1.1.0"]["yank_reason"] == "too polite"


def sound(firm) -> None:
    """Nothing half-done on the registry, and everything as ever in the projects."""
    firm.registry.does("doctor", "--board", firm.registry.board)
    for person in firm.people:
        assert "paper" in person.does("search", "fold paper", "--limit", "1")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A company whose registry is killed again and again; each test has a tool of its own."""
    folder = tmp_path_factory.mktemp("company")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PEGBOARD_REGISTRY_URL", raising=False)
        with company(folder, str(folder / "registry.db")) as made:
            yield made


def published(firm, name: str, version: str, text: str) -> tuple[int, str]:
    ada = firm.people[0]
    path = f".ai/tools/paper/{name}.py"
    write(ada.folder, {path: text})
    code, _, err = ada.says("publish", path, "--version", version, "--no-report")
    return code, err


def greeting(person, name: str) -> str:
    return person.does("run", f"tools:paper:{name}", "--arg", "name=Ada").strip()


CUTS = [("there", 1), ("there", 2_500), ("back", 1), ("back", 700)]
each_cut = pytest.mark.parametrize("cut", CUTS, ids=lambda cut: f"{cut[0]}-{cut[1]}")


@each_cut
def test_a_registry_that_dies_while_somebody_publishes(killed, cut):
    _, bob, _ = killed.people
    name = f"published_{cut[0]}_{cut[1]}"
    assert published(killed, name, "1.0.0", GREET)[0] == 0
    killed.wire.cut_after(*cut)
    code, err = published(killed, name, "1.1.0", POLITE)
    if killed.wire.was_cut.is_set():
        assert code != 0
        assert "error:" in err
        assert "Traceback" not in err
    sound(killed)
    killed.again()
    shelf = bob.tells("versions", f"team-a/tools:paper:{name}")
    assert [each["number"] for each in shelf["versions"]] in (["1.0.0"], ["1.1.0", "1.0.0"])
    assert published(killed, name, "1.1.0", POLITE)[0] == 0
    [pulled] = bob.tells("pull", f"team-a/tools:paper:{name}")["items"]
    assert pulled["version"] == "1.1.0"
    assert greeting(bob, name) == "good day Ada"


@each_cut
def test_a_registry_that_dies_while_somebody_pulls(killed, cut):
    _, bob, _ = killed.people
    name = f"pulled_{cut[0]}_{cut[1]}"
    reference, place = f"team-a/tools:paper:{name}", bob.folder / f".ai/tools/paper/{name}.py"
    assert published(killed, name, "1.0.0", GREET)[0] == 0
    bob.does("pull", reference)
    lock = (bob.folder / "pegboard.lock").read_text()
    assert published(killed, name, "1.1.0", POLITE)[0] == 0
    killed.wire.cut_after(*cut)
    code, _, err = bob.says("pull", reference)
    if killed.wire.was_cut.is_set() and code:
        assert "error:" in err
        assert "Traceback" not in err
        assert place.read_text() == GREET
        assert (bob.folder / "pegboard.lock").read_text() == lock
        assert greeting(bob, name) == "hello Ada"
    sound(killed)
    killed.again()
    assert bob.tells("pull", reference)["items"][0]["version"] == "1.1.0"
    assert greeting(bob, name) == "good day Ada"


def test_without_its_registry_everybody_goes_on_with_what_is_here(killed):
    ada, bob, _ = killed.people
    assert published(killed, "greet", "1.0.0", GREET)[0] == 0
    bob.does("pull", REFERENCE)
    killed.registry.kill()
    for command in (("pull", REFERENCE), ("pull",), ("yank", REFERENCE, "1.0.0")):
        code, _, err = bob.says(*command)
        assert code == 4, err
        assert "cannot be reached" in err
    code, _, err = ada.says("publish", PATH, "--version", "1.1.0", "--json")
    assert code == 4
    assert "cannot be reached" in json.loads(err)["error"]["message"]
    sound(killed)
    assert run(bob) == "hello Ada"
    killed.again()
