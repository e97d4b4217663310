import pytest

from pegboard.embed.choose import make_embedder
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.local import LocalEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.errors import ConfigError
from pegboard.ports import Embedder


def make(
    provider: str, model: str = "", device: str = "auto", dimension: int = 0
) -> Embedder | None:
    return make_embedder(provider, model=model, device=device, dimension=dimension, threads=0)


@pytest.mark.parametrize("model", ["", "all-MiniLM-L6-v2"])
@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_local_is_the_packaged_model_on_the_cpu(model, device):
    made = make("local", model, device)
    assert isinstance(made, PartsEmbedder)
    assert made.fingerprint == LocalEmbedder().fingerprint


def test_another_local_model_is_refused_and_the_packaged_one_named():
    with pytest.raises(ConfigError, match="bge-small") as caught:
        make("local", "bge-small")
    assert "all-MiniLM-L6-v2" in caught.value.hint


def test_a_gpu_is_refused_because_the_packaged_model_runs_on_the_cpu():
    with pytest.raises(ConfigError, match="runs on the CPU"):
        make("local", device="gpu")


def test_an_unknown_device_is_refused_by_name():
    with pytest.raises(ConfigError, match="abacus"):
        make("local", device="abacus")


@pytest.mark.parametrize(("asked", "given"), [(0, 256), (64, 64)])
def test_the_test_provider_ranks_by_hashed_ngrams_in_the_dimension_asked_for(asked, given):
    embedder = make("test", dimension=asked)
    assert isinstance(embedder, PartsEmbedder)
    assert embedder.embed_query("a letter") == HashedEmbedder(given).embed_query("a letter")
    assert embedder.fingerprint.dimension == given


def test_disabled_is_no_embedder():
    assert make("disabled") is None


def test_an_unknown_provider_is_refused_and_the_known_ones_listed():
    with pytest.raises(ConfigError, match="'clippy'") as caught:
        make("clippy")
    assert caught.value.hint == "use one of: local, test, disabled"
