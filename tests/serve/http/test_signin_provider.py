"""Who asks, by tokens of an identity provider that is really asked for its keys."""

import asyncio
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.client.auth.utils import (
    build_protected_resource_metadata_discovery_urls,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    handle_protected_resource_response,
)
from mcp.shared.auth_utils import check_resource_allowed
from signin_parts import AUDIENCE, Clock, Issuer, Signer, make_signer, serving

from pegboard.config.settings import ServeSettings
from pegboard.errors import ConfigError, NotSignedIn, ProviderUnavailable
from pegboard.serve.http.claims import LEEWAY_SECONDS, Provider, audiences
from pegboard.serve.http.provider import (
    FRESH_SECONDS,
    LARGEST_ANSWER,
    PAUSE_SECONDS,
    STALE_SECONDS,
    ProviderKeys,
    read_keys,
)
from waiting import until

ALGORITHMS = ("RS256", "RS512", "PS256", "PS384", "ES256", "ES384", "ES512", "EdDSA")


@pytest.fixture(scope="module")
def rsa_key():
    return make_signer("rsa", "RS256")


@pytest.fixture(scope="module")
def signer():
    return make_signer("first", "ES256")


@pytest.fixture(scope="module")
def stranger():
    return make_signer("first", "ES256")


@pytest.fixture
def issuer(signer, rsa_key):
    made = Issuer()
    made.keys = [signer.jwk(), rsa_key.jwk()]
    yield made
    made.close()


@pytest.fixture
def clock():
    return Clock()


class Checking:
    """A provider and its keys, asked without a gateway around it."""

    def __init__(self, issuer, clock, **more):
        chosen = issuer.settings(**more)
        self.keys = ProviderKeys(chosen.issuer, chosen.jwks_url, clock=clock)
        self.provider = Provider(chosen, self.keys)
        self.loop = asyncio.Runner()

    def __call__(self, token):
        return self.loop.run(self.provider.check(token)).caller

    def refuses(self, token):
        with pytest.raises(NotSignedIn) as raised:
            self(token)
        return raised.value.message


@pytest.fixture
def check(issuer, clock):
    made = Checking(issuer, clock)
    yield made
    made.loop.close()


@pytest.fixture
def checking(issuer, clock):
    """With other settings."""
    made = []

    def make(**more):
        made.append(Checking(issuer, clock, **more))
        return made[-1]

    yield make
    for each in made:
        each.loop.close()


# What is good.


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_token_signed_by_the_provider_is_good(issuer, check, rsa_key, algorithm):
    if algorithm[:2] in ("RS", "PS"):
        used = rsa_key._replace(algorithm=algorithm)
    else:
        used = make_signer("other", algorithm)
        issuer.keys.append(used.jwk())
    caller = check(issuer.token(used, sub="ann"))
    assert caller == ("ann", (), "reader")


def test_keys_are_found_by_discovery_or_where_the_settings_say(issuer, check, checking, signer):
    check(issuer.token(signer))
    assert issuer.asked == ["/realm/.well-known/openid-configuration", "/realm/keys"]
    checking(jwks_url=issuer.jwks_url)(issuer.token(signer))
    assert issuer.asked[2:] == ["/realm/keys"]


def test_keys_are_kept(issuer, check, clock, signer):
    for _ in range(5):
        check(issuer.token(signer))
        clock.now += FRESH_SECONDS / 10
    assert len(issuer.asked) == 2


def test_a_token_may_be_for_several_and_say_no_key(issuer, check, signer):
    assert check(issuer.token(signer, aud=["other", AUDIENCE])).subject == "alice"
    assert check(issuer.token(signer, headers={"kid": None})).subject == "alice"
    assert check(issuer.token(signer, headers={"typ": "at+JWT"})).subject == "alice"
    assert check(issuer.token(signer, iat=None, nbf=int(time.time()))).subject == "alice"


