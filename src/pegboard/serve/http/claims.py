"""A token of an identity provider, checked, and what it says of whoever brings it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jwt

from pegboard.board.trust.tokens import LONGEST_NAME, MOST_NAMESPACES
from pegboard.config.settings import ServeSettings
from pegboard.errors import ConfigError, NotSignedIn
from pegboard.gate.characters import first_forbidden, visible
from pegboard.gate.namespaces import is_namespace
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.provider import Key, ProviderKeys

LEEWAY_SECONDS = 30
"""So far may the provider's clock be from ours."""
SCOPE = "pegboard:"
"""What stands before a role where it is one of many scopes."""
EVERYWHERE = "*"
"""The namespace of an admin of the whole board."""
TYPES = (None, "jwt", "at+jwt", "application/at+jwt")
"""Other kinds of signed tokens, such as those that end a session, are not for signing in."""
MOST_TRIED = 10
"""Keys that a token is checked with which does not say its key."""
LATEST = 1e12
_TIMES = ("exp", "iat", "nbf")
_AGAIN = "sign in again, and bring a new token"


class Said(NamedTuple):
    caller: Caller
    until: float


class Provider:
    """Raises `ConfigError` if the settings do not say enough to trust a token."""

    def __init__(self, settings: ServeSettings, keys: ProviderKeys) -> None:
        self._keys = keys
        self._issuer = settings.issuer
        self._audiences = audiences(settings)
        self._role_claim = settings.role_claim
        self._namespaces_claim = settings.namespaces_claim

    async def check(self, text: str) -> Said:
        """Who brings this token. Raises `NotSignedIn` or `ProviderUnavailable`."""
        claims = self._checked(text, await self._keys.find(_key_id(text)))
        subject = _subject(claims)
        role = _role(self._role_claim, _claim(claims, self._role_claim))
        namespaces = _namespaces(self._namespaces_claim, _claim(claims, self._namespaces_claim))
        if EVERYWHERE in namespaces:
            if role is not Role.ADMIN:
                raise NotSignedIn(
                    f"{self._namespaces_claim} is {EVERYWHERE!r}, but not for an admin"
                )
            namespaces = ()
        elif role is Role.ADMIN and not namespaces:
            role = Role.READER  # of nothing; whoever lost his last namespace must not get them all
        return Said(Caller(subject, namespaces, role), float(claims["exp"]) + LEEWAY_SECONDS)

    def _checked(self, text: str, keys: Sequence[Key]) -> Mapping[str, Any]:
        error: jwt.PyJWTError = jwt.InvalidTokenError("it is signed with a key that is not known")
        for key in keys[:MOST_TRIED]:
            try:
                claims = jwt.decode(
                    text,
                    key.public,
                    algorithms=list(key.algorithms),
                    audience=self._audiences,
                    issuer=self._issuer,
                    leeway=LEEWAY_SECONDS,
                    options={"require": ["exp", "iss", "aud", "sub"]},
                )
            except (jwt.InvalidSignatureError, jwt.InvalidAlgorithmError) as wrong:
                error = wrong
            except jwt.PyJWTError as wrong:
                error = wrong
                break
            else:
                return _sound(claims)
        raise NotSignedIn(f"the token is not good: {error}", _AGAIN) from error


def audiences(settings: ServeSettings) -> list[str]:
    """What tokens must be meant for: as the settings say, else the gateway's own address."""
    said = [each.strip() for each in settings.audience.split(",") if each.strip()]
    public = settings.public_url.rstrip("/")
    own = [public, f"{public}/", f"{public}/mcp"] if public else []
    if not (said or own):
        raise ConfigError(
            "serve.issuer is set, but not what its tokens must be meant for",
            "set serve.audience, or serve.public_url: tokens for other services must not be taken",
        )
    return said or own


def _key_id(text: str) -> str | None:
    try:
        header = jwt.get_unverified_header(text)
    except jwt.PyJWTError as error:
        raise NotSignedIn("the token cannot be read", _AGAIN) from error
    kind = header.get("typ")
    if (kind.lower() if isinstance(kind, str) else kind) not in TYPES:
        raise NotSignedIn(f"the token is one of the type {visible(str(kind))[:40]!r}", _AGAIN)
    kid = header.get("kid")
    return kid if isinstance(kid, str) else None


def _sound(claims: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in _TIMES:
        value = claims.get(name, 0)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value < LATEST:
            raise NotSignedIn(f"the token's {name} is no time", _AGAIN)
    if "cnf" in claims:
        raise NotSignedIn(
            "the token is bound to a key of its owner, which cannot be checked here",
            "have the provider make bearer tokens for this service",
        )
    return claims


def _claim(claims: Mapping[str, Any], name: str) -> object:
    """By its whole name, which may be an address with dots in it; else by a path with dots."""
    if name in claims or "." not in name:
        return claims.get(name)
    found: object = claims
    for part in name.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(part)
    return found


def _subject(claims: Mapping[str, Any]) -> str:
    subject = claims.get("sub")
    if (
        not isinstance(subject, str)
        or not 0 < len(subject) <= 2 * LONGEST_NAME
        or subject != subject.strip()
        or first_forbidden(subject)
    ):
        raise NotSignedIn("the token's sub is no name that can be shown", _AGAIN)
    return subject


def _words(name: str, value: object) -> list[str]:
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise NotSignedIn(f"the token's {name} is neither text nor a list of texts")


def _role(name: str, value: object) -> Role:
    """The highest that is named. One word has to be a role; of several, others are not for us."""
    if value is None:
        return Role.READER
    words = _words(name, value)
    named = [Role(each) for each in (w.removeprefix(SCOPE) for w in words) if each in list(Role)]
    if isinstance(value, str) and len(words) == 1 and not named and name not in ("scope", "scp"):
        raise NotSignedIn(
            f"the token's {name} is {visible(value)[:40]!r}", f"it must be one of {', '.join(Role)}"
        )
    return max(named, key=list(Role).index, default=Role.READER)


def _namespaces(name: str, value: object) -> tuple[str, ...]:
    words = [] if value is None else _words(name, value)
    if len(words) > MOST_NAMESPACES or not all(w == EVERYWHERE or is_namespace(w) for w in words):
        raise NotSignedIn(f"the token's {name} lists what is no namespace, or too many")
    return tuple(dict.fromkeys(words))
