import asyncio
import base64
import json
from urllib.parse import parse_qs

import pytest
from api_parts import HERE, QUICK, arrived, called, described, job, keeping
from api_service import Reply

from pegboard.execute.api.executor import ApiExecutor, secret_names
from pegboard.model.calls import Outcome

SCHEMES = {
    "api_key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
    "in-query": {"type": "apiKey", "in": "query", "name": "key"},
    "in cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "login": {"type": "http", "scheme": "Basic"},
    "token": {"type": "http", "scheme": "bearer"},
    "digest": {"type": "http", "scheme": "digest"},
    "certificate": {"type": "mutualTLS"},
    "connect": {"type": "openIdConnect", "openIdConnectUrl": "https://id.example/.well-known"},
}


def guarded(tmp_path, service, *ways, path="/echo", method="get", **more):
    return described(
        tmp_path,
        service,
        path,
        method,
        security=[{name: [] for name in way} for way in ways],
        components={"securitySchemes": {**SCHEMES, **more}},
    )


def oauth(service, *, scopes=(), flow="clientCredentials", **more):
    urls = {"tokenUrl": f"{service.url}/token", "authorizationUrl": f"{service.url}/go"}
    return {
        "type": "oauth2",
        "flows": {flow: {**urls, "scopes": dict.fromkeys(scopes, "")}},
        **more,
    }


def token(value, **more):
    return Reply(200, json.dumps({"access_token": value, "token_type": "bearer", **more}).encode())


CLIENT = {"SHOP_OAUTH_CLIENT_ID": "me:1", "SHOP_OAUTH_CLIENT_SECRET": "s e/cret"}


def test_a_key_goes_where_its_scheme_wants_it(tmp_path, service):
    item = guarded(tmp_path, service, ["api_key"])
    assert arrived(item, secrets={"SHOP_API_KEY": "k-123"}).header("x-api-key") == "k-123"
    item = guarded(tmp_path, service, ["in-query"])
    assert arrived(item, secrets={"SHOP_IN_QUERY": "k&1 +"}).query == "key=k%261%20%2B"
    item = guarded(tmp_path, service, ["in cookie"])
    assert arrived(item, secrets={"SHOP_IN_COOKIE": "abc="}).header("cookie") == "sid=abc="


def test_a_key_in_a_cookie_stands_beside_others(tmp_path, service):
    item = guarded(tmp_path, service, ["in cookie"])
    more = {"name": "a", "in": "cookie", "wire_name": "a", "style": "form", "explode": True}
    item = item._replace(executor={**item.executor, "parameters": [more]})
    assert (
        arrived(item, {"a": "1"}, secrets={"SHOP_IN_COOKIE": "x"}).header("cookie") == "a=1; sid=x"
    )


def test_a_login_needs_two_secrets(tmp_path, service):
    item = guarded(tmp_path, service, ["login"])
    secrets = {"SHOP_LOGIN_USERNAME": "ada", "SHOP_LOGIN_PASSWORD": "pass:wörd"}
    written = arrived(item, secrets=secrets).header("authorization")
    assert base64.b64decode(written.removeprefix("Basic ")).decode() == "ada:pass:wörd"
    result = called(item, secrets={"SHOP_LOGIN_USERNAME": "ada"})
    assert result.outcome is Outcome.UNAVAILABLE
    assert "set SHOP_LOGIN_USERNAME and SHOP_LOGIN_PASSWORD" in result.error


@pytest.mark.parametrize(("scheme", "name"), [("token", "SHOP_TOKEN"), ("connect", "SHOP_CONNECT")])
def test_a_token_is_borne(tmp_path, service, scheme, name):
    item = guarded(tmp_path, service, [scheme])
    assert arrived(item, secrets={name: "t-1\n"}).header("authorization") == "Bearer t-1"


def test_the_first_way_whose_secrets_all_exist_is_taken(tmp_path, service):
    item = guarded(tmp_path, service, ["login"], ["api_key", "in-query"], ["token"])
    both = {"SHOP_API_KEY": "a1", "SHOP_IN_QUERY": "b1", "SHOP_TOKEN": "c1"}
    asked = arrived(item, secrets=both)
    assert (asked.header("x-api-key"), asked.query, asked.header("authorization")) == (
        "a1",
        "key=b1",
        None,
    )
    asked = arrived(item, secrets={"SHOP_API_KEY": "a1", "SHOP_TOKEN": "c1"})
    assert (asked.header("x-api-key"), asked.header("authorization")) == (None, "Bearer c1")