def test_a_gateway_that_has_an_address_takes_tokens_for_that(issuer, checking, signer):
    check = checking(audience="", public_url="https://tools.example.com/")
    for audience in ("https://tools.example.com", "https://tools.example.com/mcp"):
        assert check(issuer.token(signer, aud=audience)).subject == "alice"
    assert "udience" in check.refuses(issuer.token(signer, aud="https://tools.example.com/other"))


# What is not.

NOW = int(time.time())
LATER = NOW + 86_400
"""Still to come when the last test is run."""
WRONG_CLAIMS = {
    "expired": ({"exp": NOW - LEEWAY_SECONDS - 60}, "expired"),
    "not good yet": ({"nbf": LATER}, "not yet"),
    "made in the future": ({"iat": LATER}, "not yet"),
    "for another service": ({"aud": "https://bank.example.com"}, "udience"),
    "for nearly the same": ({"aud": AUDIENCE + ".evil.example"}, "udience"),
    "for nobody": ({"aud": None}, "aud"),
    "for an empty list": ({"aud": []}, "aud"),
    "for a number": ({"aud": 5}, "claim format"),
    "of another issuer": ({"iss": "https://evil.example.com"}, "issuer"),
    "of no issuer": ({"iss": None}, "iss"),
    "of several issuers": ({"iss": ["x"]}, "iss"),
    "without an end": ({"exp": None}, "exp"),
    "with an end in words": ({"exp": str(LATER)}, "exp"),
    "with no number as its end": ({"exp": True}, "exp"),
    "with an end after all time": ({"exp": 10**400}, "exp"),
    "with an endless end": ({"exp": float("inf")}, "exp"),
    "made in words": ({"iat": "now"}, "iat"),
    "of nobody": ({"sub": None}, "sub"),
    "of an empty name": ({"sub": ""}, "sub"),
    "of a number": ({"sub": 17}, "ubject"),
    "of a hidden name": ({"sub": "al\u200bice"}, "sub"),
    "of a name on two lines": ({"sub": "alice\n"}, "sub"),
    "of a very long name": ({"sub": "x" * 5_000}, "sub"),
    "bound to a key": ({"cnf": {"jkt": "x"}}, "bound"),
}


@pytest.mark.parametrize(("claims", "why"), WRONG_CLAIMS.values(), ids=WRONG_CLAIMS.keys())
def test_a_token_that_says_something_else_is_refused(issuer, check, signer, claims, why):
    assert why in check.refuses(issuer.token(signer, **claims))


def test_clocks_may_differ_by_little(issuer, check, signer):
    now = time.time()
    almost = LEEWAY_SECONDS - 10
    assert check(issuer.token(signer, exp=int(now) - almost))
    assert check(issuer.token(signer, nbf=int(now) + almost, iat=int(now) + almost))


def pem(private):
    return private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def by_hand(header, claims, signature=b""):
    """Such tokens as no library makes."""
    parts = [json.dumps(each).encode() for each in (header, claims)]
    encode = jwt.utils.base64url_encode
    return b".".join([*map(encode, parts), encode(signature)]).decode()


def good_claims(issuer):
    return {"iss": issuer.url, "aud": AUDIENCE, "sub": "eve", "exp": int(time.time()) + 300}


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", None, ["ES256"], {}, 5])
def test_a_token_that_is_not_signed_is_refused(issuer, check, algorithm):
    header = {"alg": algorithm, "kid": "first"}
    check.refuses(by_hand(header, good_claims(issuer)))
    check.refuses(by_hand(header, good_claims(issuer), b"x" * 64))


def test_a_public_key_is_no_secret_to_sign_with(issuer, check, signer, rsa_key):
    """The oldest trick: to have the check take the public key for the secret of HS256."""
    for used in (signer, rsa_key):
        for secret in (pem(used.private), json.dumps(used.jwk()).encode(), b""):
            for algorithm in ("HS256", "HS384", "HS512"):
                header = jwt.utils.base64url_encode(
                    json.dumps({"alg": algorithm, "kid": used.kid}).encode()
                )
                body = jwt.utils.base64url_encode(json.dumps(good_claims(issuer)).encode())
                kind = jwt.algorithms.get_default_algorithms()[algorithm]
                signed = kind.sign(header + b"." + body, secret)
                token = b".".join([header, body, jwt.utils.base64url_encode(signed)]).decode()
                check.refuses(token)


