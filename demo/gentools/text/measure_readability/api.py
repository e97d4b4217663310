import re


def run(text: str) -> dict[str, float | str]:
    """Estimate how hard an English text is to read.

    Computes the Flesch reading ease and the Flesch-Kincaid school grade from sentence length
    and syllable counts.

    Args:
        text: At least a few sentences of English prose.

    Returns:
        "ease" (higher is easier), "grade" and a verbal "level".
    """
    words = re.findall(r"[A-Za-z']+", text)
    if not words:
        raise ValueError("the text has no words")
    sentences = max(1, len(re.findall(r"[.!?]+(?=\s|$)", text)))
    syllables = sum(_syllables(word.lower()) for word in words)
    length, weight = len(words) / sentences, syllables / len(words)
    ease = 206.835 - 1.015 * length - 84.6 * weight
    level = "easy" if ease >= 70 else "plain" if ease >= 50 else "difficult"
    grade = 0.39 * length + 11.8 * weight - 15.59
    return {"ease": round(ease, 1), "grade": round(grade, 1), "level": level}


def _syllables(word: str) -> int:
    groups = len(re.findall(r"[aeiouy]+", word))
    silent = word.endswith("e") and not word.endswith("le")
    return max(1, groups - silent)
