"""Sealed codes are derived from the vectors: with them, without them, or old, nothing is lost."""

import apsw
import pytest
from nearest_parts import (
    BLOCK,
    MODEL,
    ask,
    assert_sound,
    crowd,
    drop,
    gauss,
    hang,
    names,
    one,
    opened,
)

from pegboard.store.queries import load, migrations
from pegboard.store.sqlite import opening

CODES = "SELECT coalesce(sum(length(keys)) / 8, 0) FROM code_blocks"
BLOCKS = "SELECT count(*) FROM code_blocks"


def in_batches(store, vectors, size=10):
    every = list(vectors.items())
    for start in range(0, len(every), size):
        hang(store, dict(every[start : start + size]))


# Making blocks.


def test_vectors_are_sealed_as_they_are_hung(board):
    in_batches(board, crowd(100))
    assert (one(board, BLOCKS), one(board, CODES)) == (6, 96)
    assert board.check() == []


def test_blocks_are_made_by_whichever_process_hangs_the_vector_that_completes_one(board, other):
    for n, (name, vector) in enumerate(crowd(BLOCK).items()):
        assert one(board, BLOCKS) == 0
        hang((board, other)[n % 2], {name: vector})
    assert (one(board, BLOCKS), one(board, CODES)) == (1, BLOCK)
    assert board.check() == []


def test_a_transaction_that_fails_seals_nothing(board):
    hang(board, crowd(BLOCK - 1))
    with pytest.raises(apsw.ConstraintError):
        hang(board, {"good": gauss("good"), "bad": None})
    assert one(board, BLOCKS) == 0


def test_blocks_whose_vectors_are_gone_are_dropped_and_sparse_ones_joined(board):
    in_batches(board, vectors := crowd(320))
    drop(board, *[f"t{n}" for n in range(160)], *[f"t{n}" for n in range(160, 320) if n % 4])
    board.tasks.adopt(MODEL)
    assert (one(board, BLOCKS), one(board, CODES)) == (3, 40)
    assert board.check() == []
    assert_sound(
        opened(board.database.path), {f"t{n}": vectors[f"t{n}"] for n in range(160, 320, 4)}
    )


def test_codes_that_are_out_of_date_stay_fewer_than_the_others_however_often_all_is_hung(board):
    for _ in range(10):
        in_batches(board, vectors := crowd(96), 7)
        assert one(board, CODES) <= 2 * 96
    board.tasks.adopt(MODEL)
    assert one(board, CODES) <= 4 * 96 // 3
    assert board.check() == []
    assert_sound(board, vectors)


def test_one_transaction_rewrites_at_most_one_run_of_blocks(board):
    in_batches(board, crowd(160))
    before = set(board.database.rows("SELECT first_seq, codes FROM code_blocks"))
    drop(board, *[f"t{n}" for n in range(160) if n % 2])
    hang(board, {f"new{n}": gauss(("new", n)) for n in range(BLOCK)})
    after = set(board.database.rows("SELECT first_seq, codes FROM code_blocks"))
    assert len(before - after) == 2  # one that was sparse, and the neighbour that fitted in
    assert board.check() == []


# Doing without them.


@pytest.mark.parametrize("which", ["true", "first_seq = 1", "first_seq = 33", "first_seq > 60"])
def test_what_no_block_holds_is_read_from_the_vectors(board, which):
    in_batches(board, vectors := crowd(100))
    board.database.rows(f"DELETE FROM code_blocks WHERE {which}")
    fresh = opened(board.database.path)
    assert_sound(fresh, vectors)
    assert fresh.check() == []


@pytest.mark.parametrize(
    "damage",
    [
        "codes = substr(codes, 2)",
        "keys = substr(keys, 2)",
        "keys = x'', codes = x''",
        "codes = x''",
        "last_seq = first_seq - 1",
        "first_seq = 20",
        "first_seq = 41",
    ],
)
def test_from_a_block_that_is_not_whole_the_vectors_are_read(board, damage):
    in_batches(board, vectors := crowd(100))
    board.database.rows(f"UPDATE code_blocks SET {damage} WHERE first_seq = 33")
    fresh = opened(board.database.path)
    assert_sound(fresh, vectors)