def test_a_shared_secret_among_the_keys_is_left_out(issuer, check):
    secret = jwt.utils.base64url_encode(b"s" * 64).decode()
    issuer.keys.append({"kty": "oct", "k": secret, "kid": "secret", "alg": "HS256"})
    issuer.keys.append({"kty": "oct", "k": secret, "kid": "secret"})
    check.refuses(issuer.token(Signer("secret", "HS256", b"s" * 64)))


def test_a_key_that_comes_with_the_token_is_not_believed(issuer, check, signer, stranger):
    evil = Issuer()
    try:
        evil.keys = [stranger.jwk()]
        for headers in (
            {},
            {"jwk": stranger.jwk()},
            {"jku": evil.jwks_url},
            {"x5u": evil.jwks_url, "x5c": ["x"]},
            {"kid": evil.jwks_url},
            {"kid": "../../../../dev/null"},
            {"kid": "first' OR '1'='1"},
            {"kid": "first\0"},
            {"kid": ""},
            {"kid": "x" * 5_000},
        ):
            check.refuses(issuer.token(stranger, headers=headers))
        assert evil.asked == []
    finally:
        evil.close()


@pytest.mark.parametrize("kid", [5, {}, ["first"], True])
def test_a_key_id_that_is_no_text_is_refused(issuer, check, kid):
    header = {"alg": "ES256", "kid": kid}
    assert "cannot be read" in check.refuses(by_hand(header, good_claims(issuer), b"x" * 64))


@pytest.mark.parametrize("kind", ["logout+jwt", "dpop+jwt", "secevent+jwt", 5, {"a": 1}, "JWS"])
def test_a_signed_token_of_another_kind_is_refused(issuer, check, signer, kind):
    check.refuses(issuer.token(signer, headers={"typ": kind}))


def test_an_extension_that_must_be_understood_and_is_not_is_refused(issuer, check, signer):
    check.refuses(issuer.token(signer, headers={"crit": ["exp"], "exp": 1}))
    check.refuses(issuer.token(signer, headers={"crit": ["b64"], "b64": False}))


def test_a_key_is_used_only_with_the_algorithm_it_names(issuer, check, rsa_key):
    issuer.keys = [rsa_key.jwk(alg="PS256")]
    assert check(issuer.token(rsa_key._replace(algorithm="PS256")))
    check.refuses(issuer.token(rsa_key))


def test_keys_that_do_not_sign_are_left_out(signer, rsa_key):
    weak = rsa.generate_private_key(65_537, 1_024)
    short = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(weak.public_key()))
    private = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(signer.private))
    assert "d" in private
    odd = [
        *(signer.jwk(use="enc"), signer.jwk(key_ops=["sign"]), signer.jwk(key_ops=5)),
        *(signer.jwk(alg="HS256"), signer.jwk(alg="none"), signer.jwk(alg=5), signer.jwk(kid=5)),
        *(signer.jwk(crv="P-999"), signer.jwk(crv=5), signer.jwk(x="!"), signer.jwk(x=5)),
        *(signer.jwk(kty="RSA"), signer.jwk(kty=5), {"kty": "RSA"}, {"kty": "EC", "crv": "P-256"}),
        *({}, None, 5, "x", [], short, private, rsa_key.jwk(n="AQAB"), rsa_key.jwk(e="")),
    ]
    assert read_keys({"keys": odd}) == ()
    assert [each.kid for each in read_keys({"keys": [*odd, signer.jwk()]})] == ["first"]
    for strange in ({}, {"keys": None}, {"keys": "x"}, {"keys": {}}):
        assert read_keys(strange) == ()


# What a token says of whoever brings it.

