import logging

import pytest

from making import make_vector
from pegboard.embed import cache
from pegboard.embed.cache import VectorCache

VECTOR = make_vector(0.6, 0.8)


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_was_put_is_there_and_nothing_else(tmp_path):
    kept = VectorCache(tmp_path, "model")
    kept.put("a letter", VECTOR)
    assert kept.get("a letter") == VECTOR
    assert kept.get("a parcel") is None
    assert VectorCache(tmp_path, "model").get("a letter") == VECTOR
    assert VectorCache(tmp_path, "another").get("a letter") is None


def test_texts_are_not_readable_in_it(tmp_path):
    VectorCache(tmp_path, "model").put("a letter", VECTOR)
    [path] = files(tmp_path)
    assert b"letter" not in path.read_bytes() + str(path).encode()
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:-1] + b"x"])
def test_a_damaged_entry_is_dropped_and_can_be_made_again(tmp_path, damage, caplog):
    kept = VectorCache(tmp_path, "model")
    kept.put("a letter", VECTOR)
    [path] = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert kept.get("a letter") is None
    assert "damaged" in caplog.text
    assert files(tmp_path) == []
    kept.put("a letter", VECTOR)
    assert kept.get("a letter") == VECTOR


def test_an_entry_in_the_place_of_another_is_dropped(tmp_path):
    kept = VectorCache(tmp_path, "model")
    kept.put("a letter", VECTOR)
    [letter] = files(tmp_path)
    kept.put("a parcel", make_vector(1.0, 0.0))
    [parcel] = [path for path in files(tmp_path) if path != letter]
    parcel.write_bytes(letter.read_bytes())
    assert kept.get("a parcel") is None


def test_a_cache_that_cannot_be_written_is_done_without_and_says_so_once(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    (tmp_path / "file").write_text("not a folder")
    kept = VectorCache(tmp_path / "file", "model")
    for text in ("a", "b"):
        kept.put(text, VECTOR)
        assert kept.get(text) is None
    assert len(caplog.records) == 1


def test_a_folder_that_is_full_loses_its_oldest(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "FOLDER_BYTES", 200)
    monkeypatch.setattr(VectorCache, "_path", lambda self, text: tmp_path / "00" / f"000{text}")
    kept = VectorCache(tmp_path, "model")
    for number in range(50):
        kept.put(f"{number:04}", VECTOR)
        assert sum(path.stat().st_size for path in files(tmp_path)) <= 200
        assert kept.get(f"{number:04}") == VECTOR
    assert kept.get("0000") is None


def test_most_entries_are_put_without_a_look_at_the_folder(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(cache, "_prune", looked.append)
    kept = VectorCache(tmp_path, "model")
    for number in range(320):
        kept.put(f"text {number}", VECTOR)
    assert 5 < len(looked) < 50
