"""What was fetched against what lies there: what becomes of each item, and what would be lost."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pegboard.board.publish.fetching import Got, Registry
from pegboard.board.publish.lock_file import Locked, sums
from pegboard.board.publish.merging import merged
from pegboard.board.publish.placing import Standing, standing
from pegboard.errors import NotTrusted, UsageError
from pegboard.gate.refusal import Refused
from pegboard.gate.releases import unpack
from pegboard.model.content import ItemFile


class Pulled(NamedTuple):
    """What is to become of one item."""

    reference: str
    version: str
    state: str
    """`pulled` for what is new, `updated`, `merged`, or `unchanged`."""
    before: str
    """The version that was there, if any."""
    path: str
    files: Mapping[str, ItemFile]
    side_file: bytes
    locked: Locked
    notes: tuple[str, ...]


class Comparing(NamedTuple):
    """What is fetched against what lies there."""

    root: Path
    lock: Mapping[str, Locked]
    registry: Registry
    force: bool = False
    merge: bool = False
    restoring: bool = False
    """Whether nothing is asked for but what the lock file says."""

    def planned(self, got: Got) -> Pulled:
        """Raises `UsageError` where something would be lost."""
        reference = got.record.reference
        kept = self.lock.get(reference)
        here = standing(self.root, got.record.path, got.record.folder)
        self._refuse_namesake(got)
        if kept and kept.path != got.record.path:
            raise UsageError(
                f"{reference} lies at {kept.path}, and its new version at {got.record.path}",
                f"remove {self.root / kept.path} first",
            )
        before = kept.version if kept else ""
        done = Pulled(
            reference,
            got.record.version,
            "updated" if kept else "pulled",
            before,
            got.record.path,
            got.files,
            got.side_file,
            got.locked,
            got.notes,
        )
        if here is None:
            return done._replace(state="pulled")
        if self.restoring and kept is not None and kept.merged:
            return done._replace(state="unchanged", locked=kept)
        ours = sums(here.files)
        if ours == got.locked.files:
            same = kept is not None and here.side_file == got.side_file
            return done._replace(state="unchanged" if same else done.state)
        if self.force or (kept is not None and ours == kept.files):
            return done
        if not self.merge:
            raise self._would_lose(reference, here, kept)
        return self._merged(done, here, kept)

    def _refuse_namesake(self, got: Got) -> None:
        """Two namespaces may have the same id, and a folder has one place for it."""
        reference, path = got.record.reference, got.record.path
        for other, locked in self.lock.items():
            if other != reference and locked.path == path and not self.force:
                raise UsageError(
                    f"{path} was pulled as {other}, and {reference} would lie there too",
                    "--force takes this one instead",
                )

    def _would_lose(self, reference: str, here: Standing, kept: Locked | None) -> UsageError:
        if kept is None:
            return UsageError(
                f"{here.path} is there already, and was not pulled as {reference}",
                "--force puts the registry's in its place; or move yours away",
            )
        ours = sums(here.files)
        names = ours.keys() | kept.files.keys()
        changed = sorted(name for name in names if ours.get(name) != kept.files.get(name))
        return UsageError(
            f"{reference} was changed here since {kept.version}: {', '.join(changed[:10])}",
            "--merge brings both together, --force throws away what was changed here",
        )

    def _merged(self, done: Pulled, here: Standing, kept: Locked | None) -> Pulled:
        if kept is None:
            raise UsageError(
                f"{here.path} was not pulled before, and so there is nothing to merge it by",
                "--force puts the registry's in its place; or move yours away",
            )
        parcel = self.registry.parcel(done.reference, kept.version, count=False)
        if parcel.sha256 != kept.bundle:
            raise NotTrusted(f"{done.reference}@{kept.version} is not what it was when pulled")
        try:
            base = {file.path: file for file in unpack(parcel.bundle).files}
        except Refused as refused:
            raise NotTrusted(f"{done.reference}@{kept.version}: {refused.reason}") from refused
        try:
            files = merged(base, here.files, done.files)
        except UsageError as error:
            raise UsageError(f"{done.reference}: {error.message}", error.hint) from error
        same = sums(files) == done.locked.files
        idle = sums(files) == sums(here.files) and not here.side_file
        note = "it is no longer what was signed: what was changed here is in it"
        return done._replace(
            state="unchanged" if idle and kept.version == done.version else "merged",
            files=files,
            side_file=done.side_file if same else b"",
            locked=done.locked._replace(merged=not same),
            notes=done.notes if same else (*done.notes, note),
        )
