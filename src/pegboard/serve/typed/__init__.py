"""Typed clients: modules in TypeScript and Python with exactly the tools that were asked for."""
