"""What an item is made of beside its fields: files, versions, signatures, links, permissions."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

Json = Mapping[str, object]
EMPTY: Json = MappingProxyType({})


class ItemFile(NamedTuple):
    path: str
    content: bytes
    sha256: str
    media_type: str = "text/plain"
    executable: bool = False


class Blob(NamedTuple):
    """What is listed of a file that lies outside the database."""

    key: str
    size: int
    changed_at: float


class Version(NamedTuple):
    """One state of an item: its manifest, parsed and as written, and its files."""

    version: str
    content_hash: str
    manifest: Json = EMPTY
    manifest_text: str | None = None
    changelog: str = ""
    files: tuple[ItemFile, ...] = ()


class VersionLine(NamedTuple):
    """A version as it is listed."""

    number: str
    content_hash: str
    created_at: float
    changelog: str = ""


class Signature(NamedTuple):
    signer: str
    algorithm: str
    value: str
    signed_at: str
    state: str = ""
    """What checking it brought when the item came in: `trusted`, or why it is not."""
    expires_at: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether it was checked and found wanting."""
        return self.state not in ("", "trusted")


class Link(NamedTuple):
    """What an item says about another one: `relation` is `uses`, `related` or a word of its own."""

    relation: str
    target: str
    """An id, `category__name` or name, as it was written."""


class Access(StrEnum):
    READ = "read"
    WRITE = "write"
    CONNECT = "connect"
    EXECUTE = "execute"


class Resource(StrEnum):
    FILESYSTEM = "filesystem"
    NETWORK = "network"
    ENVIRONMENT = "environment"
    SECRET = "secret"  # noqa: S105 (the word itself)
    SHELL = "shell"
    TOOL = "tool"


class Permission(NamedTuple):
    """Something that an item asks to be allowed: what it gets access to, and how far."""

    access: Access
    resource: Resource
    scope: str = "*"
    """A path pattern, `host:port`, the name of a variable or secret, a command or an id."""
