"""The system's keyring, where it can be had: the package `keyring` is an extra."""

from typing import Any

from pegboard.errors import UsageError

SERVICE = "pegboard"
MISSING = "the system's keyring is not here: the package keyring is not installed"
INSTALL = "install it with: pip install 'pegboard[keyring]', or set a variable of that name"


def look_up(name: str) -> str | None:
    """None if it is not there, or there is no keyring."""
    keyring = _load()
    if keyring is None:
        return None
    try:
        found = keyring.get_password(SERVICE, name)
    except keyring.errors.KeyringError:
        return None
    return str(found) if found else None


def keep(name: str, value: str) -> None:
    keyring = _needed()
    try:
        keyring.set_password(SERVICE, name, value)
    except keyring.errors.KeyringError as error:
        raise UsageError(f"the keyring did not take {name}: {error}", INSTALL) from error


def forget(name: str) -> bool:
    """Whether it was there."""
    keyring = _needed()
    try:
        keyring.delete_password(SERVICE, name)
    except keyring.errors.PasswordDeleteError:
        return False
    except keyring.errors.KeyringError as error:
        raise UsageError(f"the keyring did not let go of {name}: {error}", INSTALL) from error
    return True


def _needed() -> Any:  # noqa: ANN401 (a module that may not be there)
    keyring = _load()
    if keyring is None:
        raise UsageError(MISSING, INSTALL)
    return keyring


def _load() -> Any:  # noqa: ANN401 (a module that may not be there)
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    return keyring
