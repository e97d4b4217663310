"""LightAPI descriptions, version 0.1.0 of their specification (docs/reference/lightapi.md)."""
