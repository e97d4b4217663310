"""What is to be embedded, with the rights of a caller: he counts it, and has his own done again."""

import threading
from collections.abc import Iterator, Sequence

from pegboard.model.items import EmbeddingCounts, EmbeddingStatus, Entry, Fingerprint, Task, Vector
from pegboard.store.seen.rights import Rights, of_the_whole

PAGE = 500


class SeenTasks:
    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._seen = rights.seen.tasks
        self._whole = rights.whole.tasks

    def enqueue(self, target: Fingerprint, texts: Sequence[tuple[int, str, str]]) -> int:
        self._rights.check_keys([key for key, _, _ in texts])
        return self._whole.enqueue(target, texts)

    def revive(self, item_key: int | None) -> int:
        """Of all, those that are the caller's to change."""
        if item_key is not None:
            self._rights.check_keys([item_key])
            return self._whole.revive(item_key)
        return sum(self._whole.revive(entry.key) for entry in self._own_failures())

    def _own_failures(self) -> Iterator[Entry]:
        after, decides = 0, self._rights.caller.may_decide
        while page := self._rights.seen.items.page(after, PAGE):
            after = page[-1].key
            for entry in page:
                failed = entry.embedding.status is EmbeddingStatus.FAILED
                if failed and decides(entry.item.namespace, entry.item.author):
                    yield entry

    def unembedded(self, target: Fingerprint, after: int, limit: int) -> list[Entry]:
        return self._seen.unembedded(target, after, limit)

    def counts(self, target: Fingerprint | None) -> EmbeddingCounts:
        return self._seen.counts(target)

    def waiting(self, target: Fingerprint | None) -> int:
        return self._seen.waiting(target)

    def pace(self, target: Fingerprint | None) -> tuple[float | None, float]:
        return self._seen.pace(target)

    def without_vector(self, target: Fingerprint) -> int:
        return self._seen.without_vector(target)

    def has_stray(self, targets: Sequence[Fingerprint]) -> bool:
        return self._seen.has_stray(targets)

    def adopt(self, target: Fingerprint, beside: Fingerprint | None = None) -> None:
        raise of_the_whole("choose a model")

    def disable(self) -> int:
        raise of_the_whole("switch embedding off")

    def claim(
        self,
        target: Fingerprint,
        owner: str,
        limit: int,
        lease: float,
        *,
        tried_first: bool = False,
    ) -> list[Task]:
        raise of_the_whole("embed")

    def finish(self, target: Fingerprint, done: Sequence[tuple[Task, Vector]]) -> int:
        raise of_the_whole("embed")

    def fail(self, owner: str, task: Task, error: str, retry_at: float | None) -> None:
        raise of_the_whole("embed")

    def release(self, owner: str, *, died: bool = False) -> int:
        raise of_the_whole("embed")

    def owners(self) -> list[str]:
        raise of_the_whole("see who embeds")

    def await_work(self, stop: threading.Event, seconds: float) -> None:
        raise of_the_whole("embed")

    def rest(self, target: Fingerprint, stop: threading.Event) -> None:
        raise of_the_whole("embed")
