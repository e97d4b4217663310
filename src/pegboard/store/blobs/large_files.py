"""How a database and blob storage agree about large files, decided alike for every store.

A key is written by one put and by no other. A put refers to what it has uploaded itself, or to what
its namespace refers to already and is there. So a blob that nothing refers to will never be
referred to again once the put that uploaded it is over: it can be removed, and nobody has to be
kept waiting for it.
"""

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol

from pegboard.errors import BoardCorrupt, BoardError
from pegboard.model.content import Blob
from pegboard.model.items import Item
from pegboard.store.blobs.storage import Blobs

LARGE = 65_536
"""A file of so many bytes is too large for the database."""
COMMIT_SECONDS = 1800.0
"""So long after an upload it may be referred to: much less than the age of what is removed."""
ASK_AT_ONCE = 500
AGAIN = "write it again from its source with: pegboard sync --full"
LOST = "restore it from a backup: it is of an older version, and no source has that any more"


def is_key(text: str) -> bool:
    """Whether this can be nothing but a key: it leads out of no folder and hides in none."""
    return re.fullmatch(r"[a-z0-9]+(?:[/.-][a-z0-9]+)*", text) is not None


def is_made_here(key: str, board: str, digest: str) -> bool:
    """Whether a put to this board can have made this key for this content."""
    made = f"{board}/{digest[:2]}/{digest}-"
    return key.startswith(made) and re.fullmatch(r"[0-9a-f]{8}", key.removeprefix(made)) is not None


