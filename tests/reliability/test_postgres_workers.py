"""Several workers at a time on one PostgreSQL board: each task once, each tenant in its turn."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from reliability_parts import (
    BOUND,
    HASHED,
    Machine,
    assert_whole,
    ended,
    entries,
    item,
    numbered,
    standing,
    tasks,
    worker,
)

from embedding_server import running_server
from pegboard.board.maintain.worker import together
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.items import Vector
from pegboard.ports.stages import quiet
from pegboard.store.postgres.store import PostgresStore
from pegboard.text import embedding_text

ITEMS = 400
TARGET = HASHED.fingerprint


class Recording(HashedEmbedder):
    """Knows which texts it was given, and in which order."""

    def __init__(self, waits: Callable[[], object] = lambda: None) -> None:
        super().__init__(256)
        self.batches: list[list[str]] = []
        self._waits = waits

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.batches.append(list(texts))
        self._waits()
        return super().embed(texts)

    @property
    def times(self) -> Counter[str]:
        return Counter(text for batch in self.batches for text in batch)


def test_four_workers_at_a_time_do_each_task_exactly_once(postgres_store: PostgresStore) -> None:
    postgres_store.items.put(numbered(ITEMS), TARGET)
    all_have_one = threading.Barrier(4)
    met: list[int] = []

    def meet() -> None:
        """So that all four have a batch in hand at the same moment."""
        if not met:
            all_have_one.wait(BOUND)
            met.append(1)

    embedder = Recording(meet)
    stop = threading.Event()
    hands = [worker(postgres_store, embedder, batch_size=10) for _ in range(4)]

    report = together(hands, lambda hand: hand.drain(stop, quiet), stop)

    assert report.embedded == ITEMS
    assert min(hand.report.embedded for hand in hands) > 0
    texts = [embedding_text(entry.item) for entry in entries(postgres_store)]
    assert embedder.times == dict.fromkeys(texts, 1)
    assert_whole(postgres_store, HASHED)


def test_two_processes_with_four_workers_each_do_each_task_exactly_once(
    postgres_url: str, postgres_store: PostgresStore, machine: Machine
) -> None:
    with running_server() as service:
        machine.environ |= {
            "PEGBOARD_EMBED_PROVIDER": "openai-compatible",
            "PEGBOARD_EMBED_MODEL": "text-embedding-tiny",
            "PEGBOARD_EMBED_BASE_URL": service.url,
            "PEGBOARD_EMBED_BATCH_SIZE": "8",
        }
        postgres_store.items.put(numbered(ITEMS), None)
        queued = machine.pegboard("backfill", "--no-embed", "--board", postgres_url)
        assert queued.returncode == 0, queued.stderr
        assert len(tasks(postgres_store)) == ITEMS
        command = ("worker", "--once", "--concurrency", "4", "--board", postgres_url)
        both = [machine.start(*command) for _ in range(2)]
        for process in both:
            code, _, errors = ended(process)
            assert code == 0, errors
        batches = [asked.texts for asked in service.asked if len(asked.texts) > 1]

    # A text alone is a question, such as those that calibrate the model.
    sent = [text for batch in batches for text in batch]
    counted = Counter(found[0] for text in sent if (found := re.findall(r"Counts \d+ sheep", text)))
    assert counted == {f"Counts {n} sheep": 1 for n in range(ITEMS)}
    assert standing(postgres_store) == {"ready": ITEMS}
    assert tasks(postgres_store) == []
    assert postgres_store.check() == []


@pytest.mark.parametrize("hands", [1, 4])
def test_an_edit_of_one_tenant_does_not_wait_for_the_backfill_of_another(
    postgres_store: PostgresStore, hands: int
) -> None:
    crowd = [each._replace(namespace="large") for each in numbered(ITEMS)]
    postgres_store.items.put(crowd, TARGET)
    edit = item("edit", "Is what somebody waits for.", namespace="small")
    embedder = Recording()
    stop = threading.Event()
    workers = [worker(postgres_store, embedder, batch_size=10) for _ in range(hands)]
    assert all(each.step() for each in workers)
    postgres_store.items.put([edit], TARGET)
    before = len(embedder.batches)

    together(workers, lambda hand: hand.drain(stop, quiet), stop)

    place = next(
        place
        for place, batch in enumerate(embedder.batches)
        if any("somebody waits" in text for text in batch)
    )
    assert place - before < hands
    assert_whole(postgres_store, HASHED)
