"""Templates filled: whatever stands in a value comes out as text that a reader can see."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response

from pegboard.gate.characters import visible
from pegboard.serve.web.static import static_url

MEDIA_TYPE = "text/html; charset=utf-8"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def _shown(value: object) -> object:
    """Hidden characters are written out: they could make a text seem to be another one."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _exact(text: str) -> Markup:
    """For what is sent back as it is: the value of a field."""
    return escape(text)


_environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_shown,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_environment.filters["exact"] = _exact
_environment.globals["static"] = static_url


def rendered(template: str, code: int = 200, **values: object) -> Response:
    text = _environment.get_template(template).render(values)
    return Response(text.encode("utf-8", "replace"), code, HEADERS, media_type=MEDIA_TYPE)
