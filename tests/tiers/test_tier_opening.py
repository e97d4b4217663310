"""Which boards the other tiers are, and what is said where there is none."""

from pathlib import Path

import pytest

from pegboard.app.pegboard import Pegboard, located
from pegboard.config.places import Tier
from pegboard.errors import BoardMissing, ConfigError
from pegboard.remote.board import RemoteBoard
from pegboard.tiers import open_registry, open_user
from pegboard.tiers.opening import is_users, registry_place, user_place


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pegboard.toml").write_text("")
    monkeypatch.chdir(folder)
    return folder


def test_where_no_registry_is_set_the_setting_is_named(project):
    with pytest.raises(ConfigError, match="no registry") as raised:
        open_registry(located())
    assert "PEGBOARD_REGISTRY_URL" in raised.value.hint


def test_a_registry_in_postgres_is_one_by_its_policy(project, monkeypatch, postgres_url):
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", postgres_url)
    with open_registry(located()) as found:
        assert isinstance(found, Pegboard)
        assert found.place.tiers == (Tier.REGISTRY,)


def test_a_registry_in_a_file_has_the_policy_of_one_all_the_same(project, monkeypatch):
    Pegboard.open("shared.db", create=True).close()
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", "shared.db")
    with open_registry(located()) as found:
        assert isinstance(found, Pegboard)
        assert found.place.board == project / "shared.db"
        assert found.place.tiers == (Tier.REGISTRY,)


def test_a_registry_behind_a_gateway_is_shown_its_own_token_only(project, monkeypatch):
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PEGBOARD_TOKEN", "for-another")
    with open_registry(located()) as found:
        assert isinstance(found, RemoteBoard)
        assert "authorization" not in found.gateway.connection._client.headers
    monkeypatch.setenv("PEGBOARD_REGISTRY_TOKEN", "for-this")
    with open_registry(located()) as found:
        assert found.gateway.connection._client.headers["authorization"] == "Bearer for-this"


def test_a_token_may_be_in_a_file(project, monkeypatch):
    (project / "token").write_text("from-a-file\n")
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PEGBOARD_REGISTRY_TOKEN_FILE", "token")
    with open_registry(located()) as found:
        assert found.gateway.connection._client.headers["authorization"] == "Bearer from-a-file"
    (project / "token").unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        open_registry(located())


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://tools.example.com", "without TLS"),
        ("https://ada:secret@tools.example.com", "name or password"),
        ("https://tools.example.com/?token=secret", "more than an address"),
        ("mysql://tools.example.com/secret", "no board"),
    ],
)
def test_an_address_that_is_not_safe_is_refused_and_tells_no_secret(
    project, monkeypatch, address, said
):
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", address)
    with pytest.raises(ConfigError, match=said) as raised:
        open_registry(located())
    assert "ada:secret" not in str(raised.value)


def test_the_users_own_board_is_in_the_data_folder(project, tmp_path):
    with pytest.raises(BoardMissing, match="no board of your own") as raised:
        open_user(located())
    assert "sync-user" in raised.value.hint
    with open_user(located(), create=True) as made:
        assert Path(made.place.board).is_relative_to(tmp_path / "home")
        assert made.place.tiers == (Tier.USER,)


def test_outside_of_a_project_the_users_board_is_the_one_at_hand(project, tmp_path, monkeypatch):
    assert not is_users(located())
    monkeypatch.chdir(tmp_path)
    assert is_users(located())


def test_large_files_of_a_project_stay_with_it(project):
    (project / "pegboard.toml").write_text('[blobs]\nplace = "large"\n')
    place = located(flags={"registry.url": "shared.db"})
    assert place.blobs.place == str(project / "large")
    assert not registry_place(place).blobs.place
    assert not user_place(place).blobs.place
