import json
import logging
import math
import socket
import sys
import time
from array import array
from email.utils import formatdate

import pytest

from embedding_server import changed, hangs, hangs_up, raw, status, unless, well
from pegboard.embed.choose import make_embedder
from pegboard.embed.faults import LONGEST_WAIT
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.http import ROOM, Address, HttpService, _vectors, checked_url
from pegboard.embed.service import PROBE, Manner, ServiceEmbedder
from pegboard.errors import ConfigError, EmbeddingError, ModelUnavailable
from pegboard.model.items import ModelSpec

pytestmark = pytest.mark.server

KEY = "sk-1234567890-secret"


class Made(ServiceEmbedder):
    """Its waits are written down instead of waited."""

    def __init__(self, server, *, timeout=5.0, key="", **manner):
        manner = {"dimension": server.dimension} | manner
        address = Address(server.url, "some-model", 0, timeout, direct=True)
        self.service = HttpService(address, lambda: key)
        super().__init__(self.service, Manner("local-http", "some-model", **manner))
        self.waits = []
        self._closed.wait = self.waits.append


@pytest.fixture
def make(server):
    made = []

    def made_for(**wishes):
        made.append(Made(server, **wishes))
        return made[-1]

    yield made_for
    for each in made:
        each.close()


def numbers(vector):
    return array("f", vector)


def test_each_text_gets_its_vector_at_unit_length(server, make):
    texts = ["send a letter", "weather in Paris", "delete a file"]
    found = make().embed(texts)
    for vector, expected in zip(found, HashedEmbedder(64).embed(texts), strict=True):
        assert list(numbers(vector)) == pytest.approx(list(numbers(expected)), abs=1e-6)
        assert math.hypot(*numbers(vector)) == pytest.approx(1.0, abs=1e-6)
    assert [asked.path for asked in server.asked] == ["/v1/embeddings"]
    assert server.asked[0].body == {"model": "some-model", "input": texts}
    assert "authorization" not in server.asked[0].headers


def test_no_texts_are_no_request(server, make):
    assert make().embed([]) == []
    assert server.asked == []


def test_many_texts_go_in_batches_and_each_different_one_once(server, make):
    texts = ["a", "b", "a", "c", "d", "e"]
    found = make(batch_size=2).embed(texts)
    assert [asked.texts for asked in server.asked] == [["a", "b"], ["c", "d"], ["e"]]
    assert found[0] == found[2]
    assert found == make().embed(texts)


def test_one_connection_serves_many_requests(server, make):
    embedder = make(batch_size=1)
    ports = set()
    server.always = lambda exchange: (
        ports.add(exchange.handler.client_address[1]),
        well(exchange),
    )
    embedder.embed(["a", "b", "c"])
    assert len(ports) == 1


def test_answers_in_another_order_are_put_right_by_their_index(server, make):
    server.always = changed(lambda entries: entries[::-1])
    assert make().embed(["a", "b", "c"]) == make().embed(["a"]) + make().embed(["b", "c"])


def test_answers_without_an_index_are_taken_in_order(server, make):
    server.always = changed(lambda es: [{"embedding": e["embedding"]} for e in es])
    assert make().embed(["a", "b"]) == make().embed(["a"]) + make().embed(["b"])


def test_a_text_with_half_a_character_can_be_sent(server, make):
    make().embed(["broken \ud800 text"])
    assert server.asked[0].texts == ["broken ? text"]


# A service that is at fault is waited for.


def test_a_service_that_is_not_there_is_unavailable_and_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        spec = ModelSpec("local-http", "m", 4, url)
        embedder = make_embedder(spec, environ={}, max_retries=0)
        with pytest.raises(ModelUnavailable, match=f"{url} cannot be reached") as caught:
            embedder.embed(["a"])
        assert "embed.base_url" in caught.value.hint
        embedder.close()


@pytest.mark.parametrize("code", [401, 403])
def test_a_key_that_is_refused_makes_the_model_unavailable(server, make, code):
    server.always = status(code)
    with pytest.raises(ModelUnavailable, match=f"status {code}") as caught:
        make().embed(["a"])
    assert "embed.api_key" in caught.value.hint
    assert len(server.asked) == 1


def test_an_unknown_model_or_path_is_unavailable_with_a_hint(server, make):
    server.always = status(404, "no such model")
    with pytest.raises(ModelUnavailable, match="404: no such model") as caught:
        make().embed(["a"])
    assert "embed.model" in caught.value.hint
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed(server, make):
    server.always = status(307, Location="http://elsewhere.example/v1/embeddings")
    with pytest.raises(ModelUnavailable, match=r"sends on to elsewhere\.example"):
        make().embed(["secret plans"])
    assert len(server.asked) == 1


