"""Problems that a gateway tells of, as the errors that they were there."""

from collections.abc import Iterator, Mapping

from pegboard.errors import BoardUnreachable, NotAllowed, NotSignedIn, PegboardError, TooMany

BY_STATUS: dict[int, type[PegboardError]] = {401: NotSignedIn, 403: NotAllowed, 429: TooMany}
"""For what stands before a gateway, and has no code of ours to tell."""

SIGN_IN = (
    "give a token in PEGBOARD_TOKEN, for the registry in PEGBOARD_REGISTRY_TOKEN, or with"
    " --token-file; it is made where the board is, with: pegboard token new"
)


def error_of(status: int, problem: Mapping[str, object]) -> PegboardError:
    """The error of the same class; of one that is not known here, at least what it says."""
    code = str(problem.get("code", ""))
    kind = KINDS.get(code) or BY_STATUS.get(status, PegboardError)
    message = str(problem.get("detail") or problem.get("title") or f"the gateway says {status}")
    hint = str(problem.get("hint", ""))
    if kind is NotSignedIn:
        hint = SIGN_IN
    return kind(message, hint)


def refusal(address: str, status: int) -> PegboardError:
    """For an answer that is no problem of a gateway's own."""
    if status == 401:
        return NotSignedIn(f"{address} asks for a token, or takes none like this", SIGN_IN)
    if kind := BY_STATUS.get(status):
        return kind(f"{address} answers with {status}", "ask whoever runs it, or try again later")
    if status >= 500:
        return BoardUnreachable(
            f"{address} answers with {status}", "the gateway may be starting; try again in a moment"
        )
    return no_gateway(address, f"it answers with {status}")


def no_gateway(address: str, why: str) -> BoardUnreachable:
    return BoardUnreachable(
        f"there is no Pegboard gateway at {address}: {why}",
        "give the address that `pegboard serve` tells, without /ui or /mcp behind it",
    )


def other_gateway(address: str, why: str) -> BoardUnreachable:
    """A gateway says itself that it has no such path."""
    return BoardUnreachable(
        f"there is no Pegboard gateway at {address} that knows this: {why}",
        "give the address that `pegboard serve` tells, without /ui or /mcp behind it; "
        "if it is that, the gateway is of another version: compare with pegboard doctor --gateway",
    )


def _kinds(kind: type[PegboardError]) -> Iterator[type[PegboardError]]:
    """Those of the tree; what a room derives from them for itself is no code that is told."""
    yield kind
    for each in kind.__subclasses__():
        if each.__module__ == PegboardError.__module__:
            yield from _kinds(each)


KINDS = {kind().code: kind for kind in _kinds(PegboardError)}
