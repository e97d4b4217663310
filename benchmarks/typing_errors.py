"""A tool is asked for by the words of its name, one of them misspelled by one random edit.

A try counts as found if a tool of that name is among the first five. The threshold is 0.
"""

import json
import random
import string
from pathlib import Path
from typing import NamedTuple

from boards import SEED, board_file, filled, folder_for
from pegboard import Pegboard
from pegboard.board.measure.evaluating import EVALUATED
from pegboard.text import name_key, spoken
from report import at_least, mean, options, save

SET = "bfcl"
MODES = ("hybrid", "fuzzy", "bm25")
SHORTEST = 4
"""Words of fewer letters are left as they are."""
OF_THE_CLEAN = 0.9


class Try(NamedTuple):
    name: str
    edit: str
    clean: str
    misspelled: str


def main() -> None:
    found = options(__doc__)
    found.add_argument("--keep", type=Path, help="folder where the board is kept")
    found.add_argument("--tries", type=int, default=500, help="queries (%(default)s)")
    args = found.parse_args()
    catalogue = args.data / "retrieval" / SET / "tools.jsonl"
    lines = catalogue.read_text("utf-8").splitlines()
    tries = made([json.loads(line)["name"] for line in lines if line.strip()], args.tries)
    with folder_for(args.keep) as folder, filled(catalogue, board_file(folder, SET)) as board:
        table = {mode: measure(board, tries, mode) for mode in MODES}
    hybrid = table["hybrid"]
    save(
        args,
        "typing_errors",
        {
            "checks": {
                "misspelled / clean, hybrid": at_least(
                    hybrid["misspelled"] / hybrid["clean"], OF_THE_CLEAN
                )
            },
            "tries": len(tries),
            "recall@5": table,
            "examples": [f"{each.clean} -> {each.misspelled}" for each in tries[:5]],
        },
    )


def made(names: list[str], wanted: int) -> list[Try]:
    chance = random.Random(SEED)
    usable = [name for name in dict.fromkeys(names) if editable(spoken(name).split())]
    return [misspelled(name, chance) for name in chance.choices(usable, k=wanted)]


def editable(words: list[str]) -> list[int]:
    return [n for n, word in enumerate(words) if len(word) >= SHORTEST and word.isalpha()]


def misspelled(name: str, chance: random.Random) -> Try:
    words = spoken(name).split()
    place = chance.choice(editable(words))
    edit, word = "", words[place]
    while word == words[place]:
        edit = chance.choice(("insert", "delete", "substitute", "swap"))
        word = edited(words[place], edit, chance)
    wrong = " ".join((*words[:place], word, *words[place + 1 :]))
    return Try(name, edit, " ".join(words), wrong)


def edited(word: str, edit: str, chance: random.Random) -> str:
    at, letter = chance.randrange(len(word)), chance.choice(string.ascii_lowercase)
    if edit == "insert":
        return word[:at] + letter + word[at:]
    if edit == "delete":
        return word[:at] + word[at + 1 :]
    if edit == "substitute":
        return word[:at] + letter + word[at + 1 :]
    return word[:at] + word[at : at + 2][::-1] + word[at + 2 :]


def measure(board: Pegboard, tries: list[Try], mode: str) -> dict[str, float]:
    wrong = [found(board, each, each.misspelled, mode) for each in tries]
    edits = sorted({each.edit for each in tries})
    return {
        "clean": mean([found(board, each, each.clean, mode) for each in tries]),
        "misspelled": mean(wrong),
    } | {
        edit: mean([value for value, each in zip(wrong, tries, strict=True) if each.edit == edit])
        for edit in edits
    }


def found(board: Pegboard, each: Try, query: str, mode: str) -> float:
    hits = board.search(query, mode=mode, limit=5, threshold=0.0, filters=EVALUATED).hits
    return float(name_key(each.name) in {name_key(hit.name) for hit in hits})


if __name__ == "__main__":
    main()