CLAIMED = {
    "a role": ({"pegboard_role": "author"}, ("author", ())),
    "a role and namespaces": (
        {"pegboard_role": "admin", "pegboard_namespaces": ["a", "b/c", "a"]},
        ("admin", ("a", "b/c")),
    ),
    "namespaces in one text": ({"pegboard_namespaces": "a b"}, ("reader", ("a", "b"))),
    "the highest of several": ({"pegboard_role": ["x", "author", "reader"]}, ("author", ())),
    "none of several": ({"pegboard_role": ["x", "offline_access"]}, ("reader", ())),
    "the whole board": ({"pegboard_role": "admin", "pegboard_namespaces": ["*"]}, ("admin", ())),
    "an admin of nothing": ({"pegboard_role": "admin"}, ("reader", ())),
    "an admin who lost all": (
        {"pegboard_role": "admin", "pegboard_namespaces": []},
        ("reader", ()),
    ),
}


@pytest.mark.parametrize(("claims", "expected"), CLAIMED.values(), ids=CLAIMED.keys())
def test_claims_say_role_and_namespaces(issuer, check, signer, claims, expected):
    caller = check(issuer.token(signer, **claims))
    assert (caller.role, caller.namespaces) == expected


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("app_metadata.pegboard_role", {"app_metadata": {"pegboard_role": "author"}}),
        ("https://example.com/role", {"https://example.com/role": "author"}),
        ("realm_access.roles", {"realm_access": {"roles": ["x", "author"]}}),
        ("scope", {"scope": "openid pegboard:author"}),
        ("scope", {"scope": "pegboard:author"}),
    ],
)
def test_claims_are_found_under_the_names_that_providers_use(
    issuer, checking, signer, name, claims
):
    assert checking(role_claim=name)(issuer.token(signer, **claims)).role == "author"


@pytest.mark.parametrize("found", [None, "openid", 5, "x"])
def test_a_path_that_leads_nowhere_is_no_claim(issuer, checking, signer, found):
    check = checking(role_claim="a.b.c", namespaces_claim="a.b")
    assert check(issuer.token(signer, a=found)).role == "reader"
    assert checking(role_claim="scope")(issuer.token(signer, scope="openid")).role == "reader"


ODD = [5, True, 1.5, {"role": "admin"}, [["admin"]], [5], [None], {}]


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize("name", ["pegboard_role", "pegboard_namespaces"])
def test_a_claim_of_an_odd_type_is_refused(issuer, check, signer, name, odd):
    assert name in check.refuses(issuer.token(signer, **{name: odd}))


def test_what_is_no_role_and_no_namespace_is_refused(issuer, check, signer):
    for role in ("boss", "Admin", "admin\u200b"):
        assert "pegboard_role" in check.refuses(issuer.token(signer, pegboard_role=role))
    for names in (["A"], ["a b"], ["a/b/c"], ["a\0"], [f"n{n}" for n in range(200)], ["*"]):
        assert "amespace" in check.refuses(issuer.token(signer, pegboard_namespaces=names))


@pytest.fixture(scope="module")
def lasting(signer):
    """For many questions."""
    made = Issuer()
    made.keys = [signer.jwk()]
    checking = Checking(made, Clock())
    yield made, checking
    checking.loop.close()
    made.close()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(
    ["iss", "aud", "sub", "exp", "iat", "nbf", "jti", "pegboard_role", "pegboard_namespaces", "cnf"]
)


@settings(max_examples=150)
@given(st.dictionaries(names, json_values, max_size=4))
def test_whatever_the_claims_are_nothing_breaks(lasting, signer, claims):
    issuer, check = lasting
    try:
        caller = check(issuer.token(signer, **claims))
    except NotSignedIn:
        return
    assert caller.subject
    assert not caller.everywhere


@settings(max_examples=150)
@given(
    st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk"]), json_values),
    st.binary(max_size=80),
)
def test_whatever_the_header_is_nothing_breaks_and_nobody_is_let_in(lasting, header, signature):
    issuer, check = lasting
    check.refuses(by_hand(header, good_claims(issuer), signature))


