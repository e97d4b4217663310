"""The JSON Schema of tool.yaml, for editors and for the gate itself."""

from pathlib import Path


def schema_text() -> str:
    return Path(__file__).with_name("tool.schema.json").read_text("utf-8")
