"""Which embedder the settings ask for."""

from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.local import LocalEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.errors import ConfigError
from pegboard.ports import Embedder

PROVIDERS = ("local", "test", "disabled")
PACKAGED_MODEL = "all-MiniLM-L6-v2"
PACKAGED_DIMENSION = 384
TEST_DIMENSION = 256


def make_embedder(
    provider: str, *, model: str, device: str, dimension: int, threads: int
) -> Embedder | None:
    """None stands for no embedding; a `dimension` or `threads` of 0 leaves the choice open."""
    match provider:
        case "local":
            return PartsEmbedder(_local(model, device, dimension, threads))
        case "test":
            return PartsEmbedder(HashedEmbedder(dimension or TEST_DIMENSION))
        case "disabled":
            return None
    raise ConfigError(
        f"there is no embedding provider {provider!r}", f"use one of: {', '.join(PROVIDERS)}"
    )


def _local(model: str, device: str, dimension: int, threads: int) -> LocalEmbedder:
    if model not in ("", PACKAGED_MODEL):
        raise ConfigError(
            f"the local provider has no model {model!r}",
            f"the packaged one is {PACKAGED_MODEL}; leave the model empty to use it",
        )
    if dimension not in (0, PACKAGED_DIMENSION):
        raise ConfigError(
            f"{PACKAGED_MODEL} makes vectors of {PACKAGED_DIMENSION} numbers, not {dimension}",
            "leave the dimension at 0",
        )
    if device == "gpu":
        raise ConfigError(
            "the packaged model runs on the CPU, not on device 'gpu'.", "use device auto or cpu"
        )
    if device not in ("auto", "cpu"):
        raise ConfigError(f"there is no device {device!r}", "use device auto or cpu")
    return LocalEmbedder(threads=threads)