def test_a_busy_service_is_asked_again_after_the_time_it_names(server, make):
    server.next.extend([status(429, Retry_After="7"), status(503, Retry_After="3")])
    embedder = make()
    assert len(embedder.embed(["a"])) == 1
    assert embedder.waits == [7, 3]


def test_a_date_to_come_back_is_understood(server, make):
    server.next.append(status(429, Retry_After=formatdate(time.time() + 9, usegmt=True)))
    embedder = make()
    embedder.embed(["a"])
    [waited] = embedder.waits
    assert 0 < waited <= 9


@pytest.mark.parametrize("odd", ["soon", "-5", "nan", "inf", ""])
def test_an_odd_time_to_come_back_is_ours_to_choose(server, make, odd):
    server.next.append(status(429, Retry_After=odd))
    embedder = make()
    embedder.embed(["a"])
    [waited] = embedder.waits
    assert 0 < waited <= 0.001


def test_waits_without_a_time_double_and_are_jittered(server, make, monkeypatch):
    monkeypatch.setattr("pegboard.embed.service.FIRST_WAIT", 1.0)
    server.always = status(429)
    embedder = make(max_retries=6)
    with pytest.raises(ModelUnavailable):
        embedder.embed(["a"])
    for attempt, waited in enumerate(embedder.waits):
        longest = min(2.0**attempt, LONGEST_WAIT)
        assert longest / 2 <= waited <= longest
    assert len(embedder.waits) == 6


def test_a_service_that_wants_to_be_left_alone_for_long_is_unavailable(server, make):
    server.always = status(429, Retry_After="3600")
    embedder = make()
    with pytest.raises(ModelUnavailable, match="429"):
        embedder.embed(["a"])
    assert len(server.asked) == 1 and embedder.waits == []


@pytest.mark.parametrize("trouble", [status(500), status(502), status(408), hangs_up])
def test_a_passing_failure_is_tried_again(server, make, trouble):
    server.next.extend([trouble, trouble])
    assert len(make().embed(["a"])) == 1
    assert len(server.asked) == 3


def test_a_service_that_stays_broken_is_unavailable_after_its_retries(server, make):
    server.always = status(500, "out of memory")
    with pytest.raises(ModelUnavailable, match="500: out of memory"):
        make(max_retries=2).embed(["a"])
    assert [asked.texts for asked in server.asked] == [["a"]] * 3 + [[PROBE]]


def test_a_service_that_hangs_is_given_up_after_its_time(server, make):
    server.always = hangs
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.1 s") as caught:
        make(timeout=0.1).embed(["a"])
    assert "embed.timeout_seconds" in caught.value.hint


def test_an_answer_that_trickles_is_given_up_after_its_time(server, make):
    def trickle(exchange):
        exchange.handler.send_response(200)
        exchange.handler.send_header("Content-Length", "1000")
        exchange.handler.end_headers()
        for _ in range(1000):
            if exchange.server.released.wait(0.02):
                return
            exchange.handler.wfile.write(b" ")

    server.always = trickle
    with pytest.raises(ModelUnavailable, match="did not answer within"):
        make(timeout=0.2).embed(["a"])


GARBLED = {
    "html": (raw(b"<html>Sign in to the network</html>"), "not JSON: '<html>"),
    "half an answer": (raw(b'{"data": [{"embe'), "not JSON"),
    "no data": (raw(b'{"detail": "welcome"}'), "no data"),
    "a list": (raw(b"[]"), "no data"),
    "no vectors": (raw(b'{"data": [7]}'), "entry 0 of its answer is no vector"),
    "text": (raw(b'{"data": [{"embedding": ["a", "b"]}]}'), "instead of 64"),
    "wrong dimension": (changed(lambda es: [e | {"embedding": [1, 2]} for e in es]), "2 numbers"),
    "zero": (changed(lambda es: [e | {"embedding": [0] * 64} for e in es]), "length 0"),
    "nan": (changed(lambda es: [e | {"embedding": [math.nan] * 64} for e in es]), "length nan"),
    "infinite": (changed(lambda es: [e | {"embedding": [math.inf] * 64} for e in es]), "inf"),
    "null": (changed(lambda es: [e | {"embedding": [None] * 64} for e in es]), "that is none"),
    "a base64 text": (changed(lambda es: [e | {"embedding": "AAAA"} for e in es]), "no vector"),
    "huge numbers": (
        changed(lambda es: [e | {"embedding": [10**400] * 64} for e in es]),
        "that is none",
    ),
    "short": (changed(lambda es: es[1:]), "0 vectors came back for 1 texts"),
    "long": (changed(lambda es: es * 2), "came back for 1 texts"),
}


@pytest.mark.parametrize(("answer", "told"), GARBLED.values(), ids=GARBLED)
def test_a_service_that_answers_nonsense_even_to_one_word_is_unavailable(
    server, make, answer, told
):
    server.always = answer
    with pytest.raises(ModelUnavailable, match=told):
        make().embed(["a"])
    assert [asked.texts for asked in server.asked] == [["a"], [PROBE]]


