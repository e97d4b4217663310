"""Which gateway is to be asked, if any, and what it is shown to be let in."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pegboard.config.aliases import GATEWAY, INSECURE, REGISTRY_TOKEN, TOKEN, switch
from pegboard.errors import ConfigError, UsageError

BOARD = "PEGBOARD_BOARD"
LONGEST_TOKEN = 16_000
"""Letters: those of identity providers can be long."""
SUCH_AS = "it is such as https://tools.example.com or http://127.0.0.1:8420"


class GatewayPlace(NamedTuple):
    """A gateway, and what it is shown to be let in."""

    address: str
    """Without a slash at its end."""
    token: str = ""
    insecure: bool = False
    """Whether it may be asked without TLS, although it is not on this machine."""

    def __repr__(self) -> str:
        return f"GatewayPlace({self.address!r})"


def gateway_place(
    environ: Mapping[str, str],
    *,
    gateway: str | None = None,
    board: str | None = None,
    token_file: Path | None = None,
) -> GatewayPlace | None:
    """The gateway that is to be asked; None if it is a board here.

    A flag goes before variables, and two that say different things at the same place are refused.
    """
    if gateway is not None and not gateway.strip():
        raise UsageError("--gateway is empty", SUCH_AS)
    if gateway and board:
        raise UsageError(
            "--board and --gateway do not go together: one is a board here, the other elsewhere",
            "leave out one of them",
        )
    address = gateway or ("" if board else environ.get(GATEWAY, ""))
    if not address:
        if token_file:
            raise UsageError(
                "--token-file is for a gateway", f"give --gateway URL, or set {GATEWAY}"
            )
        return None
    if not gateway and environ.get(BOARD):
        raise ConfigError(
            f"{GATEWAY} is {address!r}, and {BOARD} is {environ[BOARD]!r}; which of them is meant?",
            "unset one of them, or say --gateway or --board",
        )
    token = _read_token(token_file) if token_file else environ.get(TOKEN, "")
    return GatewayPlace(_checked_address(address), _checked_token(token), switch(environ, INSECURE))


def registry_gateway(environ: Mapping[str, str], address: str, token_file: str) -> GatewayPlace:
    """The registry, where it is behind a gateway. Its token is shown to no other gateway."""
    try:
        checked = _checked_address(address)
        token = environ.get(REGISTRY_TOKEN, "") or (
            _read_token(Path(token_file)) if token_file else ""
        )
        return GatewayPlace(checked, _checked_token(token), switch(environ, INSECURE))
    except UsageError as error:
        raise ConfigError(f"the registry cannot be asked: {error.message}", error.hint) from error


def _checked_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 (it raises for what is no port)
    except ValueError as error:
        raise UsageError(f"{address!r} is no address of a gateway: {error}", SUCH_AS) from error
    if parts.username or parts.password:
        raise UsageError(
            "the gateway's address has a name or password in it",
            f"give a token in {TOKEN}, or for the registry in {REGISTRY_TOKEN}",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not address.isprintable():
        raise UsageError(f"{address!r} is no address of a gateway", SUCH_AS)
    if parts.query or parts.fragment:
        raise UsageError(f"{address!r} has more than an address in it", SUCH_AS)
    return address.rstrip("/")


def _read_token(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(LONGEST_TOKEN + 2).decode("ascii")
    except OSError as error:
        raise UsageError(f"the token in {file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise UsageError(f"{file} has no token in it", "its only line is the token") from None


def _checked_token(token: str) -> str:
    found = token.strip()
    if len(found) > LONGEST_TOKEN or not all("!" <= letter <= "~" for letter in found):
        raise UsageError(
            "the token is none: it is too long, or has spaces or letters in it that none has",
            "make one where the board is: pegboard token new",
        )
    return found
