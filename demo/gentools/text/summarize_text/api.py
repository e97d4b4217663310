import re
from collections import Counter

_COMMON = (
    "a an and are as at be been but by for from had has have he her his i in into is it its not "
    "of on or our she so that the their them they this to was we were which will with you"
)


def run(text: str, sentences: int = 3) -> str:
    """Shorten an article to its most important sentences.

    Works extractively: every sentence is scored by how frequent its meaningful words are
    across the whole article, and the best ones are returned in their original order. No
    language model is involved, so the wording is always the author's own.

    Args:
        text: Article or report in English.
        sentences: How many sentences to keep.

    Returns:
        The abridged text.
    """
    common = set(_COMMON.split())
    parts = re.split(r"(?<=[.!?])\s+", text.strip())
    words = [[w for w in re.findall(r"\w+", p.lower()) if w not in common] for p in parts]
    weight = Counter(word for line in words for word in line)
    scores = [sum(weight[word] for word in line) / (len(line) + 4) for line in words]
    best = sorted(range(len(parts)), key=lambda index: -scores[index])[:sentences]
    return " ".join(parts[index] for index in sorted(best))
