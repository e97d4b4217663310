"""The page's table of routes."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from pegboard.serve.http.gateway import Gateway
from pegboard.serve.web import (
    acting,
    audit,
    categories,
    changes,
    comparing,
    items,
    registry,
    rejections,
    searching,
    signing_in,
    sources,
    status,
)
from pegboard.serve.web.paths import HOME, SIGN_IN
from pegboard.serve.web.static import static_file
from pegboard.serve.web.visits import nothing_here, served


async def home(request: Request) -> Response:
    return RedirectResponse(HOME)


def web_routes(gateway: Gateway) -> list[BaseRoute]:
    return [
        Route("/", home),
        Route("/ui", home),
        Route("/ui/static/{name}", static_file),
        served(gateway, "/ui/", get=searching.search),
        served(gateway, "/ui/items/{id:path}", get=items.show, post=acting.act),
        served(gateway, "/ui/categories", get=categories.browse),
        served(gateway, "/ui/compare/{id:path}", get=comparing.compare),
        served(gateway, "/ui/registry", get=registry.show),
        served(gateway, "/ui/audit", get=audit.show),
        served(gateway, "/ui/sources", get=sources.show, post=sources.act),
        served(gateway, "/ui/rejections", get=rejections.show),
        served(gateway, "/ui/changes", get=changes.show, post=changes.approve),
        served(gateway, "/ui/status", get=status.show, post=status.act),
        Route(SIGN_IN, signing_in.ask),
        served(gateway, "/ui/{rest:path}", get=nothing_here, post=nothing_here),
    ]
