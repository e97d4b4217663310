"""Write the list of proper names that `pegboard.search.services` knows.

A word that tool texts and questions write with a capital letter in the middle of a sentence is a
name: "Jira", but not "box". Other words are told from names by the sentence they stand in.

    python training/proper_names.py --data DATA
"""

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pegboard.search.ranker import stem_weights
from pegboard.search.services import NAMES_FILE
from pegboard.text import stems
from pegboard.verbs import word_set

MID_SENTENCE = re.compile(r"(?<=[a-z,] )[A-Za-z][A-Za-z0-9]{2,}\b")
WORD = re.compile(r"[A-Za-z]+")
FIELDS = ("query", "text", "description")
TITLE_CASE = 0.4
"""A text with a larger share of capitalised words says nothing about single words."""
LEAST_SEEN, OFTEN_SEEN = 3, 25
"""How often a name is seen at least, and how often one whose stem is rare in tool texts."""
MOST_CAPITALS = 3
"""Capital letters of a name, as in "OpenAI"; with more it is an identifier."""
SHARE_LOWER, SHARE_CAPITALS = 0.2, 0.5
"""A name is written in lower case, and in capitals only (an abbreviation), at most this often."""

ORDINARY = word_set(
    """
    advisor amplify anywhere august bay beanstalk bob briefing broadway commander comprehend
    congress converse december detective duck elastic english evidently exascale explorer father
    flutter forge gen glacier glue grab guide hacker horizons hyper ids inspector institute java
    july lens linux los lustre mars marvel mechanical memento mobility october outpost outposts
    personalize pinpoint playground python qualification rails regulation resolver reviewable
    sight sims smith spot substack tony tex uis united unity unreal urls userid users vertex
    victoria viva wars york
    """
)
"""Words that pass the rule and are no services."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    found = proper_names(texts(parser.parse_args().data))
    NAMES_FILE.write_text("".join(f"{name}\n" for name in found), "utf-8")
    print(f"{NAMES_FILE.name}: {len(found)} names")


def texts(data: Path) -> Iterator[str]:
    files = [data / "train" / "pairs.jsonl.gz", *sorted(data.glob("retrieval/*/*.jsonl*"))]
    for path in files:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            rows = map(json.loads, lines)
            values = (row.get(field) for row in rows for field in FIELDS)
            yield from (value for value in values if isinstance(value, str))


def proper_names(found: Iterator[str]) -> list[str]:
    lower, mixed, capitals, joined = (Counter[str]() for _ in range(4))
    for text in set(found):
        said = WORD.findall(text)
        if not said or sum(word[0].isupper() for word in said) > TITLE_CASE * len(said):
            continue
        for word in MID_SENTENCE.findall(text):
            kind = lower if word.islower() else capitals if word.isupper() else mixed
            kind[word.lower()] += 1
            joined[word.lower()] += sum(map(str.isupper, word)) > MOST_CAPITALS
    common = stem_weights().weights
    return sorted(
        word
        for word, times in mixed.items()
        if times >= LEAST_SEEN
        and word not in ORDINARY
        and lower[word] <= SHARE_LOWER * times
        and capitals[word] <= SHARE_CAPITALS * times
        and joined[word] <= SHARE_LOWER * times
        and (times >= OFTEN_SEEN or all(stem in common for stem in stems(word)))
    )


if __name__ == "__main__":
    main()
