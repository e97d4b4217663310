import re
from collections import Counter


def run(text: str, top: int = 5) -> dict[str, int | dict[str, int]]:
    """Count words, characters, sentences and lines in a piece of text.

    The most frequent words are listed as well, which helps to spot repetition.

    Args:
        text: Text to measure.
        top: How many of the most frequent words to include.

    Returns:
        The totals, and under "frequent" the commonest words with their counts.
    """
    words = re.findall(r"[^\W_]+(?:['\u2019-][^\W_]+)*", text.lower())
    return {
        "words": len(words),
        "characters": len(text),
        "sentences": len(re.findall(r"[.!?]+(?=\s|$)", text)),
        "lines": len(text.splitlines()),
        "frequent": dict(Counter(words).most_common(top)),
    }