class FileRecords(Protocol):
    """What a store's database knows about files that lie elsewhere."""

    def board(self) -> str:
        """A name that no other board has: several may share one place."""
        ...

    def known(self, hashes: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """Each of these SHA-256 with the key, or the keys, where files on the board have it.

        And with the namespace of the file, where tenants must not rely on one another's word.
        """
        ...

    def in_use(self, keys: Sequence[str]) -> Set[str]:
        """Those of these keys that a file refers to which whoever asks can see."""
        ...


class Uploads(NamedTuple):
    """What a put has ready in blob storage before its transaction begins."""

    hashes: tuple[str, ...]
    """Of all large files of the put."""
    new: dict[str, str]
    """The key of each that was uploaded for it, by its hash."""
    looked: Mapping[str, bool]
    """Of keys that the database refers to, whether they can be relied on."""
    deadline: float

    def keys(
        self, known: Callable[[Sequence[str]], Sequence[tuple[str, ...]]], *, believed: bool = False
    ) -> Mapping[str, str]:
        """Where each content lies; `known` must be asked inside the transaction.

        A key that is new since this put looked counts only if whoever writes to the database can be
        `believed`: where tenants do, what was uploaded here is surer.

        What is not in here goes into the database: what was to be shared is no longer known, or
        the upload is so old that it may be taken for one that was left behind.
        """
        if not self.hashes:
            return {}
        uploaded = self.new if time.monotonic() < self.deadline else {}
        rows = known(self.hashes)
        return uploaded | {d: key for d, key, *_ in rows if self.looked.get(key, believed)}


class LargeFiles:
    """Without `blobs` the database keeps everything, and no put has anything to upload."""

    def __init__(self, blobs: Blobs | None, records: FileRecords) -> None:
        self._blobs = blobs
        self._records = records

    @property
    def place(self) -> str:
        return self._blobs.place if self._blobs else "in the database"

    @contextmanager
    def uploaded(
        self,
        items: Sequence[Item],
        *,
        check: bool = False,
        unsure: tuple[type[BaseException], ...] = (),
    ) -> Iterator[Uploads]:
        """Upload what is large and not stored yet; the transaction belongs inside.

        What is stored already is looked for; with `check` it is read, and uploaded again if it is
        not right. What the transaction did not need is removed at the end, unless it raised an
        error that leaves open whether it was committed (`unsure`), or the process was killed: see
        `unused`.
        """
        contents = _large(items) if self._blobs else {}
        there, looked = self._look(items, contents, check=check) if contents else (set(), {})
        ready = Uploads(tuple(contents), {}, looked, time.monotonic() + COMMIT_SECONDS)
        leave = False
        try:
            for digest in contents.keys() - there:
                self._upload(ready, digest, contents[digest])
            yield ready
        except unsure:
            leave = True
            raise
        finally:
            if ready.new and not leave:
                self._discard(list(ready.new.values()))

    def content(self, item_id: str, row: Mapping[str, Any], remedy: str = AGAIN) -> bytes:
        """The content that was put, or an error that says what became of it.

        `row` has the `path`, `sha256`, `content` and `storage_key` of one file.
        """
        key: str | None = row["storage_key"]
        found = row["content"] if key is None else self._get(item_id, row["path"], key)
        what = f"the file {row['path']} of {item_id}"
        where = "the database" if key is None else f"{self.place}, where it is {key}"
        if found is None:
            raise BoardCorrupt(
                f"{what} is missing from {where}",
                f"if blobs.place has changed, set it back; else {remedy}",
            )
        if hashlib.sha256(found).hexdigest() != row["sha256"]:
            raise BoardCorrupt(f"{what} is not what was put: it is damaged in {where}", remedy)
        return bytes(found)

    def unused(self, older_than: float, *, remove: bool) -> list[Blob]:
        """What lies in blob storage under this board's name and belongs to nothing on it.

        Only for those from whom the database hides nothing. What is younger than so many seconds
        is left out: a put may be about to refer to it.
        """
        if self._blobs is None:
            return []
        before = time.time() - older_than
        # All of them before the database is asked: what it refers to then is not lost.
        old = [b for b in self._blobs.listed(self._records.board()) if b.changed_at <= before]
        found: list[Blob] = []
        for first in range(0, len(old), ASK_AT_ONCE):
            asked = old[first : first + ASK_AT_ONCE]
            used = self._records.in_use([blob.key for blob in asked])
            found += [blob for blob in asked if blob.key not in used]
        for blob in found if remove else ():
            self._blobs.delete(blob.key)
        return found

    def _get(self, item_id: str, path: str, key: str) -> bytes | None:
        if self._blobs is None:
            raise BoardCorrupt(
                f"the file {path} of {item_id} is not in the database, and blobs.place is empty",
                "set blobs.place to what it was when the file was put",
            )
        return self._blobs.get(key) if is_key(key) else None

    def _upload(self, ready: Uploads, digest: str, content: bytes) -> None:
        if self._blobs is None:
            return
        key = f"{self._records.board()}/{digest[:2]}/{digest}-{os.urandom(4).hex()}"
        ready.new[digest] = key  # before it is there: what is left of a failed one is removed too
        self._blobs.put(key, content)

    def _look(
        self, items: Sequence[Item], contents: Mapping[str, bytes], *, check: bool
    ) -> tuple[set[str], dict[str, bool]]:
        """The contents that need not be uploaded, and which keys can be relied on.

        A namespace relies on its own; what a put writes to several is uploaded for them.
        """
        board, namespaces = self._records.board(), _namespaces(items)
        there: set[str] = set()
        looked: dict[str, bool] = {}
        for digest, key, *namespace in self._records.known(list(contents)):
            if looked.get(key) or (namespace and set(namespace) != namespaces[digest]):
                continue
            looked[key] = is_made_here(key, board, digest) and (
                self._is_whole(key, digest) if check else self._is_there(key)
            )
            if looked[key]:
                there.add(digest)
        return there, looked

    def _is_there(self, key: str) -> bool:
        return self._blobs is not None and self._blobs.has(key)

    def _is_whole(self, key: str, digest: str) -> bool:
        content = self._blobs.get(key) if self._blobs and is_key(key) else None
        return content is not None and hashlib.sha256(content).hexdigest() == digest

    def _discard(self, keys: Sequence[str]) -> None:
        """The put is over; where this fails, `unused` finds what is left."""
        with suppress(BoardError):
            used = self._records.in_use(keys)
            for key in keys:
                if self._blobs is not None and key not in used:
                    self._blobs.delete(key)


def _namespaces(items: Sequence[Item]) -> dict[str, set[str]]:
    """Into which namespaces each content goes, by its hash."""
    found: dict[str, set[str]] = {}
    for item in items:
        for file in item.version.files if item.version else ():
            found.setdefault(file.sha256, set()).add(item.namespace)
    return found


def _large(items: Sequence[Item]) -> dict[str, bytes]:
    """Contents that do not go into the database, each once, by their hash."""
    found: dict[str, bytes] = {}
    for item in items:
        for file in item.version.files if item.version else ():
            if len(file.content) < LARGE or file.sha256 in found:
                continue
            if hashlib.sha256(file.content).hexdigest() != file.sha256:
                raise BoardError(
                    f"the file {file.path} of {item.id} does not have the hash it comes with",
                    "it may have been written to while it was read: sync again",
                )
            found[file.sha256] = file.content
    return found
