"""The packaged model, all-MiniLM-L6-v2 in 8-bit integers, run with onnxruntime.

Each text is a run of its own. In a batch the 8-bit scales, and so the vector, would depend on the
neighbours; threads over one session are as quick, and a vector stays a function of its text.
"""

import hashlib
import json
import logging
import math
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pegboard.embed.device import CPU, chosen_for, load_onnxruntime
from pegboard.errors import EmbeddingError, ModelUnavailable
from pegboard.model.items import Fingerprint, Vector
from pegboard.text import TEXT_VERSION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

log = logging.getLogger(__name__)

WEIGHTS = Path(__file__).with_name("weights")
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
CARD = "model.json"

MAX_DEFAULT_THREADS = 4
QUEUED_PER_THREAD = 8
ERRORS_ONLY = 3
RETRY_LOAD = 30.0
"""Seconds before a model that could not be loaded is tried again."""
UNKNOWN = "[UNK]"
_NOT_LATIN = re.compile("[^\x00-\u024f\u1e00-\u1eff\u2000-\u206f]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN_WORD = re.compile(r"[^\W\d_]{4,}")
"""A telling word, and no unit or extension such as "txt"."""
MOST_UNKNOWN = 0.2
LEAST_LETTERS = 1.5
"""Share of unknown tokens, and letters per token, beyond which a query's language is unknown.

English has 2 to 6 letters per token, German and Spanish 1.5 to 3.7, Russian and Arabic about 1,
Korean less; most tokens of Chinese and Thai are unknown.
"""
HINT = "reinstall pegboard or run `make model`; until then search by words goes on"


class LocalEmbedder:
    """Loads the model at the first text, once; threads may share it."""

    def __init__(self, weights: Path | None = None, threads: int = 0, device: str = "cpu") -> None:
        """A `device` of `auto` takes a GPU if there is one, and says so if there is none."""
        self._device = device
        self._folder = WEIGHTS if weights is None else weights
        self._threads = threads if threads > 0 else min(_cpus(), MAX_DEFAULT_THREADS)
        self._lock = threading.Lock()
        self._model: _Model | None = None
        self._failure: ModelUnavailable | None = None
        self._retry_at = 0.0
        self._pool: ThreadPoolExecutor | None = None

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Known from `model.json` alone, so that asking for it loads no model."""
        card = self._card
        model = f"{card.model}@{card.sha256[MODEL][:8]}"
        return Fingerprint("local", model, card.dimension, TEXT_VERSION)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        model = self._loaded()
        if len(texts) == 1 or self._threads == 1:
            return [model.vector(text) for text in texts]
        return self._share_out(model, texts)

    def embed_query(self, text: str) -> Vector:
        """Embed a query like any other text: the model was trained without prefixes.

        Of a query in a language that the tokenizer does not know, embed the English words. Raises
        `EmbeddingError` if it has none: the vector would be noise, and a search without it finds
        more.
        """
        readable = self.readable(text)
        if text.strip() and not readable.strip():
            raise EmbeddingError(
                f"the model {self._card.model} does not know this language",
                "choose a model that does with: pegboard model use MODEL",
            )
        return self._loaded().vector(readable)

    def readable(self, text: str) -> str:
        """Return the part of a text that the tokenizer knows; blank if there is none.

        Of a Chinese description, that is its English words.
        """
        if text.isascii() or self._loaded().knows(text):
            return text
        found = " ".join(_NOT_LATIN.sub(" ", text).split())
        return found if _LATIN_WORD.search(found) and self._loaded().knows(found) else ""

    def close(self) -> None:
        """End the threads. Texts still queued are given up; a later `embed` starts new threads."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def _share_out(self, model: "_Model", texts: Sequence[str]) -> list[Vector]:
        """Longest first, so that no thread is left with a long text when the others are done.

        The queue is short, so that an interrupt and the interpreter's end wait for few texts.
        """
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]), reverse=True)
        queued = self._threads * QUEUED_PER_THREAD
        futures: dict[int, Future[Vector]] = {}
        pool = self._started_pool()
        try:
            for place, index in enumerate(order):
                if place >= queued:
                    futures[order[place - queued]].result()
                futures[index] = pool.submit(model.vector, texts[index])
            return [futures[index].result() for index in range(len(texts))]
        except (CancelledError, RuntimeError) as error:
            cause = str(error) or "the embedder was closed"
            raise EmbeddingError(f"{len(texts)} texts could not be embedded: {cause}") from error
        finally:
            for future in futures.values():
                future.cancel()

    def _started_pool(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, "pegboard-embed")
            return self._pool

    @cached_property
    def _card(self) -> "_Card":
        return _read_card(self._folder / CARD)

    def _loaded(self) -> "_Model":
        with self._lock:
            if self._failure is not None and time.monotonic() < self._retry_at:
                raise ModelUnavailable(self._failure.message, self._failure.hint)
            if self._model is None:
                try:
                    self._model = _load(self._folder, self._card, self._device)
                except ModelUnavailable as failure:
                    self._failure = ModelUnavailable(failure.message, failure.hint)
                    self._retry_at = time.monotonic() + RETRY_LOAD
                    raise
            return self._model


class _Card(NamedTuple):
    """What `model.json` says."""

    model: str
    dimension: int
    max_tokens: int
    sha256: Mapping[str, str]


class _Session(Protocol):
    """The calls of onnxruntime's untyped session that are made here."""

    def get_providers(self) -> list[str]: ...

    def run(
        self, outputs: None, feeds: Mapping[str, "NDArray[np.int64]"]
    ) -> "list[NDArray[np.float32]]": ...


