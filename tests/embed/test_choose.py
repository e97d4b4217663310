import onnxruntime
import pytest

from embedding_server import Exchange, status, well
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.embed.choose import PROVIDERS, make_embedder
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.known import known_model
from pegboard.embed.local import LocalEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.embed.service import PROBE
from pegboard.errors import ConfigError, ModelUnavailable
from pegboard.model.items import ModelSpec
from pegboard.ports.stages import Embedder


def make(
    provider: str, model: str = "", device: str = "auto", dimension: int = 0, **more: str
) -> Embedder | None:
    return make_embedder(ModelSpec(provider, model, dimension, **more), device=device, environ={})


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


def test_a_gpu_that_is_not_there_is_refused_and_what_is_there_named():
    with pytest.raises(ConfigError, match=r"onnxruntime offers only .*CPUExecutionProvider"):
        make("local", device="gpu")


def test_a_gpu_that_onnxruntime_offers_is_accepted(monkeypatch):
    offered = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: offered)
    assert make("local", device="gpu") is not None


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
    assert caught.value.hint == f"use one of: {', '.join(PROVIDERS)}"
    assert {"local", "openai-compatible", "local-http", "test", "disabled"} < set(PROVIDERS)


@pytest.mark.parametrize("provider", ["openai-compatible", "local-http", "pydantic-ai"])
def test_a_service_needs_the_name_of_a_model(provider):
    with pytest.raises(ConfigError, match=f"{provider} needs embed.model"):
        make(provider, base_url="https://api.example/v1")


@pytest.mark.parametrize("provider", ["openai-compatible", "local-http"])
def test_a_service_needs_an_address(provider):
    with pytest.raises(ConfigError, match=f"{provider} needs embed.base_url"):
        make(provider, "m")


def test_a_key_in_the_place_of_a_reference_is_refused_and_not_shown():
    with pytest.raises(ConfigError, match="not a reference") as caught:
        make("openai-compatible", "m", base_url="https://api.example/v1", api_key="sk-abcdef")
    assert "sk-abcdef" not in str(caught.value)
    assert "env:NAME" in caught.value.hint


def test_a_model_of_pydantic_ai_is_named_with_its_provider():
    with pytest.raises(ConfigError, match=r"'text-embedding-3-small'.*provider:model"):
        make("pydantic-ai", "text-embedding-3-small")


def test_a_known_model_has_its_dimension_and_prefixes_from_the_table(server):
    embedder = make("local-http", "intfloat/e5-small-v2", base_url=server.url)
    plain = make("local-http", "unheard-of", dimension=384, base_url=server.url)
    assert embedder.fingerprint.dimension == 384
    assert embedder.fingerprint.model.startswith("intfloat/e5-small-v2@")
    assert plain.fingerprint.model == "unheard-of"
    server.dimension = 384
    embedder.embed(["send\nA letter"])
    embedder.embed_query("a letter")
    assert [asked.texts for asked in server.asked] == [
        ["passage: send", "passage: A letter"],
        ["query: a letter"],
    ]
    embedder.close()


def test_both_parts_of_all_texts_go_in_one_request(server):
    embedder = make("local-http", "m", dimension=64, base_url=server.url)
    embedder.embed(["send\nA letter", "send\nA parcel"])
    assert [asked.texts for asked in server.asked] == [["send", "A letter", "A parcel"]]
    embedder.close()


@pytest.mark.parametrize(
    ("provider", "model", "dimension", "sent"),
    [
        ("openai-compatible", "unheard-of", 32, 32),
        ("openai-compatible", "unheard-of", 0, None),
        ("openai-compatible", "text-embedding-3-small", 32, 32),
        ("openai-compatible", "text-embedding-3-small", 1536, None),
        ("local-http", "unheard-of", 32, 32),
        ("local-http", "unheard-of", 0, None),
        ("local-http", "Qwen/Qwen3-Embedding-4B", 32, 32),
        ("local-http", "Qwen/Qwen3-Embedding-4B", 2560, None),
    ],
)
def test_a_dimension_is_sent_where_the_model_might_make_another(
    server, provider, model, dimension, sent
):
    own = known_model(model)
    server.dimension = own.dimension if own else 64
    embedder = make(provider, model, dimension=dimension, base_url=server.url)
    embedder.embed(["a"])
    assert server.asked[-1].body.get("dimensions") == sent
    assert embedder.fingerprint.dimension == (dimension or 64)
    embedder.close()


