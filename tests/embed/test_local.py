import hashlib
import json
import logging
import math
import shutil
import signal
import subprocess
import sys
import threading
from array import array
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.embed.local import CARD, MODEL, QUEUED_PER_THREAD, TOKENIZER, WEIGHTS, LocalEmbedder
from pegboard.errors import EmbeddingError, ModelUnavailable
from pegboard.model.items import Vector
from pegboard.text import TEXT_VERSION

TEXTS = [
    "create an issue in a repository",
    "send a message to a channel",
    "weather forecast for a city. " * 12,
    "delete a row from a spreadsheet",
    "ok",
]


@pytest.fixture(scope="module")
def embedder():
    local = LocalEmbedder(threads=2)
    yield local
    local.close()


@pytest.fixture
def weights(tmp_path):
    return Path(shutil.copytree(WEIGHTS, tmp_path / "weights"))


def floats(vector: Vector) -> array:
    return array("f", vector)


def cosine(left: Vector, right: Vector) -> float:
    return math.fsum(a * b for a, b in zip(floats(left), floats(right), strict=True))


def describe_anew(folder: Path) -> None:
    """Make `model.json` vouch for whatever files are there."""
    card = json.loads((folder / CARD).read_text())
    for name in (MODEL, TOKENIZER):
        card["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / CARD).write_text(json.dumps(card))


def replace_session(monkeypatch, run) -> None:
    class Session:
        def __init__(self, *args, **kwargs):
            pass

        def run(self, outputs, feeds):
            return run(feeds)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        ("send a message to a channel", "post some text in a chat room", "convert an image to png"),
        ("current weather in a city", "is it raining in Paris today?", "merge a pull request"),
        ("delete a file", "remove a document from disk", "translate text into French"),
    ],
)
def test_a_paraphrase_is_nearer_than_an_unrelated_text(embedder, text, paraphrase, unrelated):
    query = embedder.embed_query(text)
    near, far = embedder.embed([paraphrase, unrelated])
    assert cosine(query, near) > cosine(query, far) + 0.15


def test_a_vector_is_a_function_of_its_text_alone(embedder):
    together = embedder.embed(TEXTS)
    assert together == [embedder.embed([text])[0] for text in TEXTS]
    assert together == embedder.embed(TEXTS[::-1])[::-1]
    assert together == [embedder.embed_query(text) for text in TEXTS]


def test_one_thread_gives_the_same_vectors_as_many(embedder):
    assert LocalEmbedder(threads=1).embed(TEXTS) == embedder.embed(TEXTS)


def test_more_texts_than_the_queue_holds_come_back_in_order(embedder):
    texts = [f"tool number {number}" for number in range(2 * QUEUED_PER_THREAD + 7)]
    assert embedder.embed(texts) == [embedder.embed_query(text) for text in texts]


def test_vectors_are_unit_length_float32_of_the_fingerprints_dimension(embedder):
    for vector in embedder.embed(TEXTS):
        assert len(floats(vector)) == embedder.fingerprint.dimension == 384
        assert cosine(vector, vector) == pytest.approx(1, abs=1e-5)


def test_no_texts_give_no_vectors_and_load_nothing(tmp_path):
    assert LocalEmbedder(tmp_path / "nowhere").embed([]) == []


def test_the_end_of_a_very_long_text_is_cut_off(embedder):
    long = "list all open invoices " * 2_000
    assert embedder.embed([long]) == embedder.embed([long + "and water the garden"])


def test_lone_surrogates_are_replaced_rather_than_refused(embedder):
    assert embedder.embed(["caf\udce9 menu", "x"])[0] == embedder.embed_query("caf? menu")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters(), max_size=80))
def test_any_text_gets_a_unit_vector(embedder, text):
    (vector,) = embedder.embed([text])
    assert cosine(vector, vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "text",
    ["北京到上海的高铁票还有吗", "Перевести деньги на другой счёт", "โอนเงิน", "환율을 알려 줘"],
)
def test_a_query_in_a_language_that_the_model_does_not_know_gets_no_vector(embedder, text):
    with pytest.raises(EmbeddingError, match="does not know this language"):
        embedder.embed_query(text)


@pytest.mark.parametrize(
    "text", ["", "?", "42", "Überweise Geld auf ein anderes Konto", "el tipo de cambio del día"]
)
def test_a_query_in_latin_letters_is_embedded(embedder, text):
    assert embedder.embed_query(text)


def test_callers_in_eight_threads_get_the_vectors_that_one_caller_gets(embedder):
    fresh = LocalEmbedder(threads=3)
    start = threading.Barrier(8, timeout=60)

    def call(_: int) -> list[Vector]:
        start.wait()
        return fresh.embed(TEXTS)

    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(call, range(8)))
    fresh.close()
    assert answers == [embedder.embed(TEXTS)] * 8