def test_a_block_with_wrong_codes_is_noticed_and_embedding_its_items_again_mends_it(board):
    in_batches(board, vectors := crowd(100))
    board.database.rows(
        "UPDATE code_blocks SET codes = zeroblob(length(codes)) WHERE first_seq = 1"
    )
    assert sorted(board.check()) == sorted(
        f"mcptools:mail:t{n} may be overlooked by meaning; "
        f"embed it again with: pegboard refresh mcptools:mail:t{n}"
        for n in range(BLOCK)
    )
    hang(board, dict(list(vectors.items())[:BLOCK]))
    assert board.check() == []
    assert_sound(opened(board.database.path), vectors)


def test_a_block_full_of_noise_is_noticed_and_harms_no_item_but_its_own(board):
    in_batches(board, vectors := crowd(400))
    noise = "keys = randomblob(length(keys)), codes = randomblob(length(codes))"
    board.database.rows(f"UPDATE code_blocks SET {noise} WHERE first_seq = 33")
    assert len(board.check()) == BLOCK
    fresh = opened(board.database.path)
    for name in list(vectors)[:32] + list(vectors)[48:]:
        assert names(ask(fresh, vectors[name], 3))[0] == name


def test_a_block_that_names_other_items_is_noticed(board):
    in_batches(board, crowd(100))
    board.database.rows("UPDATE code_blocks SET keys = zeroblob(length(keys)) WHERE first_seq = 17")
    assert len(board.check()) == BLOCK


def test_embedding_an_item_again_mends_its_code_as_the_check_says(board):
    in_batches(board, vectors := crowd(100))
    board.database.rows(
        "UPDATE code_blocks SET codes = zeroblob(length(codes)) WHERE first_seq = 1"
    )
    hang(board, {f"t{n}": vectors[f"t{n}"] for n in range(BLOCK)})
    assert board.check() == []
    assert_sound(opened(board.database.path), vectors)


def test_a_vector_that_is_damaged_has_no_code_and_harms_no_other(board):
    in_batches(board, vectors := crowd(95))
    hang(board, {"short": b"\0" * 12})
    assert one(board, CODES) == 95
    [said] = board.check()
    assert said == "mcptools:mail:short has a vector of the wrong length"
    for store in (board, opened(board.database.path)):
        hits = ask(store, vectors["t3"], 3)
        assert names(hits)[0] == "t3"


# Boards from before.


def as_schema_1(path, old):
    """What the first release would have made of this board, but for the text index."""
    connection = apsw.Connection(str(old))
    _, name, text = migrations("sqlite")[0]
    connection.execute(f"PRAGMA application_id = {opening.APPLICATION_ID}")
    connection.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY, name, applied_at)")
    connection.execute("INSERT INTO migrations VALUES (1, ?, 0)", (name,))
    connection.execute(text)
    connection.execute("ATTACH ? AS new", (str(path),))
    for table in ("items", "fingerprints", "vectors"):
        columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
        connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
    connection.close()


def test_a_board_from_before_there_were_codes_keeps_its_vectors_and_is_sealed_in_time(
    board, tmp_path
):
    in_batches(board, vectors := crowd(100))
    everything = "SELECT item_key, source_hash, vector FROM vectors ORDER BY item_key"
    as_schema_1(board.database.path, tmp_path / "old.db")
    migrated = opened(tmp_path / "old.db")
    assert migrated.database.rows(everything) == board.database.rows(everything)
    assert one(migrated, BLOCKS) == 0
    assert_sound(migrated, vectors)
    migrated.tasks.adopt(MODEL)
    assert (one(migrated, BLOCKS), one(migrated, CODES)) == (6, 96)
    assert migrated.database.rows(load("sqlite", "check")["code_missing"]) == []
    assert_sound(opened(tmp_path / "old.db"), vectors)
    hang(migrated, {"late": gauss("late")})
    assert names(ask(migrated, gauss("late"), 1)) == ["late"]
