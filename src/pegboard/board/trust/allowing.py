"""What may be started here, and which tools are still what was approved.

A project may come from anybody, and a server is a command with the rights and variables of whoever
runs it. So each server that a project's settings file declares is allowed once, as it is written;
so is each service that a board asks for vectors. What is allowed is kept with the person.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from pegboard.board.sync import adding
from pegboard.board.trust.private_files import locked, replace
from pegboard.errors import BoardReadOnly
from pegboard.model.calls import Change, OnChange, ServerConfig
from pegboard.model.items import Fingerprint, ModelSpec
from pegboard.ports.store import Store
from pegboard.store.seen.rights import of_the_whole


class Files(NamedTuple):
    settings: tuple[str, ...]
    """The settings files that were read."""
    own: str
    """The one among them that is the person's own: what it declares is allowed."""
    allowed: Path
    """Where it is kept what the person has allowed."""


class Trust:
    def __init__(
        self,
        store: Store,
        policy: OnChange,
        files: Files,
        declared: Callable[[], list[ServerConfig]],
    ) -> None:
        self.policy = policy
        self.declared = declared
        """The servers that settings files declare."""
        self._store = store
        self._files = files

    def seen_by(self, store: Store) -> "Trust":
        """For whoever sees only some of the board: to allow what is started here is not his."""
        return SeenTrust(store, self.policy, self._files, list)

    def follow_files(self) -> list[str]:
        """Take up the servers that settings files declare, and leave those that are gone."""
        found, files = self.declared(), self._files.settings
        return adding.follow_files(self._store, found, files, self.is_allowed)

    def is_allowed(self, config: ServerConfig) -> bool:
        return config.declared_in == self._files.own or _mark(config) in self._marks()

    def allow(self, configs: Sequence[ServerConfig]) -> None:
        self._remember({_mark(config) for config in configs})

    def allows_service(self, spec: ModelSpec) -> bool:
        """Whether texts, and this key, may be sent there because a board says so."""
        return _service_mark(spec) in self._marks()

    def allow_service(self, spec: ModelSpec) -> None:
        self._remember({_service_mark(spec)})

    def _remember(self, more: set[str]) -> None:
        """By one process at a time: what another allows meanwhile is not to be lost."""
        kept = self._files.allowed
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            with locked(kept.with_suffix(".lock")):
                marks = sorted(self._marks() | more)
                replace(kept, json.dumps(marks, indent=0).encode())
        except OSError as error:
            raise BoardReadOnly(f"{kept} cannot be written: {error.strerror}") from error

    def _marks(self) -> set[str]:
        """Nothing is allowed by a file that cannot be read."""
        try:
            found = json.loads(self._files.allowed.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return set()
        return {str(mark) for mark in found} if isinstance(found, list) else set()

    def changes(self) -> list[Change]:
        """Items that are no longer what was approved, held back or not."""
        return self._store.items.changed()

    def approve(self, changes: Sequence[Change], target: Fingerprint | None, by: str = "") -> int:
        """Approve items as they are in these changes; one that has changed again is left out."""
        return self._store.items.approve([each.entry for each in changes], target, by)

    def apply_policy(self) -> None:
        """Hold back, or accept, what changed while another policy held."""
        for server in self._store.ledger.servers():
            self._store.items.apply_policy(server.config.name, self.policy)


class SeenTrust(Trust):
    def follow_files(self) -> list[str]:
        raise of_the_whole("follow settings files")

    def _remember(self, more: set[str]) -> None:
        raise of_the_whole("allow what is started")


def _service_mark(spec: ModelSpec) -> str:
    said = json.dumps(["model", spec.base_url, spec.api_key])
    return hashlib.sha256(said.encode()).hexdigest()


def _mark(config: ServerConfig) -> str:
    """The file, and everything that is written there about the server."""
    said = json.dumps(config, sort_keys=True, default=dict)
    return hashlib.sha256(said.encode()).hexdigest()
