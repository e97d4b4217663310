"""Puts two items at a time on a board, each pair in one transaction, until it is told to stop.

After each pair it says how many there are.
"""

import select
import sys

from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import Item, ItemId
from pegboard.store.opening import open_store


def pair(number: int) -> list[Item]:
    return [
        Item(
            id=ItemId(f"written:pairs:{half}_{number}"),
            name=f"{half}_{number}",
            category="pairs",
            description=f"The {half} half of pair {number}.",
            source="written",
        )
        for half in ("left", "right")
    ]


def main() -> None:
    store = open_store(sys.argv[1])
    target = HashedEmbedder().fingerprint
    number = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        store.items.put(pair(number), target)
        number += 1
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main()
