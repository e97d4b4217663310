import pytest
from tier_parts import Desk


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A project as the working folder; scores are not held against any bound."""
    folders = [tmp_path / name for name in ("project", "mine", "shared")]
    for folder in folders:
        folder.mkdir()
    (folders[0] / "pegboard.toml").write_text("")
    monkeypatch.chdir(folders[0])
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0")
    monkeypatch.setenv("PEGBOARD_SEARCH_FLOOR", "0")
    monkeypatch.setenv("PEGBOARD_SEARCH_TIER_SECONDS", "60")
    monkeypatch.setenv("PEGBOARD_TRUST_SIGNATURES_REGISTRY", "off")
    return Desk(*folders)


@pytest.fixture
def registry(desk, monkeypatch, postgres_url):
    """A registry in PostgreSQL."""
    monkeypatch.setenv("PEGBOARD_REGISTRY_URL", postgres_url)
    return postgres_url
