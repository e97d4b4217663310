"""The key of a service, by reference: settings, fingerprints and messages never have the key."""

import re
from collections.abc import Mapping
from pathlib import Path

from pegboard.errors import ConfigError, ModelUnavailable

_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:.+", re.DOTALL)
_KEY = re.compile(r"[!-~]+")
"""Nothing else may stand in a header, and the error of a library would show it."""


def check_reference(reference: str) -> None:
    if reference and not _REFERENCE.fullmatch(reference):
        raise ConfigError(
            "embed.api_key is not a reference, and a key has no place there",
            "write env:NAME for a variable or file:PATH for a file that has the key in it",
        )


def look_up(reference: str, environ: Mapping[str, str]) -> str:
    """What the reference stands for now; empty if there is none."""
    if not reference:
        return ""
    way, _, place = reference.partition(":")
    key = (_in_file(place) if way == "file" else environ.get(place, "")).strip()
    if not key:
        raise ModelUnavailable(f"embed.api_key is {reference}, and there is nothing", "set it")
    if not _KEY.fullmatch(key):
        raise ModelUnavailable(f"what embed.api_key names, {reference}, does not look like a key")
    return key


def _in_file(place: str) -> str:
    path = Path(place)
    try:
        return path.expanduser().read_text("utf-8")
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        raise ModelUnavailable(f"the key in {path} cannot be read: {error}") from None
