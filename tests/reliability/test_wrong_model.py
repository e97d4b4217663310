"""Model weights that are not the ones that were packaged: words go on, tasks wait, none is lost."""

import logging
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from reliability_parts import BOTH, ToolFolder, assert_whole, tasks, vectors

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.embed.local import WEIGHTS, LocalEmbedder
from pegboard.errors import ModelUnavailable
from pegboard.ports.store import Store

STORES = BOTH
UNTOUCHED = {("pending", 0, None, True)}


def task_states(store: Store) -> set[tuple[str, int, str | None, bool]]:
    """How tasks stand: status, attempts, who holds them, and whether they are due."""
    return {(task.status, task.attempts, task.owner, task.wait < 0) for task in tasks(store)}


@pytest.fixture(scope="module")
def flipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights with one byte changed."""
    folder = tmp_path_factory.mktemp("wrong") / "weights"
    shutil.copytree(WEIGHTS, folder)
    with (folder / "model.onnx").open("r+b") as model:
        model.seek(12_000_000)
        byte = model.read(1)[0]
        model.seek(12_000_000)
        model.write(bytes([byte ^ 1]))
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> ToolFolder:
    return ToolFolder(tmp_path / "tools", 5)


@pytest.fixture
def pegboard(store: Store, flipped: Path, tools: ToolFolder) -> Iterator[Pegboard]:
    made = Pegboard(store, Settings(embed=EmbedSettings(provider="local")))
    made.embedder = LocalEmbedder(weights=flipped)
    made.add_folder(tools.root)
    yield made
    made.close()


def test_a_sync_says_that_nothing_was_embedded_and_leaves_every_task_as_it_was(
    store: Store, pegboard: Pegboard
) -> None:
    outcome = pegboard.sync()

    assert outcome.sources[0].added == outcome.waiting == 5
    assert outcome.work.embedded == 0
    assert len(outcome.notices) == 1
    assert "nothing was embedded" in outcome.notices[0]
    assert "SHA-256" in outcome.notices[0]
    assert task_states(store) == UNTOUCHED
    assert pegboard.check() == []


def test_a_search_goes_by_words_with_one_notice(pegboard: Pegboard, tools: ToolFolder) -> None:
    pegboard.sync()

    for mode in ("hybrid", "vector"):
        answer = pegboard.search(tools.described["tool_2"], mode=mode)
        assert answer.hits[0].name == "tool_2"
        assert len(answer.notices) == 1
        assert "searched by words only" in answer.notices[0]


def test_a_worker_keeps_its_tasks_says_so_and_waits(
    store: Store, pegboard: Pegboard, caplog: pytest.LogCaptureFixture
) -> None:
    pegboard.sync(embed=False)
    stop = threading.Event()
    stop_at_the_first_word = logging.Handler(logging.WARNING)
    stop_at_the_first_word.emit = lambda record: stop.set()  # type: ignore[method-assign]
    logging.getLogger("pegboard").addHandler(stop_at_the_first_word)

    report = pegboard.worker().run(stop)

    logging.getLogger("pegboard").removeHandler(stop_at_the_first_word)
    assert (report.embedded, report.failed) == (0, 0)
    assert "SHA-256" in caplog.text
    assert task_states(store) == UNTOUCHED


def test_a_worker_that_is_to_end_when_nothing_is_due_raises_and_gives_everything_back(
    store: Store, pegboard: Pegboard
) -> None:
    pegboard.sync(embed=False)

    with pytest.raises(ModelUnavailable):
        pegboard.worker().drain(threading.Event(), lambda step, done, total: None)

    assert task_states(store) == UNTOUCHED


def test_with_the_right_weights_again_everything_becomes_ready(
    store: Store, pegboard: Pegboard
) -> None:
    pegboard.sync()
    assert vectors(store) == {}
    right = LocalEmbedder()
    pegboard.embedder = right

    outcome = pegboard.sync()

    assert (outcome.work.embedded, outcome.waiting, outcome.notices) == (5, 0, [])
    assert store.check() == []
    assert_whole(store, right)
    right.close()


def test_an_item_edited_while_the_model_is_away_gets_the_vector_of_its_new_text(
    store: Store, pegboard: Pegboard, tools: ToolFolder
) -> None:
    pegboard.sync()
    tools.write("tool_2", "Paints the fence in another colour.")
    tools.delete("tool_3")
    pegboard.sync()
    right = LocalEmbedder()
    pegboard.embedder = right

    pegboard.sync()

    assert tools.on(store) == tools.described
    assert_whole(store, right)
    right.close()
