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

    @property
    def text(self) -> str | None:
        """None for what is no text."""
        try:
            text = self.content.decode("utf-8")
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text


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
    release: str = ""
    """The record that its publisher signed (`gate.releases`); empty for what is not published."""
    side_file: str = ""
    """The signature of that record and these files, as it was written."""


class VersionLine(NamedTuple):
    """A version as it is listed."""

    number: str
    content_hash: str
    created_at: float
    changelog: str = ""
    yanked_at: float | None = None
    """When it was taken back, if it was: it is had only by its exact number then."""
    yanked_by: str = ""
    yank_reason: str = ""
    published_by: str = ""
    """Who published it; empty for what is not published."""
    signer: str = ""
    """The id of the key that it is signed with."""
    size_bytes: int = 0
    """All its files together."""
    download_count: int = 0


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
    range: str = ""
    """Which versions will do (`pegboard.formats.semver`); empty for any."""


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
