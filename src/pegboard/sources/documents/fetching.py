"""Bytes of a document: from a file or over HTTP, plain or gzipped, never more than is allowed."""

import re
import stat
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import httpx2

from pegboard.errors import SourceError
from pegboard.sources.documents.deadline import Deadline
from pegboard.sources.documents.faults import BadReference
from pegboard.sources.documents.location import headers_of, without_secrets

MAX_BYTES = 50 << 20
SECONDS = 60.0
MOST_SECONDS = 10
"""All documents together may take so many times as long as one."""
MAX_REDIRECTS = 5
_PORTS = {"http": 80, "https": 443}
_GZIP = b"\x1f\x8b"
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class Fetched(NamedTuple):
    place: str
    """Where it was found: the path of a file, or the address after all redirects, as `shown`."""
    content: bytes


def is_address(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))


class Fetcher:
    """Reads one document, and others only from around it: its own folder, or its own origin."""

    def __init__(
        self,
        location: str,
        *,
        max_bytes: int = MAX_BYTES,
        seconds: float = SECONDS,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.location = location
        self._left = max_bytes
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._end = time.monotonic() + MOST_SECONDS * seconds
        self._environ = environ or {}
        self._root = ""
        """The folder or origin that nothing may lead out of."""

    def first(self) -> Fetched:
        if is_address(self.location):
            found = self._get(self.location.partition("#")[0], "")
            self._root = _origin(found.place)
            return found
        path = _path(self.location)
        found = self._read(path)
        self._root = str(Path(found.place).parent)
        return found

    def neighbour(self, place: str) -> Fetched:
        return self._get(place, self._root) if is_address(place) else self._read(Path(place))

    def place_of(self, reference: str, base: str) -> str:
        """Where the document is that a `$ref` without its fragment names."""
        try:
            return self._place_of(reference, base)
        except ValueError:  # brackets without an address in them, characters that are none
            raise BadReference(reference, "is neither an address nor a path") from None

    def _place_of(self, reference: str, base: str) -> str:
        if is_address(base):
            place = _joined(base, reference)
            if _origin(place) != self._root:
                raise BadReference(reference, f"leads away from {self._root}")
            return place
        if _SCHEME.match(reference):
            raise BadReference(reference, "leads out of the file system; keep a copy beside it")
        relative = unquote(reference)
        if "\0" in relative or Path(relative).is_absolute():
            raise BadReference(reference, "is no path relative to the document")
        try:
            path = (Path(base).parent / relative).resolve()
        except (OSError, RuntimeError) as error:  # a loop of symbolic links
            raise BadReference(reference, f"cannot be followed: {error}") from None
        if not path.is_relative_to(self._root):
            raise BadReference(reference, f"leads out of the document's folder {self._root}")
        return str(path)

    def _read(self, path: Path) -> Fetched:
        try:
            path = path.resolve(strict=True)
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise SourceError(f"{path} is no file", "name the document itself")
            if found.st_size > self._left:
                raise self._too_large(str(path))
            with path.open("rb") as file:
                content = file.read(self._left + 1)
        except (OSError, RuntimeError) as error:
            told = getattr(error, "strerror", None) or str(error)
            raise SourceError(
                f"the file {path} cannot be read: {told}", "check that it exists and is readable"
            ) from error
        return self._counted(str(path), content)

    def _get(self, address: str, within: str) -> Fetched:
        """Follows redirects by hand: each must be HTTP, no less safe, and inside `within`."""
        seconds = max(0.001, min(self._seconds, self._end - time.monotonic()))
        with (
            Deadline(seconds) as deadline,
            httpx2.Client(timeout=seconds, headers={"Accept-Encoding": "identity"}) as client,
        ):
            for _ in range(MAX_REDIRECTS + 1):
                target = self._asked(client, address, deadline)
                if isinstance(target, Fetched):
                    return target
                address = _redirected(address, target, within)
        raise SourceError(
            f"{shown(address)} is behind more than {MAX_REDIRECTS} redirects",
            "give the address that they lead to",
        )

    def _asked(self, client: httpx2.Client, address: str, deadline: Deadline) -> Fetched | str:
        """What is there, or where it is instead."""
        headers, told = self._headers(address), {"trace": deadline.trace}
        try:
            with client.stream("GET", address, headers=headers, extensions=told) as answer:
                if answer.has_redirect_location:
                    return _joined(address, answer.headers["location"])
                return self._counted(shown(address), self._body(address, answer, deadline))
        except httpx2.TimeoutException:
            raise self._slow(address) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            if deadline.passed:
                raise self._slow(address) from None
            raise SourceError(
                f"{shown(address)} cannot be fetched: {error}",
                "check the address, and that this machine can reach it",
            ) from None

    def _body(self, address: str, answer: httpx2.Response, deadline: Deadline) -> bytes:
        if not answer.is_success:
            raise SourceError(
                f"{shown(address)} answers {answer.status_code} {answer.reason_phrase}",
                "check the address; if it needs a login, give it with --header",
            )
        content = bytearray()
        for chunk in answer.iter_raw():
            content += chunk
            if len(content) > self._left:
                raise self._too_large(shown(address))
        if deadline.passed:  # what looks like the end may be the connection that was shut
            raise self._slow(address)
        return bytes(content)

    def _headers(self, address: str) -> dict[str, str]:
        """Only where they were meant to go: a redirect elsewhere must not see them."""
        if _origin(self.location) != _origin(address):
            return {}
        given = headers_of(self.location)
        return {name: _REFERENCE.sub(self._look_up, value) for name, value in given.items()}

    def _look_up(self, found: re.Match[str]) -> str:
        name, default = found.groups()
        value = self._environ.get(name) or default
        if value is None:
            raise SourceError(
                f"the variable {name} is not set, and {shown(self.location)} needs it",
                f"set it before Pegboard starts, or give it a default: ${{{name}:-...}}",
            )
        return value

    def _counted(self, place: str, content: bytes) -> Fetched:
        """All documents together may have as many bytes, unpacked, as one."""
        if content.startswith(_GZIP):
            content = self._unpacked(place, content)
        if len(content) > self._left:
            raise self._too_large(place)
        self._left -= len(content)
        return Fetched(place, content)

    def _unpacked(self, place: str, content: bytes) -> bytes:
        """Several parts one after another are one file; no more is unpacked than is allowed."""
        unpacked = b""
        while content.startswith(_GZIP) and len(unpacked) <= self._left:
            unpacking = zlib.decompressobj(wbits=31)
            try:
                unpacked += unpacking.decompress(content, self._left - len(unpacked) + 1)
            except zlib.error as error:
                told = f"{place} cannot be unpacked: {error}"
                raise SourceError(told, "fetch it again") from error
            if len(unpacked) <= self._left and not unpacking.eof:
                raise SourceError(f"{place} ends in the middle of its gzip data", "fetch it again")
            content = unpacking.unused_data
        return unpacked

    def _too_large(self, place: str) -> SourceError:
        return SourceError(
            f"{place}, unpacked and with what it refers to, has more than"
            f" {self._max_bytes / (1 << 20):g} MB",
            "split the document, or leave out what no tool is made from",
        )

    def _slow(self, address: str) -> SourceError:
        told = f"{shown(address)} took longer than {self._seconds:g} s"
        return SourceError(told, "try again later")


def shown(address: str) -> str:
    """Without what may be a secret: a login, and all that follows the path."""
    return without_secrets(re.split("[?#]", address, maxsplit=1)[0])


def _path(location: str) -> Path:
    if location.startswith("file:"):
        return Path(unquote(location.removeprefix("file:").removeprefix("//")))
    return Path(location)


def _joined(base: str, reference: str) -> str:
    """The address that a relative one stands for; nothing if it is none."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return ""


def _origin(address: str) -> str:
    """Scheme, host and port; nothing if it is no address."""
    try:
        parts = urlsplit(address)
        port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}"


def _redirected(address: str, target: str, within: str) -> str:
    told = f"{shown(address)} redirects to {shown(target)}"
    if not is_address(target):
        raise SourceError(told, "only http and https are followed")
    if address.lower().startswith("https:") and not target.lower().startswith("https:"):
        raise SourceError(
            f"{told}, which anybody on the way could change",
            "give that address itself if it can be trusted",
        )
    if within and _origin(target) != within:
        raise SourceError(f"{told}, away from {within}")
    return target.partition("#")[0]
