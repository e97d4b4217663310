"""A model whose scores mean nothing yet is calibrated on the board's own content."""

import threading
from contextlib import closing
from pathlib import Path

import pytest

from embedding_server import running_server, status, well
from making import entry_of, hang, make_item
from pegboard.app.pegboard import Pegboard
from pegboard.board.find.answering import FindSettings
from pegboard.board.maintain.calibration import (
    LEAST_ITEMS,
    LEAST_QUESTIONS,
    MOST_PASSAGES,
    Questions,
    answered,
    fit_calibration,
)
from pegboard.config.settings import EmbedSettings, SearchSettings, Settings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.errors import EmbeddingError, ModelUnavailable, NotAllowed, UsageError
from pegboard.model.calls import Caller, Role
from pegboard.model.items import Calibration, Item, Kind
from pegboard.search.cosine_scale import CosineScale
from pegboard.store.opening import open_store
from pegboard.text import MAX_PASSAGES, passages
from waiting import until

DEMO = Path(__file__).parents[2] / "demo"
STRANGE = "plan my wedding seating"
RAW = Calibration(slope=1.0, offset=0.0, items=0, questions=0, at=0.0)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo's tools and their vectors by the hashed embedder, and what the sync said."""
    file = tmp_path_factory.mktemp("demo") / "board.db"
    with closing(Pegboard(open_store(file, create=True), settings())) as board:
        board.add_folder(DEMO)
        notices = board.sync().notices
    return file, notices


def settings(provider: str = "test", **search: float) -> Settings:
    return Settings(embed=EmbedSettings(provider=provider), search=SearchSettings(**search))


@pytest.fixture
def on_demo(demo):
    with closing(Pegboard(open_store(demo[0]), settings())) as board:
        yield board


def many(folder) -> None:
    for number in range(LEAST_ITEMS):
        folder.write(
            f"reports/report_{number}", f"Print the report about subject {number} as a file."
        )


def test_a_sync_calibrates_the_model_and_says_so(demo, on_demo):
    [notice] = demo[1]
    assert "were calibrated on this board's own content (115 items)" in notice
    found = on_demo.store.models.state().calibration
    assert found is not None
    assert (found.items, found.questions > 200, found.slope > 0) == (115, True, True)


def test_it_is_calibrated_once(demo, on_demo):
    before = on_demo.store.models.state().calibration
    assert on_demo.backfill().notices == []
    assert on_demo.store.models.state().calibration == before


def test_a_question_that_no_tool_serves_gets_no_tool(on_demo):
    assert on_demo.search(STRANGE).hits == ()
    assert on_demo.search("refund a payment").hits


def test_with_the_packaged_model_alpha_changes_no_fit_and_nothing_is_calibrated(tmp_path):
    with closing(Pegboard(open_store(tmp_path / "b.db", create=True), settings("local"))) as board:
        board.add_folder(DEMO)
        assert board.sync().notices == []
        assert board.store.models.state().calibration is None
        assert board.models.listed()[0].calibrated == "packaged"
        found = []
        for alpha in (0.5, 0.7):
            board.settings = settings("local", alpha=alpha)
            hits = board.search(STRANGE, threshold=0.0, limit=30).hits
            found.append(max(hit.fit for hit in hits))
        assert found[0] == found[1]


def test_on_request_it_says_what_changes(on_demo):
    kept = on_demo.store.models.state().calibration
    found = on_demo.calibrate()
    again = on_demo.store.models.state().calibration
    assert (again.slope, again.offset) == (kept.slope, kept.offset)  # the same each time
    assert found.after.unserved < found.before.unserved
    assert found.after.served >= 0.9


def test_a_scale_is_of_the_searches_that_follow_in_every_process(demo, on_demo):
    def fit() -> float:
        return on_demo.search(STRANGE, threshold=0.0).hits[0].fit

    kept, before = on_demo.store.models.state().calibration, fit()
    with closing(open_store(demo[0])) as elsewhere:
        active = elsewhere.models.state().active
        elsewhere.models.calibrate(active.fingerprint, RAW._replace(offset=0.2))
        assert fit() > before
        elsewhere.models.calibrate(active.fingerprint, kept)
        assert fit() == before


def test_a_board_with_few_items_is_searched_by_raw_cosines(board):
    assert board.store.models.state().calibration is None
    with pytest.raises(UsageError, match=f"at least {LEAST_ITEMS}"):
        board.calibrate()
    assert board.models.listed()[0].calibrated == "no"


def test_a_board_that_grows_is_calibrated_once_it_can_be(board, folder):
    many(folder)
    assert len(board.sync().notices) == 1
    assert board.store.models.state().calibration is not None


def test_a_worker_in_the_background_calibrates_too(board, folder):
    many(folder)
    board.sync(embed=False)
    stop = threading.Event()
    thread = threading.Thread(target=board.worker().run, args=(stop,), daemon=True)
    thread.start()
    until(lambda: board.store.models.state().calibration is not None, bound=60.0)
    stop.set()
    thread.join(60)


@pytest.mark.server
def test_a_service_that_fails_meanwhile_stops_no_sync(opened, folder):
    many(folder)
    with running_server() as server:
        board = opened(provider="local-http", model="some-model", base_url=server.url)
        board.add_folder(folder.root)
        board.sync(embed=False)
        worker = board.worker()
        while worker.step():
            pass
        server.always = status(503)
        [notice] = board.backfill().notices
        assert notice.startswith("scores were not calibrated")
        assert board.store.models.state().calibration is None
        assert board.backfill().notices == []  # not asked again and again
        server.always = well
        again = opened(provider="local-http", model="some-model", base_url=server.url)
        again.calibrate()  # by a process that has not met the failure
        assert board.store.models.state().calibration is not None


