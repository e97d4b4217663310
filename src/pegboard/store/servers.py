"""An MCP server's configuration as a row, the same in every store."""

import json

from pegboard.errors import BoardCorrupt
from pegboard.model.calls import ServerConfig, Transport

_APART = ("enabled", "declared_in")
"""Columns of their own."""
_TUPLES = ("args", "include_tools", "exclude_tools")


def config_text(config: ServerConfig) -> str:
    """What is not as it always is, so that a new field changes no old row."""
    said = {
        name: dict(value) if name in ("env", "headers") else value
        for name, value in config._asdict().items()
        if name not in _APART and value != ServerConfig._field_defaults.get(name)
    }
    return json.dumps(said, ensure_ascii=False, sort_keys=True)


def config_from(text: str) -> ServerConfig:
    try:
        said = json.loads(text)
        said |= {name: tuple(said[name]) for name in _TUPLES if name in said}
        return ServerConfig(**said | {"transport": Transport(said["transport"])})
    except (ValueError, TypeError, KeyError) as error:
        raise BoardCorrupt(
            f"the row of an MCP server cannot be read ({error})", "check with: pegboard doctor"
        ) from error
