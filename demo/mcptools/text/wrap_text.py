import re
import textwrap


def run(text: str, width: int = 72, indent: str = "") -> str:
    """Reflow paragraphs so that no line exceeds a given width.

    Blank lines between paragraphs are kept, long words stay whole.

    Args:
        text: Paragraphs separated by blank lines.
        width: Longest line allowed, in characters.
        indent: Prefix for each line, for instance "> " to quote an e-mail.

    Returns:
        The reflowed text.
    """
    wrapper = textwrap.TextWrapper(
        width=width, initial_indent=indent, subsequent_indent=indent, break_long_words=False
    )
    paragraphs = re.split(r"\n\s*\n", text.strip())
    blank = f"\n{indent.rstrip()}\n"
    return blank.join(wrapper.fill(" ".join(part.split())) for part in paragraphs)
