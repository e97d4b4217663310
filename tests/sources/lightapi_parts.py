"""LightAPI descriptions in one line, and what the source makes of them."""

import json
from pathlib import Path
from typing import Any

from pegboard.model.items import Candidate, Finding, Rejection
from pegboard.sources.lightapi.source import LightApiSource

PARCELS = Path(__file__).parent / "parcels.lightapi.yaml"
INFO = {"title": "Parcels", "namespace": "courier", "version": "1.0.0"}
DEPOT = {"type": "mcp", "transport": "sse", "version": "1.0.0"}
HTTP = {"protocol": "http", "method": "GET", "endpoint": "https://courier.example/parcels"}


def described(*operations: object, **sections: object) -> dict[str, Any]:
    """A document with these operations, called first, second and so on."""
    names = ("first", "second", "third")
    return {
        "lightapi": "0.1.0",
        "info": INFO,
        "operations": dict(zip(names, operations, strict=False)),
        **sections,
    }


def scan(document: object, folder: Path, known: dict[str, str] | None = None) -> list[Finding]:
    path = folder / "parcels.lightapi.json"
    text = document if isinstance(document, str | bytes) else json.dumps(document, indent=1)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(LightApiSource("parcels", str(path)).scan(known or {}))


def fields_of(operation: object, folder: Path, **sections: object) -> dict[str, Any]:
    [found] = scan(described(operation, **sections), folder)
    assert isinstance(found, Candidate), found
    return dict(found.fields)


def rejection_of(operation: object, folder: Path, **sections: object) -> Rejection:
    [found] = scan(described(operation, **sections), folder)
    assert isinstance(found, Rejection), found
    return found
