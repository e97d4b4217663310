"""A token as every store keeps it, and what the audit log tells of it."""

import json

from pegboard.model.calls import Role
from pegboard.model.releases import Action, AuditLine
from pegboard.model.tokens import Token
from pegboard.store.rows import readable


def read_token(
    token_id: str,
    name: str,
    role: str,
    namespaces: object,
    created_at: float,
    expires_at: float | None,
    used_at: float | None,
) -> Token:
    """From the columns of its row."""
    with readable(f"token {token_id}"):
        members = _texts(namespaces)
        return Token(token_id, name, Role(role), members, created_at, expires_at, used_at)


def new_token(token: Token, by: str, at: float) -> AuditLine:
    where = f" of {', '.join(token.namespaces)}" if token.namespaces else ""
    return AuditLine(at, by, Action.TOKEN, detail=f"new {token.role} {token.name}{where}")


def revoked_token(name: str, by: str, at: float) -> AuditLine:
    return AuditLine(at, by, Action.TOKEN, detail=f"revoked {name}")


def _texts(found: object) -> tuple[str, ...]:
    """From an array, or from the JSON of one."""
    listed = json.loads(found) if isinstance(found, str) else found
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise TypeError(f"{str(found)[:60]} is no list of names")
    return tuple(listed)
