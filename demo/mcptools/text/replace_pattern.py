import re


def run(
    text: str, pattern: str, replacement: str, ignore_case: bool = False, limit: int = 0
) -> dict[str, str | int]:
    r"""Substitute every match of a regular expression.

    Groups may be referred to as \1 or \g<name> in the replacement.

    Args:
        text: Input to rewrite.
        pattern: Regular expression in Python syntax.
        replacement: What each match becomes.
        ignore_case: Match upper and lower case alike.
        limit: Stop after this many substitutions; 0 means no limit.

    Returns:
        The rewritten text and how many substitutions were made.
    """
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    result, count = re.subn(pattern, replacement, text, count=limit, flags=flags)
    return {"text": result, "substitutions": count}
