import sys
import threading
from array import array
from concurrent.futures import ThreadPoolExecutor

import pydantic_ai.embeddings
import pytest
from pydantic_ai.embeddings import TestEmbeddingModel

from embedding_server import changed, hangs, hangs_up, raw, status, unless
from pegboard.embed.choose import make_embedder
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.service import PROBE
from pegboard.errors import EmbeddingError, ModelUnavailable
from pegboard.model.items import ModelSpec

KEY = "sk-1234567890-secret"


@pytest.fixture
def make(server):
    made = []

    def made_for(model="openai:some-model", dimension=64, **more):
        spec = ModelSpec("pydantic-ai", model, dimension, server.url, "env:SOME_KEY")
        spec = spec._replace(**{name: more.pop(name) for name in [*more] if name in spec._fields})
        more = {"environ": {"SOME_KEY": KEY}, "timeout_seconds": 10.0, "max_retries": 0} | more
        made.append(make_embedder(spec, **more))
        return made[-1]

    yield made_for
    for each in made:
        each.close()


def test_a_model_of_openai_is_asked_through_pydantic_ai(server, make):
    server.key = KEY
    embedder = make(dimension=0)
    [vector] = embedder.embed(["a letter"])
    [expected] = HashedEmbedder(64).embed(["a letter"])
    assert list(array("f", vector)) == pytest.approx(list(array("f", expected)), abs=1e-6)
    assert embedder.fingerprint.key.startswith("pydantic-ai/openai:some-model/64/")
    assert KEY not in f"{embedder.fingerprint}{embedder!r}"
    assert [asked.texts for asked in server.asked] == [[PROBE], ["a letter"]]


def test_what_the_table_knows_of_a_model_holds_here_too(server, make):
    embedder = make("ollama:nomic-embed-text", dimension=0)
    assert embedder.fingerprint.dimension == 768
    server.dimension = 768
    embedder.embed_query("a letter")
    assert server.asked[0].texts == ["search_query: a letter"]


def test_sentence_transformers_puts_its_prefixes_itself(make):
    plain = make("sentence-transformers:intfloat/e5-small-v2", dimension=0)
    assert plain.fingerprint.model == "sentence-transformers:intfloat/e5-small-v2"


@pytest.mark.parametrize(
    ("model", "dimension", "sent"),
    [("openai:some-model", 32, 32), ("openai:text-embedding-3-small", 1536, None)],
)
def test_a_dimension_is_asked_for_where_the_model_might_make_another(
    server, make, model, dimension, sent
):
    server.dimension = 1536
    make(model, dimension).embed(["a"])
    assert server.asked[0].body.get("dimensions") == sent


def test_pydantic_ais_own_test_model_is_told_queries_from_documents(make, monkeypatch):
    model = TestEmbeddingModel(dimensions=4)
    asked = []
    embed = model.embed

    async def watched(inputs, *, input_type, settings=None):
        asked.append((inputs, input_type, settings))
        return await embed(inputs, input_type=input_type, settings=settings)

    model.embed = watched
    monkeypatch.setattr(
        pydantic_ai.embeddings, "infer_embedding_model", lambda name, provider_factory: model
    )
    embedder = make("made:up", dimension=4)
    embedder.embed(["a"])
    vector = embedder.embed_query("b")
    assert asked == [(["a"], "document", {"dimensions": 4}), (["b"], "query", {"dimensions": 4})]
    assert list(array("f", vector)) == pytest.approx([0.5] * 4)


def test_threads_may_share_it_and_closing_leaves_no_thread(server, make):
    embedder = make()
    texts = [f"text {n}" for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(embedder.embed_query, texts))
    expected = HashedEmbedder(64).embed(texts)
    for vector, wanted in zip(found, expected, strict=True):
        assert list(array("f", vector)) == pytest.approx(list(array("f", wanted)), abs=1e-6)
    embedder.close()
    assert not [t for t in threading.enumerate() if t.name == "pegboard-models"]


def test_without_the_extra_the_error_says_how_to_get_it(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai.embeddings", None)
    with pytest.raises(ModelUnavailable) as caught:
        make().embed(["a"])
    assert caught.value.hint == "pip install 'pegboard[models]'"


def test_a_provider_whose_library_is_missing_is_unavailable_and_says_which(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "cohere", None)
    with pytest.raises(ModelUnavailable, match="cohere"):
        make("cohere:embed-v4.0", base_url="").embed(["a"])


def test_an_unknown_provider_is_unavailable(make):
    with pytest.raises(ModelUnavailable, match="nobody:knows cannot be used"):
        make("nobody:knows").embed(["a"])


def test_a_key_that_nobody_set_is_told(make, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelUnavailable, match="OPENAI_API_KEY"):
        make(base_url="", api_key="").embed(["a"])


def test_a_refused_key_is_not_shown(server, make):
    server.key = "another"
    with pytest.raises(ModelUnavailable, match="status 401") as caught:
        make().embed(["a"])
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (status(404, "no such model"), "404"),
        (status(429, "slow down", Retry_After="0"), "429"),
        (status(500, "out of memory"), "500"),
        (hangs_up, "cannot be used"),
        (raw(b"<html>Sign in</html>"), "cannot be used"),
        (changed(lambda entries: []), "cannot be used"),
        (changed(lambda es: [e | {"embedding": [1.0, 2.0]} for e in es]), "2 numbers"),
    ],
)
def test_a_service_that_is_of_no_use_is_unavailable(server, make, trouble, told):
    server.always = trouble
    with pytest.raises(ModelUnavailable, match=told):
        make().embed(["a"])


def test_a_service_that_hangs_is_given_up_after_its_time(server, make):
    server.always = hangs
    with pytest.raises(ModelUnavailable, match=r"no answer within 0\.3 s"):
        make(timeout_seconds=0.3).embed(["a"])


def test_a_text_that_is_refused_is_only_its_own_failure(server, make):
    server.always = unless(lambda asked: "bad" in asked.texts, status(400, f"{KEY} too long"))
    with pytest.raises(EmbeddingError, match=r"'bad'.*\*\*\* too long") as caught:
        make().embed(["bad"])
    assert not isinstance(caught.value, ModelUnavailable)
