"""What can be wrong with one operation."""


class Refused(Exception):
    """Carries code and reason from where it was noticed to the operation's rejection."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class BadReference(Refused):
    """A `$ref` that leads nowhere, or where it may not lead."""

    code = "bad_reference"

    def __init__(self, reference: object, reason: str) -> None:
        super().__init__(self.code, f"the $ref {_shown(reference)} {reason}")


class Unreadable(BadReference):
    """A `$ref` into a document that cannot be read now; what was made of it before still holds."""

    code = "unreadable"


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 200 else f"{text[:197]}..."
