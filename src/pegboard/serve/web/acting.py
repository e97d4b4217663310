"""What is sent from an item's page: a decision about it, or a call of it."""

from functools import partial

from starlette.responses import Response

from pegboard.serve.web.editing import decide
from pegboard.serve.web.trying import attempt
from pegboard.serve.web.visits import Visit


async def act(visit: Visit) -> Response:
    if visit.form.text("do") == "call":
        return await attempt(visit)
    return await visit.gateway.threads.run_to_end(partial(decide, visit))