def test_a_model_that_tells_nothing_apart_is_not_calibrated(board, folder, monkeypatch):
    same = HashedEmbedder().embed_query("the same for all")
    monkeypatch.setattr(HashedEmbedder, "embed", lambda self, texts: [same for _ in texts])
    monkeypatch.setattr(HashedEmbedder, "embed_query", lambda self, text: same)
    many(folder)
    [notice] = board.sync(full=True).notices
    assert "cannot be calibrated" in notice
    assert board.store.models.state().calibration is None


def test_an_admin_of_a_namespace_does_not_calibrate(board):
    with pytest.raises(NotAllowed):
        board.seen_by(Caller("ada", ("team",), Role.ADMIN)).calibrate()


def test_the_packaged_model_is_calibrated_already(opened, folder):
    board = opened(provider="local")
    board.add_folder(folder.root)
    board.sync()
    with pytest.raises(UsageError, match="is calibrated"):
        board.calibrate()


class Packaged(HashedEmbedder):
    """In place of the packaged model: as a query it refuses texts with one of these letters."""

    def __init__(self, unknown: str = "", error: type[EmbeddingError] = EmbeddingError) -> None:
        super().__init__()
        self._unknown, self._error = set(unknown), error

    def embed_query(self, text):
        if self._unknown & set(text):
            raise self._error("this language is not known")
        return super().embed_query(text)


RUSSIAN = "Печатает отчёт по теме"


def fit(board, packaged):
    return fit_calibration(board.store, board.embedder, PartsEmbedder(packaged))


def test_one_title_in_another_language_does_not_prevent_a_calibration(board, folder):
    many(folder)
    folder.write("reports/report_a", f"{RUSSIAN} A.")
    board.sync()
    trial = fit(board, Packaged(unknown="ё"))
    whole = fit(board, Packaged())
    assert trial.questions == Questions(
        tuple(each for each in whole.questions.served if "ё" not in each), whole.questions.unserved
    )
    assert trial.calibration.questions == whole.calibration.questions - 1
    assert set(trial.embedder.vectors) == set(sum(trial.questions, ()))  # no other is asked


def test_items_that_the_packaged_model_cannot_read_are_left_out(board, folder):
    many(folder)
    for number in range(LEAST_ITEMS):
        folder.write(f"reports/отчёт_{number}", f"{RUSSIAN} {number}.")
    board.sync()
    found = fit(board, Packaged(unknown="ё")).calibration
    assert found.items == fit(board, Packaged()).calibration.items - LEAST_ITEMS


def test_too_few_items_that_the_packaged_model_can_read_are_refused(board, folder):
    for number in range(LEAST_ITEMS):
        folder.write(f"reports/отчёт_{number}", f"{RUSSIAN} {number}.")
    board.sync()
    with pytest.raises(UsageError, match=rf"can read 6 items .* at least {LEAST_ITEMS}"):
        fit(board, Packaged(unknown="ё"))


def test_too_few_questions_that_the_packaged_model_can_read_are_refused(board, folder):
    many(folder)
    board.sync()
    with pytest.raises(UsageError, match=rf"can read \d questions, at least {LEAST_QUESTIONS}"):
        fit(board, Packaged(unknown="eE"))


def test_a_packaged_model_that_cannot_be_loaded_is_an_error(board, folder):
    many(folder)
    board.sync()
    with pytest.raises(ModelUnavailable):
        fit(board, Packaged(unknown="eE", error=ModelUnavailable))


def test_without_a_question_of_a_kind_none_is_answered(on_demo):
    trial = fit(on_demo, Packaged())._replace(questions=Questions((), (STRANGE,)))
    shares = answered(on_demo.store, trial, FindSettings(), CosineScale())
    assert shares.served == 0.0


def document(number: int) -> Item:
    """A document with as many passages as one can have."""
    said = "It is about subject {} and goes on about it for a long while. " * 14
    body = "\n".join(
        f"# Chapter {each}\n{said.format(*[number + each] * 14)}\n" for each in range(MAX_PASSAGES)
    )
    found = make_item(f"Book {number}", kind=Kind.KNOWLEDGE, id=f"knowledge::{number}", body=body)
    assert len(passages(found)) == MAX_PASSAGES
    return found


def tools() -> list[Item]:
    return [make_item(f"print_{each}", description=f"Print report {each}.") for each in range(30)]


def items_of_calibration(store) -> int:
    embedder = HashedEmbedder()
    return fit_calibration(store, embedder, Packaged()).calibration.items


def test_documents_with_many_passages_are_enough(store):
    hang(store, HashedEmbedder(), *map(document, range(LEAST_ITEMS + 3)))
    assert items_of_calibration(store) == LEAST_ITEMS


def test_an_item_without_a_vector_takes_no_place(store):
    embedder = HashedEmbedder()
    hang(store, embedder, *map(document, range(1, LEAST_ITEMS + 1)))
    store.items.put([document(0)], embedder.fingerprint)
    assert items_of_calibration(store) == LEAST_ITEMS


def test_long_documents_do_not_take_the_place_of_tools(store):
    hang(store, HashedEmbedder(), *map(document, range(12)), *tools())
    assert items_of_calibration(store) == 30 + (MOST_PASSAGES - 30) // MAX_PASSAGES


def test_inactive_documents_take_no_place(store):
    documents = [document(number) for number in range(12)]
    hang(store, HashedEmbedder(), *documents, *tools())
    for each in documents:
        store.curation.deactivate(entry_of(store, each), "mia", "")
    assert items_of_calibration(store) == 30