def test_without_any_of_them_it_says_which_could_be_set(tmp_path, service):
    item = guarded(
        tmp_path, service, ["digest"], ["api_key", "token"], ["oauth"], oauth=oauth(service)
    )
    result = called(item)
    assert result.outcome is Outcome.UNAVAILABLE
    assert result.error.endswith(
        "set SHOP_API_KEY and SHOP_TOKEN, or SHOP_OAUTH or"
        " SHOP_OAUTH_CLIENT_ID and SHOP_OAUTH_CLIENT_SECRET"
    )
    assert service.asked == []


def test_a_login_that_nobody_here_knows_makes_it_unavailable(tmp_path, service):
    result = called(guarded(tmp_path, service, ["digest"], ["certificate"], ["undescribed"]))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "digest, mutualTLS, unknown" in result.error


def test_a_login_that_may_be_left_out_is_used_if_it_is_there(tmp_path, service):
    item = guarded(tmp_path, service, [], ["api_key"])
    assert arrived(item).header("x-api-key") is None
    assert arrived(item, secrets={"SHOP_API_KEY": "k-1"}).header("x-api-key") == "k-1"


def test_the_names_of_secrets_are_known_before(tmp_path, service):
    item = guarded(
        tmp_path, service, ["login"], ["api_key"], ["digest"], ["oauth"], oauth=oauth(service)
    )
    assert secret_names(item.executor, "my-shop.v2") == [
        "MY_SHOP_V2_LOGIN_USERNAME",
        "MY_SHOP_V2_LOGIN_PASSWORD",
        "MY_SHOP_V2_API_KEY",
        "MY_SHOP_V2_OAUTH",
        "MY_SHOP_V2_OAUTH_CLIENT_ID",
        "MY_SHOP_V2_OAUTH_CLIENT_SECRET",
    ]
    assert secret_names(item.executor, "127.0.0.1")[2] == "_127_0_0_1_API_KEY"
    assert secret_names(guarded(tmp_path, service).executor, "shop") == []


def test_a_secret_cannot_become_another_header(tmp_path, service):
    item = guarded(tmp_path, service, ["api_key"])
    result = called(item, secrets={"SHOP_API_KEY": "a\r\nX-Evil: 1"})
    assert result.outcome is Outcome.UNAVAILABLE
    assert "the secret SHOP_API_KEY cannot be used" in result.error
    assert "Evil" not in result.error


def test_a_refused_login_says_which_secrets_were_used_and_shows_none(tmp_path, service):
    item = guarded(tmp_path, service, ["token"], path="/guarded")
    given = job(item, secrets={"SHOP_TOKEN": "wrong-token"})
    with keeping() as run:
        result = run(given)
    assert result.outcome is Outcome.FAILED
    assert result.error == "HTTP 401 Unauthorized; it was asked with SHOP_TOKEN"
    assert "wrong-token" not in str(result)


# OAuth2


def test_a_token_is_fetched_with_the_scopes_and_kept(tmp_path, service):
    service.valid = "fresh-token"
    service.tokens.append(token("fresh-token", expires_in=3600))
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))
    item.executor["security"][0][0]["scopes"] = ["read", "write"]
    with keeping() as run:
        first, second = run(job(item, secrets=CLIENT)), run(job(item, secrets=CLIENT))
    assert [first.outcome, second.outcome] == [Outcome.OK, Outcome.OK]
    fetched, *rest = service.asked
    assert [each.path for each in rest] == ["/guarded", "/guarded"]
    assert parse_qs(fetched.body.decode()) == {
        "grant_type": ["client_credentials"],
        "scope": ["read write"],
    }
    login = base64.b64decode(fetched.header("authorization").removeprefix("Basic "))
    assert login == b"me%3A1:s%20e%2Fcret"


def test_a_server_that_wants_the_secret_in_the_form_gets_it_there(tmp_path, service):
    service.valid = "t-1"
    service.tokens.extend([Reply(401, b'{"error": "invalid_client"}'), token("t-1")])
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))
    assert called(item, secrets=CLIENT).outcome is Outcome.OK
    assert parse_qs(service.asked[1].body.decode()) == {
        "grant_type": ["client_credentials"],
        "client_id": ["me:1"],
        "client_secret": ["s e/cret"],
    }
    assert service.asked[1].header("authorization") is None


