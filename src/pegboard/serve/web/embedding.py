"""How far an item is on the way to its vector. The vector itself is shown to nobody."""

from typing import NamedTuple

from pegboard.model.items import EmbeddingStatus, Entry
from pegboard.serve.web.moments import Moment, moment

SAID = {
    EmbeddingStatus.PENDING: "Its vector is being made. Meanwhile it is found by words.",
    EmbeddingStatus.READY: "It is found by words and by meaning.",
    EmbeddingStatus.FAILED: "Its vector could not be made. It is found by words.",
    EmbeddingStatus.DISABLED: "No vectors are made here. It is found by words.",
    EmbeddingStatus.BLANK: "It says nothing that a vector could be made of.",
}
TONES = {
    EmbeddingStatus.PENDING: "warn",
    EmbeddingStatus.READY: "good",
    EmbeddingStatus.FAILED: "bad",
    EmbeddingStatus.DISABLED: "",
    EmbeddingStatus.BLANK: "",
}


class Embedding(NamedTuple):
    status: str
    tone: str
    said: str
    model: str
    dimension: int | None
    at: Moment | None
    error: str

    @property
    def waits(self) -> bool:
        return self.status == EmbeddingStatus.PENDING

    @property
    def failed(self) -> bool:
        return self.status == EmbeddingStatus.FAILED


def embedding_of(entry: Entry) -> Embedding:
    state = entry.embedding
    return Embedding(
        state.status.value,
        TONES[state.status],
        SAID[state.status],
        state.model,
        state.dimension,
        moment(state.embedded_at),
        state.error,
    )