def test_an_endless_answer_is_not_read_to_its_end(server, make):
    written = []

    def endless(exchange):
        exchange.handler.send_response(200)
        exchange.handler.end_headers()
        while not exchange.server.released.is_set():
            exchange.handler.wfile.write(b" " * ROOM)
            written.append(ROOM)

    server.always = endless
    with pytest.raises(ModelUnavailable, match="it sent more than"):
        make(timeout=15).embed(["a"])
    assert sum(written) < 20 << 20


def test_a_service_that_was_unavailable_is_left_alone_for_a_moment(server, make, monkeypatch):
    server.always = status(404)
    embedder = make()
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="404"):
            embedder.embed(["a"])
    assert len(server.asked) == 1
    server.always = well
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 60)
    assert len(embedder.embed(["a"])) == 1


# Texts that are at fault fail alone.


@pytest.mark.parametrize(
    "trouble", [status(400, "too long"), status(413), status(422), status(500), hangs_up, raw(b"")]
)
def test_a_text_that_a_service_cannot_embed_is_only_its_own_failure(server, make, trouble):
    server.always = unless(lambda asked: "bad" in asked.texts, trouble)
    embedder = make(max_retries=1)
    with pytest.raises(EmbeddingError, match="'bad' could not be embedded") as caught:
        embedder.embed(["bad"])
    assert not isinstance(caught.value, ModelUnavailable)
    assert len(embedder.embed(["good", "better"])) == 2


def test_a_slow_text_is_only_its_own_failure(server, make):
    server.always = unless(lambda asked: "bad" in asked.texts, hangs)
    with pytest.raises(EmbeddingError, match="'bad' could not be embedded") as caught:
        make(timeout=0.5).embed(["bad"])
    assert not isinstance(caught.value, ModelUnavailable)


def test_a_batch_with_a_bad_text_fails_as_texts_not_as_a_service(server, make):
    server.always = unless(lambda asked: "bad" in asked.texts, status(400, "too long"))
    with pytest.raises(EmbeddingError, match=r"'bad'.*400: too long") as caught:
        make().embed(["a", "b", "bad", "c"])
    assert not isinstance(caught.value, ModelUnavailable)


def test_a_service_that_refuses_everything_is_itself_at_fault(server, make):
    server.always = status(400, "dimensions are not supported")
    with pytest.raises(ModelUnavailable, match="dimensions are not supported"):
        make().embed(["a", "b", "c", "d"])
    assert len(server.asked) == 2


@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_service_that_takes_smaller_batches_gets_smaller_batches(server, make, code):
    server.always = unless(lambda asked: len(asked.texts) > 4, status(code, "batch too large"))
    embedder = make(batch_size=16)
    texts = [f"text {n}" for n in range(16)]
    assert embedder.embed(texts) == make().embed(texts)
    server.asked.clear()
    embedder.embed(texts)
    assert [len(asked.texts) for asked in server.asked] == [4, 4, 4, 4]


def test_a_batch_that_takes_too_long_is_sent_in_halves(server, make):
    server.always = unless(lambda asked: len(asked.texts) > 2, hangs)
    assert len(make(timeout=0.5).embed(["a", "b", "c", "d"])) == 4


def test_a_short_batch_is_an_error_of_the_texts(server, make):
    server.always = unless(lambda a: len(a.texts) > 1, changed(lambda entries: entries[:-1]))
    with pytest.raises(EmbeddingError, match="1 vectors came back for 2 texts") as caught:
        make().embed(["a", "b"])
    assert not isinstance(caught.value, ModelUnavailable)


def test_two_vectors_for_one_text_and_none_for_the_other_are_an_error():
    twice = {"embedding": [1.0], "index": 0}
    with pytest.raises(EmbeddingError, match="1 vectors came back for 2 texts"):
        _vectors(json.dumps({"data": [twice, twice]}).encode(), 2)


# Queries


def test_a_query_is_tried_once_more_and_then_given_up(server, make):
    server.always = status(500)
    with pytest.raises(ModelUnavailable):
        make(max_retries=5).embed_query("a")
    assert [asked.texts for asked in server.asked] == [["a"], ["a"], [PROBE]]


def test_a_query_that_hangs_is_given_up_at_once(server, make):
    server.always = hangs
    with pytest.raises(ModelUnavailable):
        make(timeout=0.1).embed_query("a")
    assert len(server.asked) == 1


def test_a_query_that_a_service_cannot_embed_does_not_stop_the_next(server, make):
    server.always = unless(lambda asked: "bad" in asked.texts, status(500, "too long"))
    embedder = make()
    with pytest.raises(EmbeddingError, match="'bad' could not be embedded"):
        embedder.embed_query("bad")
    assert embedder.embed_query("good")


