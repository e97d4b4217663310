"""Vectors, what makes them comparable, and the models that make them."""

from typing import NamedTuple, NewType

Vector = NewType("Vector", bytes)
"""An embedding of unit length, as little-endian float32."""


class Fingerprint(NamedTuple):
    """What makes two vectors comparable: everything that went into them but the text itself."""

    provider: str
    model: str
    dimension: int
    text_version: int

    @property
    def key(self) -> str:
        return f"{self.provider}/{self.model}/{self.dimension}/{self.text_version}"


class ModelSpec(NamedTuple):
    """Which model is to make vectors, and where it is asked."""

    provider: str
    model: str = ""
    dimension: int = 0
    base_url: str = ""
    api_key: str = ""
    """A reference such as `env:OPENAI_API_KEY`, never the key."""


class Model(NamedTuple):
    """A model that made vectors of a board, or is to make them."""

    fingerprint: Fingerprint
    spec: ModelSpec


class Calibration(NamedTuple):
    """Scale of a model's cosines (`pegboard.search.cosine_scale`), and what it was fitted on."""

    slope: float
    offset: float
    items: int
    questions: int
    at: float
    """Seconds since the epoch."""


class ModelState(NamedTuple):
    active: Model | None = None
    """Whose vectors are searched."""
    wanted: Model | None = None
    """Whose vectors are being made beside the active ones, until it can take their place."""
    previous: Model | None = None
    chosen: bool = False
    """Whether a person chose it for the board, so that the settings of a process do not count."""
    calibration: Calibration | None = None
    """Of the active model; None if it was never calibrated on this board."""


class KeptVectors(NamedTuple):
    """The vectors of one kind that are on a board; boards of old do not know who made them."""

    fingerprint: Fingerprint
    spec: ModelSpec | None
    vectors: int
    calibration: Calibration | None = None