def test_a_token_is_a_secret_too(tmp_path, service):
    service.valid = "t-9876"
    service.tokens.append(token("t-9876"))
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))
    given = job(item, secrets=CLIENT)
    with keeping() as run:
        result = run(given)
    assert "t-9876" in str(result)
    assert "t-9876" not in str(given.secrets.hidden_in(result.structured))


def test_a_kept_token_that_is_refused_is_fetched_anew_once(tmp_path, service):
    service.valid = "first"
    service.tokens.extend([token("first", expires_in=3600), token("second"), token("third")])
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))
    with keeping() as run:
        assert run(job(item, secrets=CLIENT)).outcome is Outcome.OK
        service.valid = "second"
        assert run(job(item, secrets=CLIENT)).outcome is Outcome.OK
        service.valid = "nothing"
        assert run(job(item, secrets=CLIENT)).outcome is Outcome.FAILED
    assert [each.path for each in service.asked] == [
        *("/token", "/guarded"),
        *("/guarded", "/token", "/guarded"),
        *("/guarded", "/token", "/guarded"),
    ]


def test_a_new_token_that_is_refused_is_not_fetched_again(tmp_path, service):
    service.tokens.append(token("first"))
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))
    assert called(item, secrets=CLIENT).outcome is Outcome.FAILED
    assert [each.path for each in service.asked] == ["/token", "/guarded"]


def test_an_expired_token_is_not_used(tmp_path, service):
    service.valid = "first"
    service.tokens.extend([token("first", expires_in=0), token("second", expires_in="60")])
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))
    with keeping() as run:
        assert run(job(item, secrets=CLIENT)).outcome is Outcome.OK
        service.valid = "second"
        assert run(job(item, secrets=CLIENT)).outcome is Outcome.OK
    assert [each.path for each in service.asked] == ["/token", "/guarded"] * 2


def test_who_brings_another_secret_does_not_get_the_token_of_others(tmp_path, service):
    service.valid = "first"
    service.tokens.extend([token("first"), *[Reply(401, b"{}")] * 2])
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))
    with keeping() as run:
        assert run(job(item, secrets=CLIENT)).outcome is Outcome.OK
        wrong = {**CLIENT, "SHOP_OAUTH_CLIENT_SECRET": "guessed"}
        result = run(job(item, secrets=wrong))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "gave no token, but HTTP 401" in result.error


def test_many_calls_at_once_fetch_one_token(tmp_path, service):
    service.valid = "shared"
    service.tokens.append(token("shared"))
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))

    async def main():
        executor = ApiExecutor(HERE, **QUICK)
        calls = [executor.run(job(item, secrets=CLIENT)) for _ in range(50)]
        results = await asyncio.gather(*calls)
        await executor.close()
        return results

    assert {each.outcome for each in asyncio.run(main())} == {Outcome.OK}
    assert [each.path for each in service.asked].count("/token") == 1


def test_a_token_that_is_ready_is_used_as_it_is(tmp_path, service):
    item = guarded(tmp_path, service, ["oauth"], oauth=oauth(service, flow="authorizationCode"))
    asked = arrived(item, secrets={**CLIENT, "SHOP_OAUTH": "ready"})
    assert asked.header("authorization") == "Bearer ready"
    assert called(item, secrets=CLIENT).outcome is Outcome.UNAVAILABLE


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"{}"),
        Reply(200, b"no json"),
        Reply(200, b"[" * 100_000),
        Reply(500, b'{"access_token": "x"}'),
        Reply(302, b"", (("location", "/token"),)),
        Reply(400, b'{"error_description": "secret s e/cret is wrong"}'),
    ],
)
def test_no_token_no_call(tmp_path, service, reply):
    service.tokens.extend([reply] * 2)
    item = guarded(tmp_path, service, ["oauth"], path="/guarded", oauth=oauth(service))
    result = called(item, secrets=CLIENT)
    assert result.outcome is Outcome.UNAVAILABLE
    assert f"{service.url}/token gave no token" in result.error
    assert "s e/cret" not in result.error
    assert "/guarded" not in [each.path for each in service.asked]


def test_tokens_are_not_fetched_over_plain_http(tmp_path, service):
    scheme = oauth(service)
    scheme["flows"]["clientCredentials"]["tokenUrl"] = "http://id.example/token"
    item = guarded(tmp_path, service, ["oauth"], oauth=scheme)
    result = called(item, secrets=CLIENT)
    assert result.outcome is Outcome.UNAVAILABLE
    assert "gives tokens over plain http" in result.error
