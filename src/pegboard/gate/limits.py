"""How much of anything the gate lets in."""

from typing import NamedTuple


class Limits(NamedTuple):
    name: int = 200
    title: int = 300
    id: int = 512
    description: int = 100_000
    body: int = 1_000_000
    entry: int = 2_000
    list_items: int = 100
    links: int = 1_000
    object_bytes: int = 1_000_000
    object_depth: int = 40
    document_bytes: int = 1_000_000
    """Of a manifest or a Markdown file."""
    values: int = 50_000
    """Of a YAML document, with what aliases repeat."""
    elements: int = 10_000
    """Of the XML in a directive."""
    files: int = 200
    files_bytes: int = 20_000_000
    """All files of an item together."""
