"""Whatever is stored with a tool, and whatever it is given: a call ends in a result."""

import json

from api_parts import job, manifest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.execute.api.executor import secret_names
from pegboard.model.calls import CallResult

WORDS = (
    *(
        "url",
        "method",
        "headers",
        "query",
        "body",
        "response_path",
        "path",
        "servers",
        "parameters",
    ),
    *("security", "protocol", "endpoint", "request", "authentication", "environments", "source"),
    *("name", "in", "wire_name", "style", "explode", "media_type", "media_types", "spread", "type"),
    *("property", "further", "required", "encoding", "scheme", "http_scheme", "flows", "variables"),
    *(
        "GET",
        "POST",
        "apiKey",
        "http",
        "basic",
        "bearer",
        "oauth2",
        "header",
        "cookie",
        "a",
        "jsonrpc",
    ),
    *("deepObject", "label", "matrix", "simple", "form", "application/json", "multipart/form-data"),
    *(
        "/x/{a}",
        "{a}",
        "${input.a}",
        "${secrets.a}",
        "${env.a}",
        "secret://A",
        "${A}",
        "text/plain",
    ),
    *("application/x-www-form-urlencoded", "image/png", "default", "token", "value", "custom"),
)
TEXT = st.sampled_from(WORDS) | st.text(max_size=5) | st.characters()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = st.fixed_dictionaries(
    {"a": TEXT | VALUES}, optional=dict.fromkeys(("b", "body", "X-A", "ü"), VALUES)
)


NAMES = st.sampled_from(["a", "body", "b", "X-A", "ü ;"])
PARAMETER = st.fixed_dictionaries(
    {
        "name": NAMES,
        "wire_name": NAMES,
        "in": st.sampled_from(["path", "query", "header", "cookie"]),
    },
    optional={
        "style": st.sampled_from(
            ["simple", "label", "matrix", "form", "deepObject", "pipeDelimited"]
        ),
        "explode": st.booleans(),
        "allow_reserved": st.booleans(),
        "media_type": TEXT,
    },
)
BODY = st.fixed_dictionaries(
    {"media_types": st.lists(TEXT, min_size=1, max_size=1), "required": st.booleans()},
    optional={
        "property": NAMES,
        "spread": st.lists(st.fixed_dictionaries({"name": NAMES, "wire_name": NAMES}), max_size=3),
        "further": st.booleans(),
        "encoding": st.dictionaries(NAMES, VALUES, max_size=2),
    },
)
SCHEME = st.fixed_dictionaries(
    {"scheme": st.sampled_from(["a", "b"]), "type": st.sampled_from(["apiKey", "http", "oauth2"])},
    optional={"in": TEXT, "name": TEXT, "http_scheme": TEXT, "flows": VALUES, "scopes": VALUES},
)
AUTHENTICATION = st.fixed_dictionaries(
    {"type": st.sampled_from(["basic", "bearer", "apiKey", "custom", "oauth2", "none"])},
    optional=dict.fromkeys(
        ("username", "password", "token", "name", "value", "in", "headers", "client", "authority"),
        VALUES,
    ),
)
REQUEST = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("path", "query", "headers", "cookies", "body", "params"), VALUES)
)


def likely(url):
    """Executors of each kind, with anything where something else should be."""
    methods = st.sampled_from(["GET", "POST", "HEAD"])
    operation = st.fixed_dictionaries(
        {
            "path": st.sampled_from(["/echo/{a}/x", "/echo", "/echo/{b}{a}"]),
            "servers": st.just([{"url": url}]),
            "method": methods,
        },
        optional={
            "parameters": st.lists(PARAMETER, max_size=3) | VALUES,
            "body": BODY | VALUES,
            "security": st.lists(st.lists(SCHEME, max_size=2), max_size=2) | VALUES,
            "responses": VALUES,
        },
    )
    written = st.fixed_dictionaries(
        {"url": st.sampled_from(["/echo/{a}", "/echo?x={b}", "/${A}"]).map(url.__add__)},
        optional={
            "method": methods,
            "headers": st.dictionaries(TEXT, TEXT, max_size=2) | VALUES,
            **dict.fromkeys(("query", "body", "response_path"), VALUES),
        },
    )
    light = st.fixed_dictionaries(
        {
            "protocol": st.sampled_from(["http", "jsonrpc"]),
            "endpoint": st.sampled_from(["/echo", "/echo/{a}", "/echo/${input.a}"]).map(
                url.__add__
            ),
            "method": methods,
        },
        optional={
            "request": REQUEST | VALUES,
            "authentication": AUTHENTICATION | VALUES,
            "environments": st.just({"one": {"a": "${env.b}", "b": "x"}}) | VALUES,
            **dict.fromkeys(("server", "source", "transport"), VALUES),
        },
    )
    return operation | written | light | st.dictionaries(TEXT, VALUES, max_size=5)


SECRETS = dict.fromkeys(("A", "B", "TOOLS_A", "TOOLS_A_USERNAME", "TOOLS_A_PASSWORD"), "hush")


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_call_ends_in_a_result(run, service, data):
    executor = data.draw(likely(service.url))
    schema = data.draw(st.just({}) | st.fixed_dictionaries({"properties": VALUES}))
    item = manifest(url="http://localhost/")._replace(executor=executor, input_schema=schema)
    names = secret_names(executor, "shop")
    assert all(isinstance(name, str) for name in names)
    given = job(item, data.draw(ARGUMENTS), SECRETS)
    result = run(given)
    assert isinstance(result, CallResult)
    assert result.error or result.outcome == "ok"
    json.dumps([result.content, result.structured, result.meta]).encode()
