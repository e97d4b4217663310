"""What a store promises about tokens."""

from collections.abc import Sequence
from typing import Protocol

from pegboard.model.tokens import KeptToken, Token


class Tokens(Protocol):
    """For the owner of the board alone, and for what speaks for the owner.

    Which come and go, and by whom, is in the audit log.
    """

    def add(self, kept: KeptToken, by: str = "") -> bool:
        """False if there is one of this name or id, whatever has become of it."""
        ...

    def find(self, token_id: str) -> KeptToken | None: ...

    def listed(self) -> Sequence[Token]:
        """All there are, expired ones too, in the order of their names."""
        ...

    def remove(self, token_id: str, by: str = "") -> None:
        """It is never good again; nothing happens if there is none."""
        ...

    def used(self, token_id: str, at: float) -> None:
        """Note that it was brought then, unless a later time is noted."""
        ...