@settings(max_examples=150)
@given(st.text(alphabet="AaeyJ0_-.=~+/", max_size=60))
def test_whatever_the_token_is_nothing_breaks(lasting, text):
    lasting[1].refuses(text)


# The provider over time.


def test_a_new_key_is_taken_as_soon_as_it_signs(issuer, check, clock, signer):
    check(issuer.token(signer))
    new = make_signer("second", "ES256")
    issuer.keys = [new.jwk()]
    clock.now += PAUSE_SECONDS + 1
    assert check(issuer.token(new, sub="bob")).subject == "bob"
    check.refuses(issuer.token(signer))  # its key is gone


def test_keys_that_do_not_exist_do_not_make_us_ask_again_and_again(issuer, check, clock, signer):
    check(issuer.token(signer))
    before = len(issuer.asked)
    for number in range(50):
        check.refuses(issuer.token(signer, headers={"kid": f"random {number}"}))
    assert len(issuer.asked) == before
    clock.now += PAUSE_SECONDS + 1
    for number in range(50):
        check.refuses(issuer.token(signer, headers={"kid": f"other {number}"}))
    assert len(issuer.asked) == before + 2  # once: the document, and the keys


def test_while_the_provider_is_down_its_keys_go_on_for_an_hour(issuer, check, clock, signer):
    check(issuer.token(signer))
    issuer.status = 500
    clock.now += FRESH_SECONDS + 1
    assert check(issuer.token(signer)).subject == "alice"
    clock.now += STALE_SECONDS - FRESH_SECONDS - 10
    assert check(issuer.token(signer)).subject == "alice"
    clock.now += 20
    with pytest.raises(ProviderUnavailable, match="500"):
        check(issuer.token(signer))
    issuer.status = 200
    with pytest.raises(ProviderUnavailable):  # it was asked a moment ago
        check(issuer.token(signer))
    clock.now += PAUSE_SECONDS + 1
    assert check(issuer.token(signer)).subject == "alice"


def test_a_key_that_was_withdrawn_is_not_believed_for_long(issuer, check, clock, signer, rsa_key):
    check(issuer.token(rsa_key))
    issuer.keys = [signer.jwk()]
    clock.now += FRESH_SECONDS + 1
    check(issuer.token(rsa_key))  # asks anew, and does not wait for it
    until(lambda: not check.loop.run(settled(check)))
    check.refuses(issuer.token(rsa_key))


async def settled(check):
    await asyncio.sleep(0)
    return any(each.kid == "rsa" for each in check.keys._keys)


