import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import ServerUnavailable
from pegboard.execute.mcp.references import expand, expanded, secrets_of
from pegboard.execute.redaction import redacted
from pegboard.model.calls import ServerConfig, Transport

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,10}", fullmatch=True)
WITHOUT_BRACE = st.text(alphabet=st.characters(exclude_characters="}"))


@given(st.text().filter(lambda text: "${" not in text))
def test_a_text_without_references_stays_as_it_is(text):
    assert expand(text, {}) == text


@given(NAMES, st.text(), st.text(), st.text())
def test_a_variable_becomes_its_value_and_the_value_is_not_looked_into(name, value, before, after):
    before, after = before.replace("${", ""), after.replace("${", "")
    nested = value + "${OTHER}"
    assert expand(f"{before}${{{name}}}{after}", {name: nested}) == before + nested + after


@given(NAMES, WITHOUT_BRACE, st.sampled_from([{}, ""]))
def test_a_default_stands_in_for_a_variable_that_is_unset_or_empty(name, default, unset):
    environ = {} if unset == {} else {name: ""}
    assert expand(f"${{{name}:-{default}}}", environ) == default
    assert expand(f"${{{name}:-{default}}}", {name: "set"}) == "set"


@given(st.text(min_size=4), st.text(), st.text())
def test_no_secret_survives(secret, before, after):
    shown = redacted(before + secret + after, {secret})
    if secret not in "***" and "*" not in secret:
        assert secret not in shown


@given(st.text())
def test_expanding_never_fails_in_any_other_way(text):
    try:
        expand("${" + text, {})
    except ServerUnavailable as error:
        assert error.hint


def test_an_unset_variable_is_named_with_the_next_step():
    with pytest.raises(ServerUnavailable, match="the variable TOKEN is not set") as raised:
        expand("Bearer ${TOKEN}", {"OTHER": "secret"})
    assert "${TOKEN:-...}" in raised.value.hint
    assert "secret" not in str(raised.value)


def test_an_empty_variable_without_a_default_is_empty():
    assert expand("[${EMPTY}]", {"EMPTY": ""}) == "[]"


@pytest.mark.parametrize("text", ["${input:key}", "${}", "${a b}", "${X-default}"])
def test_a_reference_of_another_kind_is_refused(text):
    with pytest.raises(ServerUnavailable, match="is not a reference that Pegboard knows"):
        expand(text, {})


def test_a_text_in_a_file_is_read_at_that_moment(tmp_path):
    file = tmp_path / "mcp.json"
    reference = f"${{file:{file}#/servers/a~1b/args/1}}"
    for secret in ("first", "second"):
        file.write_text(json.dumps({"servers": {"a/b": {"args": ["x", secret]}}}), "utf-8")
        assert expand(reference, {}) == secret


def test_a_file_may_have_comments_and_trailing_commas(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{// the key\n "key": "a//b", /* more */ "n": [7,],\n}', "utf-8")
    assert expand(f"${{file:{file}#/key}}", {}) == "a//b"
    assert expand("${file:~/mcp.json#/n/0}", {"HOME": str(tmp_path)}) == "7"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "cannot be read: No such file"),
        ("{", "is not valid JSON"),
        ("[" * 100_000, "is not JSON that can be read"),
        ('{"key": ["secret"]}', "has no text at /key"),
        ('{"key": true}', "has no text at /key"),
        ('"secret"', "has no text at /key"),
        ("{}", "has no text at /key"),
    ],
)
def test_a_file_without_the_text_is_named_and_its_content_is_not(tmp_path, content, complaint):
    file: Path = tmp_path / "mcp.json"
    if content is not None:
        file.write_text(content, "utf-8")
    with pytest.raises(ServerUnavailable, match=complaint) as raised:
        expand(f"${{file:{file}#/key}}", {})
    assert "secret" not in str(raised.value)
    assert raised.value.hint


CONFIG = ServerConfig(
    "x",
    Transport.STDIO,
    command="${HOME}/bin/server",
    args=("--key=${KEY}", "--mode=${MODE:-fast}"),
    env={"TOKEN": "${TOKEN}"},
    cwd="${HOME}",
    url="https://example.org/${PATH_KEY}",
    headers={"Authorization": "Bearer ${TOKEN}"},
)
ENVIRON = {"HOME": "/home/me", "KEY": "key-1", "TOKEN": "token-22", "PATH_KEY": "path-333"}


def test_every_part_of_a_configuration_is_expanded():
    assert expanded(CONFIG, ENVIRON) == CONFIG._replace(
        command="/home/me/bin/server",
        args=("--key=key-1", "--mode=fast"),
        env={"TOKEN": "token-22"},
        cwd="/home/me",
        url="https://example.org/path-333",
        headers={"Authorization": "Bearer token-22"},
    )


def test_secrets_are_what_references_gave_but_for_defaults_and_what_all_servers_inherit():
    assert secrets_of(CONFIG, ENVIRON) == {"key-1", "token-22", "path-333"}
    assert secrets_of(CONFIG, ENVIRON | {"MODE": "slow"}) >= {"slow"}


def test_a_secret_is_hidden_however_it_is_spelled():
    secret = 'a"b/c d'
    for spelled in (secret, json.dumps(secret), repr(secret), "a%22b%2Fc%20d"):
        assert redacted(f"key {spelled}!", {secret, "a"}).count("***") == 1
    assert redacted("one longer", {"longer", "long"}) == "one ***"