def test_a_closed_embedder_can_be_closed_again_and_used_again():
    local = LocalEmbedder(threads=2)
    before = local.embed(TEXTS)
    local.close()
    local.close()
    assert local.embed(TEXTS) == before
    local.close()


def test_the_fingerprint_names_the_model_and_the_start_of_its_hash(embedder):
    found = embedder.fingerprint
    digest = hashlib.sha256((WEIGHTS / MODEL).read_bytes()).hexdigest()
    assert found.provider == "local"
    assert found.model == f"all-MiniLM-L6-v2-int8@{digest[:8]}"
    assert found.text_version == TEXT_VERSION


@pytest.mark.program
@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("send a letter", "send a letter"),
        ("Überweise fünfzig Euro an Müller", "Überweise fünfzig Euro an Müller"),
        ("將 PDF 文档转换为可以编辑的 Word 文件", "PDF Word"),
        ("新建日程", ""),
        ("добавь событие в календарь", ""),
    ],
)
def test_the_readable_part_of_a_text_is_in_words_of_the_model(embedder, text, known):
    assert embedder.readable(text) == known


@pytest.mark.program
def test_the_fingerprint_is_known_without_importing_the_runtime():
    program = (
        "import sys; from pegboard.embed.local import LocalEmbedder; LocalEmbedder().fingerprint;"
        "print([m for m in ('numpy', 'onnxruntime', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_a_file_with_one_byte_changed_is_refused_by_name(weights, name):
    content = bytearray((weights / name).read_bytes())
    content[len(content) // 2] ^= 1
    (weights / name).write_bytes(content)
    with pytest.raises(ModelUnavailable, match="SHA-256") as caught:
        LocalEmbedder(weights).embed(["text"])
    assert str(weights / name) in caught.value.message
    assert "make model" in caught.value.hint


@pytest.mark.parametrize("name", [MODEL, TOKENIZER, CARD])
def test_a_missing_file_is_named(weights, name):
    (weights / name).unlink()
    with pytest.raises(ModelUnavailable, match="No such file") as caught:
        LocalEmbedder(weights).embed(["text"])
    assert str(weights / name) in caught.value.message


def test_a_missing_folder_makes_fingerprint_and_vectors_unavailable(tmp_path):
    local = LocalEmbedder(tmp_path / "nowhere")
    with pytest.raises(ModelUnavailable, match="nowhere"):
        _ = local.fingerprint
    with pytest.raises(ModelUnavailable, match="nowhere"):
        local.embed_query("text")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"model": "m", "dimension": 384, "max_tokens": 256, "sha256": {"model.onnx": "00"}}',
        b'{"model": "m", "dimension": "384", "max_tokens": 256, "sha256": {}}',
        b'{"model": "m", "dimension": 384, "max_tokens": 0,'
        b' "sha256": {"model.onnx": "00", "tokenizer.json": "00"}}',
    ],
)
def test_a_malformed_model_json_is_named(tmp_path, content):
    (tmp_path / CARD).write_bytes(content)
    with pytest.raises(ModelUnavailable, match=r"model\.json"):
        _ = LocalEmbedder(tmp_path).fingerprint


@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_a_file_that_its_library_cannot_load_is_named(weights, name):
    (weights / name).write_bytes(b"{}")
    describe_anew(weights)
    with pytest.raises(ModelUnavailable, match="cannot be loaded") as caught:
        LocalEmbedder(weights).embed(["text"])
    assert str(weights / name) in caught.value.message


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_library_that_cannot_be_imported_makes_the_model_unavailable(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModelUnavailable, match=library):
        LocalEmbedder().embed(["text"])


def test_a_failed_load_is_remembered(weights):
    (weights / TOKENIZER).unlink()
    local = LocalEmbedder(weights)
    with pytest.raises(ModelUnavailable) as first:
        local.embed(["text"])
    shutil.copy(WEIGHTS / TOKENIZER, weights)
    with pytest.raises(ModelUnavailable) as second:
        local.embed_query("text")
    assert str(second.value) == str(first.value)


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf])
def test_a_vector_without_direction_is_an_error_that_names_the_text(monkeypatch, value):
    replace_session(monkeypatch, lambda feeds: [np.full((1, 3, 384), value, dtype=np.float32)])
    with pytest.raises(EmbeddingError, match="water the garden"):
        LocalEmbedder().embed_query("water the garden")


def test_a_run_that_fails_is_an_error_that_names_the_text(monkeypatch):
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    session = onnxruntime.InferenceSession(WEIGHTS / MODEL, quiet)
    too_high = 999_999
    replace_session(
        monkeypatch,
        lambda feeds: session.run(None, {**feeds, "input_ids": feeds["input_ids"] + too_high}),
    )
    with pytest.raises(EmbeddingError, match="water the garden") as caught:
        LocalEmbedder(threads=2).embed(["water the garden", "water the garden"])
    assert not isinstance(caught.value, ModelUnavailable)


