"""A person asked, through the agent's client, before something is run.

Newer clients are sent the question as the answer to their call, and call again with what the person
said; older ones are asked while the call waits.
"""

import hashlib
from typing import NamedTuple

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import (
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from pegboard.model.calls import Role
from pegboard.serve.mcp.table import Asked

ANSWER_SECONDS = 600.0
"""So long a person has to say something."""

NOBODY = "nobody was there to approve it: this client cannot ask a person"
NOT_YOURS = "only the role author can approve it"
UNANSWERED = "nobody answered"
DECLINED = "a person did not approve it"

_APPROVE = "approve"
_SCHEMA = {
    "type": "object",
    "properties": {
        _APPROVE: {"type": "boolean", "title": "Run it", "description": "Whether it may be run."}
    },
    "required": [_APPROVE],
}
_CAN_ASK = ClientCapabilities(elicitation=ElicitationCapability())


class Approval(NamedTuple):
    approved: bool
    refusal: str = ""


NOT_NEEDED = Approval(False)


async def approval(asked: Asked, question: str, mark: str) -> Approval | InputRequiredResult:
    """`mark` is another one for any other call: an answer counts for exactly one."""
    session = asked.context.session
    if not asked.board.caller.role.covers(Role.AUTHOR):
        return Approval(False, NOT_YOURS)
    if not session.check_client_capability(_CAN_ASK):
        return Approval(False, NOBODY)
    params = ElicitRequestFormParams(message=question, requested_schema=_SCHEMA)
    if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
        seen = hashlib.sha256(f"{mark} {question}".encode()).hexdigest()
        key = f"{_APPROVE}-{seen[:32]}"
        answer = (asked.responses or {}).get(key)
        if isinstance(answer, ElicitResult):
            return _said(answer)
        return InputRequiredResult(input_requests={key: ElicitRequest(params=params)})
    try:
        with anyio.fail_after(ANSWER_SECONDS):
            return _said(await session.elicit_form(question, _SCHEMA, asked.context.request_id))
    except TimeoutError:
        return Approval(False, UNANSWERED)
    except MCPError as error:
        return Approval(False, f"nobody could be asked: {error.message}")


def _said(answer: ElicitResult) -> Approval:
    yes = answer.action == "accept" and (answer.content or {}).get(_APPROVE) is True
    return Approval(yes, "" if yes else DECLINED)
