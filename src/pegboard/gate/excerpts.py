"""What can be told from a Markdown text: its title, its first paragraph, whom it names."""

import re
from collections.abc import Iterator

LONGEST_EXCERPT = 500
MOST_LINKS = 1_000

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_WIKI = re.compile(
    r"(?<!\\)\[\[([^\[\]|#\n]{1,300})(?:#[^\[\]|\n]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]"
)
_CODE = re.compile(r"`+[^`\n]*`+")
_ID = re.compile(r"`([A-Za-z0-9_.-]+:(?!//)[^\s:`]*:[^\s:`]+)`")


def without_comments(text: str) -> str:
    return _COMMENT.sub("", text)


def title_of(text: str) -> str:
    """The first heading."""
    for line in prose_lines(text):
        if found := _HEADING.fullmatch(line.rstrip()):
            return _unclosed(found[1])
    return ""


def _unclosed(heading: str) -> str:
    """`# Title ##` without the marks at its end; those of `# C#` are its own."""
    bare = heading.rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) else heading


def first_paragraph(text: str) -> str:
    """Of prose: no heading, no code, no comment; on one line, and not too long."""
    held: list[str] = []
    size = 0
    for line in prose_lines(without_comments(text)):
        said = line.strip()
        if said and not _HEADING.fullmatch(line.rstrip()):
            held.append(said)
            size += len(said) + 1
        elif held:
            break
        if size > LONGEST_EXCERPT:
            break
    whole = " ".join(held)
    if len(whole) <= LONGEST_EXCERPT:
        return whole
    return f"{whole[: LONGEST_EXCERPT - 1].rsplit(' ', 1)[0]}…"


def wiki_links(text: str) -> list[str]:
    """Targets of [[target]], [[target|shown]] and [[target#part]], each once, but none in code."""
    lines = (_CODE.sub("", line) for line in prose_lines(without_comments(text)))
    found = (target.strip() for line in lines for target in _WIKI.findall(line))
    return list(dict.fromkeys(target for target in found if target))[:MOST_LINKS]


def ids_in_code(text: str) -> list[str]:
    """Ids such as `tools:ops:deploy`, in backticks, each once."""
    return list(dict.fromkeys(_ID.findall(without_comments(text))))[:MOST_LINKS]


def prose_lines(text: str) -> Iterator[str]:
    """The lines outside fenced code; a fence ends at the next of its kind, at least as long."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence)
            fence = "" if closes and not line.strip().strip(fence[0]) else fence
        elif mark:
            fence = mark[1]
            yield ""
        else:
            yield line
