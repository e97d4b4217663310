"""Where one says who one is, with a token; what becomes of it is decided elsewhere."""

from starlette.requests import Request
from starlette.responses import Response

from pegboard.serve.http.access import safe_next
from pegboard.serve.web.paths import SIGN_IN, with_query
from pegboard.serve.web.rendering import rendered
from pegboard.serve.web.visits import NOBODY


async def ask(request: Request) -> Response:
    return form(request, "", 200)


def form(request: Request, wrong: str, code: int) -> Response:
    """The page to sign in on, with what was wrong at the last try."""
    wanted = safe_next(request.query_params.get("next", ""))
    here = with_query(SIGN_IN, [("next", wanted)])  # so that it is known at the next try, too
    return rendered("sign-in.html", code, frame=NOBODY, action=here, next=wanted, wrong=wrong)