class _Model(NamedTuple):
    session: _Session
    tokenizer: "Tokenizer"
    failures: tuple[type[Exception], ...]

    def knows(self, text: str) -> bool:
        """Whether the tokenizer has words for the text, instead of single letters or none."""
        letters = _clean(" ".join(_LETTERS.findall(text)))  # digits and symbols: no language
        if letters.isascii():
            return True
        encoding = self.tokenizer.encode(letters)
        tokens = encoding.tokens[1:-1]
        read = letters[: max((end for _, end in encoding.offsets), default=0)]
        unknown = tokens.count(UNKNOWN) / max(len(tokens), 1)
        per_token = sum(map(str.isalpha, read)) / max(len(tokens), 1)
        return unknown <= MOST_UNKNOWN and per_token >= LEAST_LETTERS

    def vector(self, text: str) -> Vector:
        """The mean of the token vectors, scaled to unit length."""
        import numpy as np

        clean = _clean(text)
        ids = np.array([self.tokenizer.encode(clean).ids], dtype=np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        try:
            tokens = self.session.run(None, feeds)[0][0]
        except self.failures as error:
            raise EmbeddingError(f"{clean[:60]!r} could not be embedded: {error}") from error
        mean = tokens.mean(axis=0)
        length = float(np.linalg.norm(mean))
        if length == 0 or not math.isfinite(length):
            raise EmbeddingError(f"{clean[:60]!r} got a vector of length {length} from the model")
        return Vector((mean / length).astype("<f4").tobytes())


def _clean(text: str) -> str:
    """The tokenizer refuses lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _load(folder: Path, card: _Card, device: str) -> _Model:
    """Hashing the files and making the session leave the interpreter free: they run aside."""
    with ThreadPoolExecutor(2) as aside:
        checks = [aside.submit(_verify, folder / name, card) for name in (MODEL, TOKENIZER)]
        try:
            return _unverified(folder, card, device, aside)
        finally:
            for check in checks:
                check.result()  # a wrong file is the better explanation of whatever else failed


def _unverified(folder: Path, card: _Card, device: str, aside: ThreadPoolExecutor) -> _Model:
    try:
        load_onnxruntime()
        session = aside.submit(_session_on, device, folder / MODEL)
        tokenizer = _tokenizer(_read(folder / TOKENIZER), card.max_tokens)
    except (ImportError, AttributeError) as error:  # AttributeError if numpy's ABI does not fit
        raise ModelUnavailable(f"{folder / MODEL} cannot be run: {error}", HINT) from error
    except ValueError as error:
        raise ModelUnavailable(f"{folder / TOKENIZER} cannot be loaded: {error}", HINT) from error
    failures = _onnxruntime_failures()
    try:
        return _Model(session.result(), tokenizer, failures)
    except failures as error:
        raise ModelUnavailable(f"{folder / MODEL} cannot be loaded: {error}", HINT) from error


def _session_on(device: str, model: Path) -> _Session:
    """A GPU that is offered need not work: what it takes may be missing on this machine."""
    chosen = chosen_for(device)
    if chosen == CPU:
        if device == "auto":
            log.info("onnxruntime offers no GPU: the model runs on the CPU")
        return _session(model, [CPU])
    try:
        session = _session(model, [chosen, CPU])
        if chosen in session.get_providers():
            return session
        failed = "it took the CPU instead"
    except _onnxruntime_failures() as error:
        failed = str(error)
    failed = f"onnxruntime offers {chosen} and cannot use it: {failed}"
    if device == "gpu":
        raise ModelUnavailable(failed, "install what it needs, or use device auto or cpu")
    log.warning("%s; the model runs on the CPU", failed)
    return _session(model, [CPU])


def _session(model: Path, providers: list[str]) -> _Session:
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    onnxruntime.set_default_logger_severity(ERRORS_ONLY)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ERRORS_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Fixed, because vectors differ slightly between levels.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    # Its own way back to the CPU prints to where the answers of a server belong.
    session: _Session = onnxruntime.InferenceSession(
        str(model), options, providers=providers, enable_fallback=0
    )
    return session


def _onnxruntime_failures() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: its own classes have no common base but Exception."""
    from onnxruntime.capi import onnxruntime_pybind11_state as binding

    kinds = [kind for kind in vars(binding).values() if isinstance(kind, type)]
    return (RuntimeError, *(kind for kind in kinds if issubclass(kind, Exception)))


def _tokenizer(vocabulary: bytes, max_tokens: int) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(vocabulary)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _verify(path: Path, card: _Card) -> None:
    found, expected = hashlib.sha256(_read(path)).hexdigest(), card.sha256[path.name]
    if found != expected:
        raise ModelUnavailable(
            f"{path} is not the file that was packaged: its SHA-256 is {found}, not {expected}",
            HINT,
        )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelUnavailable(f"{path} cannot be read: {error.strerror}", HINT) from error


def _read_card(path: Path) -> _Card:
    try:
        facts = json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise ModelUnavailable(f"{path} is not JSON: {error}", HINT) from error
    match facts:
        case {
            "model": str(model),
            "dimension": int(dimension),
            "max_tokens": int(max_tokens),
            "sha256": {"model.onnx": str(onnx), "tokenizer.json": str(tokenizer)},
        } if dimension > 0 and max_tokens > 2:  # two of the tokens are the model's own marks
            return _Card(model, dimension, max_tokens, {MODEL: onnx, TOKENIZER: tokenizer})
    raise ModelUnavailable(
        f"{path} lacks model, dimension, max_tokens or a sha256 of {MODEL} and {TOKENIZER}", HINT
    )


def _cpus() -> int:
    """How many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
