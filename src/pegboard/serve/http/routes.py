"""The gateway's table of routes, put together from those of each subject."""

from pegboard.serve.http import (
    calling,
    changes,
    creating,
    editing,
    events,
    health,
    items,
    loose_links,
    mcp,
    myself,
    registry,
    releasing,
    runtime,
    searching,
    sources,
    upkeep,
    versions,
)
from pegboard.serve.http.table import Route

ROUTES: tuple[Route, ...] = (
    *health.ROUTES,
    *searching.ROUTES,
    *items.ROUTES,
    *versions.ROUTES,
    *editing.ROUTES,
    *creating.ROUTES,
    *registry.ROUTES,
    *releasing.ROUTES,
    *calling.ROUTES,
    *changes.ROUTES,
    *sources.ROUTES,
    *upkeep.ROUTES,
    *runtime.ROUTES,
    *loose_links.ROUTES,
    *myself.ROUTES,
    *events.ROUTES,
    *mcp.ROUTES,
)
