"""The block `# /// script` in a Python file, which says what it needs (PEP 723).

# /// script
# dependencies = ["httpx>=0.27"]
# ///
"""

from collections.abc import Iterator, Sequence

BEGIN = "# /// script"
END = "///"
LONGEST = 64_000
"""Characters of what stands in it."""


class BadScriptBlock(ValueError):
    """What is wrong with it, and the next step."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def script_block(text: str) -> dict[str, object]:
    """What it says; nothing if the file has none. Raises `BadScriptBlock`."""
    if BEGIN not in text:
        return {}
    lines = [line.rstrip() for line in text.splitlines()]
    if BEGIN not in lines:
        return {}
    if lines.count(BEGIN) > 1:
        raise BadScriptBlock(f"there are two blocks `{BEGIN}`", "keep one")
    block = [*_comment(lines[lines.index(BEGIN) + 1 :])]
    while block and block[-1] != END:
        block.pop()
    if not block:
        raise BadScriptBlock(f"the block `{BEGIN}` has no end", f"close it with `# {END}`")
    said = "\n".join(block[:-1])
    if len(said) > LONGEST:
        raise BadScriptBlock(f"the block `{BEGIN}` is too long", "shorten it")
    import tomllib  # only few files have such a block

    try:
        return tomllib.loads(said)
    except (ValueError, RecursionError) as error:
        raise BadScriptBlock(
            f"the block `{BEGIN}` is not valid TOML ({error})", "correct it"
        ) from error


def _comment(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a comment, without what makes them one, as far as it goes."""
    for line in lines:
        if line != "#" and not line.startswith("# "):
            return
        yield line[2:]