def ignores_the_dimension(exchange: Exchange) -> None:
    """As llama.cpp does."""
    exchange.asked.body.pop("dimensions")
    well(exchange)


@pytest.mark.parametrize("provider", ["openai-compatible", "local-http"])
def test_a_dimension_that_the_model_does_not_make_is_told(server, provider):
    server.always = ignores_the_dimension
    embedder = make(provider, "unheard-of", dimension=32, base_url=server.url)
    with pytest.raises(ModelUnavailable, match="64 numbers came back instead of 32") as caught:
        embedder.embed(["a"])
    assert "embed.dimension" in caught.value.hint
    embedder.close()


@pytest.mark.parametrize("provider", ["openai-compatible", "local-http"])
@pytest.mark.parametrize(("dimension", "told"), [(32, True), (0, False)])
def test_a_service_that_refuses_a_dimension_is_told_with_the_way_out(
    server, provider, dimension, told
):
    server.always = status(400, "This model does not support specifying dimensions.")
    embedder = make(provider, "unheard-of", dimension=dimension, base_url=server.url)
    with pytest.raises(ModelUnavailable, match="specifying dimensions") as caught:
        embedder.embed(["a"])
    assert ("asked for 32 dimensions" in caught.value.hint) == told
    embedder.close()


def test_the_key_is_looked_up_where_the_reference_points(server, tmp_path):
    server.key = "sk-12345"
    (tmp_path / "key").write_text("sk-12345\n")
    for reference in ("env:SOME_KEY", f"file:{tmp_path / 'key'}"):
        spec = ModelSpec("openai-compatible", "m", 64, server.url, reference)
        embedder = make_embedder(spec, environ={"SOME_KEY": "sk-12345"})
        assert len(embedder.embed(["a"])) == 1
        embedder.close()


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("env:MISSING", "env:MISSING, and there is nothing"),
        ("env:EMPTY", "env:EMPTY, and there is nothing"),
        ("file:/no/such/file", "cannot be read"),
        ("env:ODD", "does not look like a key"),
    ],
)
def test_a_key_that_is_not_there_makes_the_model_unavailable(server, reference, told):
    spec = ModelSpec("openai-compatible", "m", 64, server.url, reference)
    embedder = make_embedder(spec, environ={"EMPTY": "", "ODD": "sk\r\nX-Other: 1"})
    with pytest.raises(ModelUnavailable, match=told) as caught:
        embedder.embed(["a"])
    assert "X-Other" not in str(caught.value)
    assert server.asked == []
    embedder.close()


def test_the_settings_offer_the_providers_there_are():
    assert EmbedSettings().spec == ModelSpec("local")
    made = EmbedSettings(provider="local-http", model="m", dimension=3, base_url="u", api_key="k")
    assert made.spec == ModelSpec("local-http", "m", 3, "u", "k")
    assert Settings(embed=EmbedSettings(cache="off")).vectors_folder is None
    assert Settings().vectors_folder.name == "vectors"


def test_what_was_made_once_is_not_asked_for_again(server, tmp_path):
    spec = ModelSpec("local-http", "m", 64, server.url)
    for _ in range(2):
        embedder = make_embedder(spec, environ={}, cache=tmp_path)
        found = embedder.embed(["send\nA letter", "send"]), embedder.embed_query("a letter")
        embedder.close()
    assert [asked.texts for asked in server.asked] == [["send", "A letter"], ["a letter"]]
    server.always = status(500)
    embedder = make_embedder(spec, environ={}, cache=tmp_path)
    assert (embedder.embed(["send\nA letter", "send"]), embedder.embed_query("a letter")) == found
    embedder.close()


def test_vectors_of_another_service_model_or_length_are_not_taken_from_the_cache(server, tmp_path):
    def texts(spec):
        server.asked.clear()
        embedder = make_embedder(spec, environ={}, cache=tmp_path)
        embedder.embed(["a"])
        embedder.close()
        return [asked.texts for asked in server.asked]

    spec = ModelSpec("local-http", "m", 64, server.url)
    assert texts(spec) == [["a"]]
    assert texts(spec) == []
    assert texts(spec._replace(model="n")) == [["a"]]
    assert texts(spec._replace(base_url=server.url.replace("127.0.0.1", "localhost"))) == [["a"]]
    learnt = spec._replace(dimension=0)
    assert texts(learnt) == [[PROBE], ["a"]]
    server.dimension = 32
    assert texts(learnt) == [[PROBE], ["a"]]
