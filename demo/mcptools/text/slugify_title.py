import re
import unicodedata


def run(title: str, separator: str = "-", max_length: int = 80) -> str:
    """Turn a headline into a short lowercase identifier fit for a URL or file name.

    Args:
        title: Headline in any script with a Latin decomposition.
        separator: Character put between words.
        max_length: Upper bound for the result; words are never cut in half unless a
            single word is longer than that.

    Returns:
        The slug, such as "creme-brulee-in-5-steps".
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = ""
    for word in re.findall(r"[a-z0-9]+", plain):
        longer = f"{slug}{separator}{word}" if slug else word
        if len(longer) > max_length:
            break
        slug = longer
    return slug or plain[:max_length]