def test_an_interrupt_leaves_the_queue_unrun(monkeypatch):
    runs = []

    def interrupted(feeds):
        runs.append(feeds)
        raise KeyboardInterrupt

    replace_session(monkeypatch, interrupted)
    local = LocalEmbedder(threads=2)
    with pytest.raises(KeyboardInterrupt):
        local.embed(["text"] * 1_000)
    local.close()
    assert len(runs) <= 2 * QUEUED_PER_THREAD


def test_closing_ends_a_call_that_is_at_work(monkeypatch):
    running, go_on = threading.Event(), threading.Event()

    def wait(feeds):
        running.set()
        go_on.wait(60)
        return [np.ones((1, 3, 384), dtype=np.float32)]

    replace_session(monkeypatch, wait)
    local = LocalEmbedder(threads=2)
    with ThreadPoolExecutor(2) as callers:
        answer = callers.submit(local.embed, ["text"] * 1_000)
        assert running.wait(60)
        closing = callers.submit(local.close)
        go_on.set()
        with pytest.raises(EmbeddingError, match="1000 texts could not be embedded"):
            answer.result(60)
        closing.result(60)


# Either program would run for minutes if it waited for all of its texts.
ENDLESS = """
import os, signal, threading
from pegboard.embed.local import LocalEmbedder

class Texts(list):
    asked = 0
    def __getitem__(self, index):  # asked once for the length, once for the text
        self.asked += index == 50
        if self.asked == 2:
            amid()
        return super().__getitem__(index)

local = LocalEmbedder(threads=2)
texts = Texts(["a text of some length " * 50] * 100_000)
"""


@pytest.mark.program
def test_ctrl_c_ends_a_process_that_embeds():
    program = (
        ENDLESS
        + "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may ignore it
        + "amid = lambda: os.kill(os.getpid(), signal.SIGINT)\nlocal.embed(texts)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.strip().endswith(b"KeyboardInterrupt")


@pytest.mark.program
def test_a_daemon_thread_that_embeds_does_not_hold_up_the_end_of_the_interpreter():
    program = (
        ENDLESS
        + "at_work = threading.Event()\namid = at_work.set\n"
        + "threading.Thread(target=local.embed, args=(texts,), daemon=True).start()\n"
        + "at_work.wait(50) or os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr


GPU = ["CUDAExecutionProvider", "CPUExecutionProvider"]


def offer(monkeypatch, providers, usable=None, error=None):
    """Only what onnxruntime says it has is made up; sessions run on the CPU of this machine."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: providers)
    asked = []
    real = onnxruntime.InferenceSession

    class Session(real):
        def __init__(self, path, options, providers, **more):
            asked.append(providers)
            if error and "CUDAExecutionProvider" in providers:
                raise error
            super().__init__(path, options, providers=["CPUExecutionProvider"], **more)

        def get_providers(self):
            return usable or super().get_providers()

    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
    return asked


@pytest.mark.parametrize("device", ["auto", "gpu"])
def test_a_gpu_that_can_be_used_is_used(monkeypatch, caplog, device):
    asked = offer(monkeypatch, GPU, usable=GPU)
    LocalEmbedder(device=device).embed_query("a letter")
    assert asked == [GPU]
    assert caplog.text == ""


def test_on_the_cpu_no_gpu_is_asked_for(monkeypatch):
    asked = offer(monkeypatch, GPU, usable=GPU)
    LocalEmbedder(device="cpu").embed_query("a letter")
    assert asked == [["CPUExecutionProvider"]]


def test_auto_without_a_gpu_takes_the_cpu_and_says_so_once(caplog, embedder):
    caplog.set_level(logging.INFO)
    auto = LocalEmbedder(device="auto")
    assert auto.embed_query("a letter") == embedder.embed_query("a letter")
    auto.embed_query("a parcel")
    assert [each.getMessage() for each in caplog.records] == [
        "onnxruntime offers no GPU: the model runs on the CPU"
    ]


@pytest.mark.parametrize("error", [None, RuntimeError("no libcudart")])
def test_auto_with_a_gpu_that_cannot_be_used_takes_the_cpu_and_warns(
    monkeypatch, caplog, capfd, error
):
    asked = offer(monkeypatch, GPU, error=error)
    LocalEmbedder(device="auto").embed_query("a letter")
    assert asked == [GPU, ["CPUExecutionProvider"]]
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "CUDAExecutionProvider and cannot use it" in record.getMessage()
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("error", [None, RuntimeError("no libcudart")])
def test_a_gpu_that_was_asked_for_and_cannot_be_used_is_an_error(monkeypatch, error):
    offer(monkeypatch, GPU, error=error)
    with pytest.raises(ModelUnavailable, match="CUDAExecutionProvider and cannot use it"):
        LocalEmbedder(device="gpu").embed_query("a letter")


def test_a_gpu_that_was_asked_for_and_is_absent_is_an_error():
    with pytest.raises(ModelUnavailable, match="onnxruntime offers only"):
        LocalEmbedder(device="gpu").embed_query("a letter")