BROKEN = {
    "an error": {"status": 503},
    "nothing": {"body": b""},
    "no JSON": {"body": b"<html>"},
    "no object": {"body": b"[]"},
    "a deep one": {"body": b"[" * 100_000},
    "another issuer": {"discovery": {"issuer": "https://evil.example.com"}},
    "no issuer": {"discovery": {"issuer": None}},
    "keys on plain http elsewhere": {"discovery": {"jwks_uri": "http://keys.example.com/"}},
    "keys in a file": {"discovery": {"jwks_uri": "file:///etc/passwd"}},
    "keys nowhere": {"discovery": {"jwks_uri": None}},
    "no keys": {"keys": []},
    "too much": {"padding": LARGEST_ANSWER + 1},
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_a_provider_that_makes_no_sense_is_told_as_unavailable(issuer, check, signer, broken):
    for name, value in broken.items():
        setattr(issuer, name, value)
    with pytest.raises(ProviderUnavailable, match="cannot be had"):
        check(issuer.token(signer))


def test_a_provider_that_sends_us_elsewhere_is_not_followed(issuer, check, signer):
    evil = Issuer()
    try:
        evil.keys = issuer.keys
        issuer.status, issuer.location = 302, evil.jwks_url
        with pytest.raises(ProviderUnavailable, match="302"):
            check(issuer.token(signer))
        assert evil.asked == []
    finally:
        evil.close()


def test_nobody_listens_at_the_provider(issuer, check, signer):
    token = issuer.token(signer)
    issuer.close()
    with pytest.raises(ProviderUnavailable):
        check(token)


@pytest.mark.parametrize(
    "said",
    [
        {"issuer": "http://login.example.com"},
        {"issuer": "login.example.com"},
        {"issuer": "file:///x"},
        {"issuer": "https://"},
        {"issuer": "https://me:secret@login.example.com"},
        {"issuer": "https://[::1"},
        {"jwks_url": "http://login.example.com/keys"},
    ],
)
def test_an_issuer_that_anybody_could_listen_to_is_refused(said):
    with pytest.raises(ConfigError, match="serve"):
        ProviderKeys(**{"issuer": "https://login.example.com", **said})


def test_without_an_audience_tokens_for_other_services_would_be_taken():
    with pytest.raises(ConfigError, match="meant for"):
        audiences(ServeSettings(issuer="https://login.example.com"))
    assert audiences(ServeSettings(audience="a, b,")) == ["a", "b"]


# The gateway as a whole.


@pytest.fixture
def served(sqlite_store, issuer):
    with serving(sqlite_store, issuer.settings(role_claim="scope")) as made:
        yield made


def test_whoever_brings_such_a_token_is_let_in(served, issuer, signer, stranger):
    token = issuer.token(signer, scope="openid pegboard:author", pegboard_namespaces=["a"])
    assert served.get(token=token).json() == {
        "subject": "alice",
        "namespaces": ["a"],
        "role": "author",
    }
    refused = served.get(token=issuer.token(stranger))
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]


def test_a_provider_that_is_down_is_told_as_a_problem_of_ours(served, issuer, signer):
    issuer.status = 500
    answer = served.get(token=issuer.token(signer))
    assert answer.status_code == 503
    assert answer.json()["code"] == "provider_unavailable"
    assert issuer.url in answer.json()["detail"]
    assert len(served.sign_in.failures) == 0


def test_a_provider_that_is_slow_keeps_nobody_waiting_whose_key_is_known(served, issuer, signer):
    token = issuer.token(signer)
    assert served.get(token=token).status_code == 200
    issuer.waiting.clear()
    issuer.may_answer.clear()
    served.clock.now += FRESH_SECONDS + 1
    assert served.get(token=token).status_code == 200
    assert issuer.waiting.wait(30)
    assert served.get(token=token).status_code == 200
    before = len(issuer.asked)
    issuer.may_answer.set()
    until(lambda: len(issuer.asked) > before)


def test_a_client_of_mcp_finds_the_provider_and_the_resource(served, issuer):
    answer = served.ask("POST", "/mcp")
    assert answer.status_code == 401
    assert extract_scope_from_www_auth(answer) == "pegboard:reader"
    said = extract_resource_metadata_from_www_auth(answer)
    assert said == f"{served.base}/.well-known/oauth-protected-resource/mcp"
    urls = build_protected_resource_metadata_discovery_urls(None, f"{served.base}/mcp")
    assert urls[0] == said
    for url, resource in zip(urls, (f"{served.base}/mcp", served.base), strict=True):
        found = asyncio.run(handle_protected_resource_response(served.http.get(url)))
        assert str(found.resource) == resource
        assert check_resource_allowed(f"{served.base}/mcp", str(found.resource))
        assert [str(each) for each in found.authorization_servers] == [issuer.url]
        assert found.bearer_methods_supported == ["header"]


def test_scopes_are_asked_for_only_where_the_provider_gives_them(sqlite_store, issuer):
    with serving(sqlite_store, issuer.settings()) as served:
        assert extract_scope_from_www_auth(served.get("/mcp")) is None
        found = served.get("/.well-known/oauth-protected-resource").json()
        assert "scopes_supported" not in found


def test_a_step_up_names_the_scope_that_is_missing(served, issuer, signer):
    answer = served.get("/admins", issuer.token(signer, scope="pegboard:author"))
    assert answer.status_code == 403
    assert extract_scope_from_www_auth(answer) == "pegboard:admin"
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
