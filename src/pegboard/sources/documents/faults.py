"""What can be wrong with a reference from one document to another."""

from pegboard.sources.unfit import Unfit


class BadReference(Unfit):
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
