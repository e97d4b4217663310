import re
from urllib.parse import urlsplit


def run(text: str, domain: str | None = None) -> list[str]:
    """Collect every web address found in a document, in order and without repeats.

    Args:
        text: Plain text, Markdown or HTML to look through.
        domain: Keep only addresses on this host or one of its subdomains.

    Returns:
        The http and https addresses.
    """
    found = re.findall(r"https?://[^\s<>\"'\])}]+", text)
    links = dict.fromkeys(link.rstrip(".,;:!?") for link in found)
    if domain is None:
        return list(links)
    suffix = "." + domain.lower()
    return [link for link in links if f".{urlsplit(link).hostname or ''}".endswith(suffix)]
