"""What every request must be, whoever sends it, and what every answer tells a browser.

A browser sends requests for any page that it shows. So a request that does not come from our own
page, though it comes from a browser, is refused before anybody looks at who asks.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.config.settings import ServeSettings
from pegboard.gate.characters import visible
from pegboard.serve.http.problems import Declined
from pegboard.serve.http.sessions import COOKIE
from pegboard.serve.http.site import Site, site_of

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OF_OURS = frozenset({"same-origin", "none"})
"""Sites from which a browser may ask: a page of ours, or the person, by typing or a bookmark."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`: with it, browsers send forms of our own page with the origin `null`.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Nearly everything depends on who asks. What does not says so itself.
    "Cache-Control": "no-store",
}
HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
_SHOWN = 80


def guarded(app: ASGIApp, settings: ServeSettings) -> "Guard":
    """The application behind its guard. Raises `ConfigError`."""
    return Guard(app, site_of(settings))


class Guard:
    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site
        self._headers = HEADERS | (HTTPS if site.https else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # nothing here speaks it
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            await self._app(scope, receive, sent)
        else:
            await refused.response()(scope, receive, sent)

    def _refused(self, scope: Scope) -> Declined | None:
        headers = Headers(scope=scope)
        if not self._site.reached(scope):
            said = ", ".join(_shown(each) for each in headers.getlist("host")) or "no host"
            return Declined(
                "wrong_host",
                f"this gateway is not reached as {said}",
                "if it should be, set serve.public_url or serve.hosts",
            )
        if not self._from_here(scope, headers):
            said = ", ".join(_shown(each) for each in headers.getlist("origin")) or "another site"
            return Declined(
                "wrong_origin",
                f"a page of {said} may not use this gateway",
                "call it from a program, or from its own page",
            )
        return None

    def _from_here(self, scope: Scope, headers: Headers) -> bool:
        origins, site = headers.getlist("origin"), headers.get("sec-fetch-site")
        own = len(origins) == 1 and self._site.owns(origins[0], scope)
        if origins and not own:
            return False
        if site is not None and site not in OF_OURS:
            # A link on another page may lead here, and then does no more than open a page.
            followed = headers.get("sec-fetch-mode") == "navigate" and scope["method"] == "GET"
            return followed and headers.get("sec-fetch-dest") == "document"
        if scope["method"] in SAFE or not any(COOKIE in each for each in headers.getlist("cookie")):
            return True
        # A browser adds the cookie by itself: whose page it was has to be said.
        return own or site == "same-origin"


def _shown(text: str) -> str:
    return repr(visible(text)[:_SHOWN])