def test_a_query_does_not_wait_long_for_a_busy_service(server, make):
    server.always = status(429, Retry_After="5")
    embedder = make()
    with pytest.raises(ModelUnavailable):
        embedder.embed_query("a")
    assert embedder.waits == []


def test_prefixes_stand_before_queries_and_documents(server, make):
    embedder = make(query="query: ", document="passage: ")
    embedder.embed_query("a")
    embedder.embed(["b"])
    assert [asked.texts for asked in server.asked] == [["query: a"], ["passage: b"]]


def test_what_the_model_would_not_read_is_not_sent(server, make):
    make(max_tokens=2, document="passage: ").embed(["0123456789"])
    assert server.asked[0].texts == ["passage: 012345"]


# Dimensions and fingerprints


def test_a_dimension_that_nobody_gave_is_learnt_once(server, make):
    embedder = make(dimension=0)
    assert embedder.fingerprint.dimension == 64
    assert embedder.fingerprint.dimension == 64
    assert len(embedder.embed(["a"])) == 1
    assert [asked.texts for asked in server.asked] == [[PROBE], ["a"]]


def test_a_dimension_that_cannot_be_learnt_makes_the_model_unavailable(server, make):
    server.always = status(404)
    with pytest.raises(ModelUnavailable, match="404"):
        _ = make(dimension=0).fingerprint


def test_a_known_dimension_needs_no_request(server, make):
    assert make(dimension=7).fingerprint.key.startswith("local-http/some-model/7/")
    assert server.asked == []


def test_other_prefixes_make_another_fingerprint(make):
    plain, one, other = make(), make(query="q: "), make(document="q: ")
    assert plain.fingerprint.model == "some-model"
    assert len({each.fingerprint for each in (plain, one, other)}) == 3
    assert one.fingerprint == make(query="q: ").fingerprint


# Keys


def test_the_key_is_sent_and_shown_nowhere(server, make, caplog):
    caplog.set_level(logging.DEBUG)
    server.key = KEY
    embedder = make(key=KEY)
    embedder.embed(["a"])
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    server.next.append(status(400, f"your key {KEY} cannot do this"))
    with pytest.raises(EmbeddingError, match=r"your key \*\*\* cannot do this") as caught:
        embedder.embed(["b"])
    server.key = "another"
    with pytest.raises(ModelUnavailable) as barred:
        embedder.embed(["b"])
    shown = f"{caught.value}{barred.value}{embedder.fingerprint}{embedder!r}{embedder.service!r}"
    assert KEY not in shown + caplog.text


def test_closing_ends_a_wait_between_two_tries(server):
    address = Address(server.url, "m", 0, 5.0, direct=True)
    embedder = ServiceEmbedder(HttpService(address, str), Manner("local-http", "m", 64))
    server.always = status(429, Retry_After="19")
    embedder.close()
    with pytest.raises(ModelUnavailable, match="429"):
        embedder.embed(["a"])
    embedder.close()


# Addresses


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("", "needs embed.base_url"),
        ("api.openai.com/v1", "must begin with https"),
        ("ftp://api.example/v1", "must begin with https"),
        ("https://", "must begin with https"),
        ("https://[::1/v1", "no address"),
        ("https://host:port/v1", "no address"),
        ("https://api.example/v1?key=abc", "more in it than a place"),
        ("http://api.example/v1", "anybody on the way"),
        ("http://10.0.0.7/v1", "anybody on the way"),
    ],
)
def test_an_address_of_no_use_is_refused(url, told):
    with pytest.raises(ConfigError, match=told):
        checked_url(url, provider="openai-compatible", plain=False)


def test_an_address_with_a_password_is_refused_and_not_shown():
    with pytest.raises(ConfigError) as caught:
        checked_url("https://me:hunter2@api.example/v1", provider="openai-compatible", plain=True)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://api.example/v1", "http://localhost:1/v1", "http://[::1]:1", "http://127.0.0.2"]
)
def test_https_and_this_machine_are_fine(url):
    assert checked_url(url, provider="openai-compatible", plain=False) == url


def test_in_ones_own_network_http_is_fine():
    url = "http://gpu-box:8080/v1"
    assert checked_url(url, provider="local-http", plain=True) == url


def test_nothing_heavy_is_loaded_before_it_is_needed():
    import subprocess

    code = (
        "import sys; from pegboard.embed.choose import make_embedder;"
        " from pegboard.model.vectors import ModelSpec;"
        " make_embedder(ModelSpec('local-http', 'm', 4, 'http://localhost/v1'), environ={});"
        " make_embedder(ModelSpec('pydantic-ai', 'openai:m', 4), environ={});"
        " print([m for m in ('httpx2', 'pydantic_ai', 'asyncio') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
