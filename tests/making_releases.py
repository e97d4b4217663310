"""Signed bundles as publishers make them, and what nobody should take for one."""

import io
import zipfile
from pathlib import Path

from pegboard.board.publish.packing import recorded, release_at, sealed
from pegboard.board.publish.releasing import Parcel
from pegboard.board.trust.keyring import Keyring

MANIFEST = """tool_id: {name}
tool_type: bash
description: {description}
tags: [{tags}]
parameters:
  - {{name: sheet, type: string, required: true}}
executor_config: {{entrypoint: run.sh}}
{more}"""
FOLD = "Fold a sheet of paper into a crane."
MAX_FILE_BYTES = 20_000_000


class Publisher:
    """Somebody with a key of his own, who makes tools in a folder."""

    def __init__(self, folder: Path, home: Path, key: str = "paper") -> None:
        self.folder = folder
        self.keyring = Keyring(home)
        self.key = key
        if key not in self.keyring.names():
            home.mkdir(parents=True, exist_ok=True)
            home.chmod(0o700)
            self.keyring.new(key)

    def parcel(
        self,
        version: str = "1.0.0",
        *,
        name: str = "fold",
        category: str = "paper",
        namespace: str = "public",
        description: str = FOLD,
        script: str = 'echo "folded $ARG_SHEET"\n',
        changelog: str = "",
        tags: str = "paper",
        more: str = "",
        files: dict[str, bytes] | None = None,
    ) -> Parcel:
        """A bash tool, as it is to be published."""
        place = self.folder / ".ai" / "tools" / category / name
        place.mkdir(parents=True, exist_ok=True)
        said = MANIFEST.format(name=name, description=description, tags=tags, more=more)
        (place / "tool.yaml").write_text(said, "utf-8")
        (place / "run.sh").write_text(script, "utf-8")
        for path, content in (files or {}).items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)
        release = release_at(place, MAX_FILE_BYTES)
        record = recorded(release, namespace, version, changelog, ())
        return sealed(release, record, self.keyring, self.key, None)


def zipped(*entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive that no publisher makes."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as made:
        for name, content in entries:
            made.writestr(name, content)
    return archive.getvalue()


def symlinked() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        info = zipfile.ZipInfo("files/passwd")
        info.create_system = 3
        info.external_attr = 0o120777 << 16
        made.writestr(info, "/etc/passwd")
    return archive.getvalue()
