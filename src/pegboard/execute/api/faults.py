"""Why a call ends before its answer."""

from pegboard.model.calls import Outcome


class Refused(Exception):
    """The call is not made, or not made to its end."""

    def __init__(self, outcome: Outcome, error: str) -> None:
        super().__init__(error)
        self.outcome = outcome
        self.error = error


def brief(text: str, most: int = 200) -> str:
    """To be named in a message: whole or not at all, so that a secret in it is recognised."""
    return ascii(text) if len(text) <= most else f"a text of {len(text):,} characters"


def invalid(error: str) -> Refused:
    return Refused(Outcome.INVALID_ARGUMENTS, error)


def unavailable(error: str) -> Refused:
    return Refused(Outcome.UNAVAILABLE, error)


def failed(error: str) -> Refused:
    return Refused(Outcome.FAILED, error)
