"""LightAPI descriptions, version 0.1.0 of their specification (docs/lightapi.md)."""
