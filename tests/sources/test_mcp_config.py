import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import ConfigError, UsageError
from pegboard.execute.mcp.references import expand
from pegboard.model.calls import ServerConfig, Transport
from pegboard.sources.mcp.config import (
    from_command,
    from_table,
    from_url,
    location,
    read_file,
)
from pegboard.store.servers import config_from, config_text

SECRET = "hunter2hunter2"


def write(tmp_path: Path, content: object, name: str = "mcp.json") -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def read_one(tmp_path: Path, server: object, name: str = "mcp.json") -> ServerConfig:
    [config] = read_file(write(tmp_path, {"mcpServers": {"github": server}}, name))
    return config


def complaint(tmp_path: Path, content: object) -> str:
    with pytest.raises(ConfigError) as caught:
        read_file(write(tmp_path, content))
    said = str(caught.value)
    assert SECRET not in said
    return said


def resolved(reference: str) -> str:
    """What a reference stands for when the server is started."""
    assert reference.startswith("${file:")
    return expand(reference, {})


# The forms that clients write.


def test_a_local_server_as_claude_desktop_and_cursor_write_it(tmp_path):
    said = {"command": "npx", "args": ["-y", "server", 8080], "env": {"LEVEL": "info", "PORT": 1}}
    assert read_one(tmp_path, said) == ServerConfig(
        name="github",
        transport=Transport.STDIO,
        command="npx",
        args=("-y", "server", "8080"),
        env={"LEVEL": "info", "PORT": "1"},
    )


def test_a_file_of_vs_code_with_comments_and_trailing_commas(tmp_path):
    [config] = read_file(
        write(
            tmp_path,
            """\ufeff{
              // where the servers are
              "inputs": [],
              "servers": {
                "docs": {
                  "type": "http", /* not sse */
                  "url": "https://host/a//b/*c*/",
                  "headers": {"X-Team": "a, ]"},
                },
              },
            }""",
        )
    )
    assert config.transport is Transport.HTTP
    assert config.url == "https://host/a//b/*c*/"
    assert config.headers == {"X-Team": "a, ]"}


@pytest.mark.parametrize(
    "content",
    [
        {"mcpServers": {"a": {"command": "x"}}, "numStartups": 3},
        {"servers": {"a": {"command": "x"}}},
        {"mcp": {"servers": {"a": {"command": "x"}}}},
        {"mcp-servers": {"a": {"command": "x"}}},
        {"mcp_servers": {}, "ptc_servers": {"a": {"command": "x"}}},
    ],
)
def test_servers_are_found_wherever_a_client_keeps_them(tmp_path, content):
    assert [config.name for config in read_file(write(tmp_path, content))] == ["a"]


@pytest.mark.parametrize(
    ("said", "transport"),
    [
        ({"url": "https://host/mcp"}, Transport.HTTP),
        ({"url": "https://host/sse"}, Transport.SSE),
        ({"url": "https://host/sse/?a=1"}, Transport.SSE),
        ({"url": "https://host/sse/v2"}, Transport.HTTP),
        ({"serverUrl": "https://host/mcp"}, Transport.HTTP),
        ({"httpUrl": "https://host/mcp"}, Transport.HTTP),
        ({"url": "https://host/mcp", "type": "sse"}, Transport.SSE),
        ({"url": "https://host/sse", "type": "http"}, Transport.HTTP),
        ({"url": "https://host/mcp", "transport": "streamable-http"}, Transport.HTTP),
        ({"url": "https://host/mcp", "type": "streamableHttp"}, Transport.HTTP),
        ({"url": "https://host/sse", "type": "remote"}, Transport.SSE),
        ({"url": "${ADDRESS}"}, Transport.HTTP),
        ({"command": "x", "type": "stdio"}, Transport.STDIO),
        ({"command": "x", "type": "local"}, Transport.STDIO),
    ],
)
def test_the_transport_is_what_is_said_or_what_the_address_tells(tmp_path, said, transport):
    assert read_one(tmp_path, said).transport is transport


@pytest.mark.parametrize(
    ("said", "start", "call"),
    [
        ({}, 30.0, 60.0),
        ({"timeout": 120}, 30.0, 120.0),
        ({"timeout": 3600}, 30.0, 3600.0),
        ({"timeout": 600_000}, 30.0, 600.0),
        ({"timeout": None}, 30.0, 60.0),
        ({"startup_timeout_sec": 20, "tool_timeout_sec": 7200}, 20.0, 7200.0),
        ({"startup_timeout_ms": 2500, "timeoutMs": 900}, 2.5, 0.9),
        ({"initTimeout": 10_000, "call_seconds": 5}, 10.0, 5.0),
    ],
)
def test_times_are_read_in_the_unit_of_their_client(tmp_path, said, start, call):
    config = read_one(tmp_path, {"command": "x", **said})
    assert (config.start_seconds, config.call_seconds) == (start, call)


@pytest.mark.parametrize("value", [0, -1, True, "60", float("nan"), float("inf"), 10**400])
def test_a_time_that_is_none_is_refused(tmp_path, value):
    assert "timeout is" in complaint(
        tmp_path, {"mcpServers": {"a": {"command": "x", "timeout": value}}}
    )


@pytest.mark.parametrize(
    ("said", "included", "excluded"),
    [
        ({"includeTools": ["get_*"], "excludeTools": ["b"]}, ("get_*",), ("b",)),
        ({"include_tools": ["a"], "exclude_tools": ["b"]}, ("a",), ("b",)),
        ({"enabled_tools": ["a"], "disabledTools": ["b"]}, ("a",), ("b",)),
    ],
)
def test_tools_are_chosen_under_any_of_the_usual_keys(tmp_path, said, included, excluded):
    config = read_one(tmp_path, {"command": "x", **said})
    assert (config.include_tools, config.exclude_tools) == (included, excluded)


@pytest.mark.parametrize(
    ("said", "enabled"),
    [
        ({}, True),
        ({"disabled": True}, False),
        ({"enabled": False}, False),
        ({"enabled": True}, True),
    ],
)
def test_a_server_can_be_switched_off(tmp_path, said, enabled):
    assert read_one(tmp_path, {"command": "x", **said}).enabled is enabled


def test_keys_that_only_their_client_knows_are_passed_over(tmp_path):
    said = {"command": "x", "alwaysAllow": ["a"], "trust": True, "tools": {"a": {}}, "gallery": 1}
    assert read_one(tmp_path, said) == ServerConfig("github", Transport.STDIO, command="x")


def test_a_working_folder_is_relative_to_the_file_or_to_the_project_of_the_editor(tmp_path):
    def cwd(said: str, name: str = "mcp.json") -> str:
        return read_one(tmp_path, {"command": "x", "cwd": said}, name).cwd

    assert cwd("sub") == str(tmp_path / "sub")
    assert cwd("sub", ".vscode/mcp.json") == str(tmp_path / "sub")
    assert cwd("/abs") == "/abs"
    assert cwd("${ROOT}/sub") == "${ROOT}/sub"
    assert cwd("~/sub") == "${HOME}/sub"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("GitHub", "github"),
        ("My Server (beta)", "my-server-beta"),
        ("io.github.user/tool", "io.github.user-tool"),
        ("a" * 63, "a" * 63),
    ],
)
def test_a_name_is_made_into_one_for_the_board(tmp_path, written, name):
    [config] = read_file(write(tmp_path, {"mcpServers": {written: {"command": "x"}}}))
    assert config.name == name


# References.


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("${GITHUB_TOKEN}", "${GITHUB_TOKEN}"),
        ("${GITHUB_TOKEN:-}", "${GITHUB_TOKEN:-}"),
        ("${env:GITHUB_TOKEN}", "${GITHUB_TOKEN}"),
        ("$GITHUB_TOKEN", "${GITHUB_TOKEN}"),
        ("Bearer ${env:GITHUB_TOKEN}", "Bearer ${GITHUB_TOKEN}"),
        ("Bearer $GITHUB_TOKEN", "Bearer ${GITHUB_TOKEN}"),
        ("${file:/a/b.json#/token}", "${file:/a/b.json#/token}"),
    ],
)
def test_references_stay_as_they_are_written(tmp_path, written, kept):
    said = {"command": "x", "env": {"GITHUB_TOKEN": written}, "headers": {"Authorization": written}}
    config = read_one(tmp_path, said)
    assert config.env == {"GITHUB_TOKEN": kept}
    assert config.headers == {"Authorization": kept}


def test_what_an_editor_would_fill_in_is_filled_in_where_it_is_known(tmp_path):
    said = {"command": "x", "args": ["${workspaceFolder}${/}src", "${userHome}/data"]}
    config = read_one(tmp_path, said, ".cursor/mcp.json")
    assert config.args == (f"{tmp_path}/src", "${HOME}/data")


def test_a_dollar_in_an_argument_is_no_reference(tmp_path):
    said = {"command": "sh", "args": ["-c", "$HOME", "exec $0"]}
    assert read_one(tmp_path, said).args == ("-c", "$HOME", "exec $0")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("${input:github-token}", "write ${GITHUB_TOKEN} in a copy of the file"),
        ("${workspaceFolder}/x", "only the editor knows"),
        ("${config:a.b}", "only the editor knows"),
        ("${command:pick}", "only the editor knows"),
        ("${A:-${B}}", "one not inside another"),
        ("${}", "is no reference"),
        (f"${{{SECRET}!}}", "is no reference"),
    ],
)
def test_a_reference_that_means_nothing_here_is_refused_with_the_next_step(tmp_path, written, said):
    told = complaint(tmp_path, {"servers": {"gh": {"command": "x", "env": {"TOKEN": written}}}})
    assert "mcp.json: server 'gh': env" in told
    assert said in told


# Secrets.


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", SECRET),
        ("api_key", SECRET),
        ("APIKEY", SECRET),
        ("tavilyApiKey", SECRET),
        ("DB_PASS", SECRET),
        ("PGPASSWORD", SECRET),
        ("MYSQL_PWD", SECRET),
        ("AWS_ACCESS_KEY_ID", SECRET),
        ("SESSION_ID", SECRET),
        ("GITHUB_PAT", SECRET),
        ("ANYTHING", "ghp_" + SECRET),
        ("ANYTHING", "github_pat_" + SECRET),
        ("ANYTHING", "sk-proj-" + SECRET),
        ("ANYTHING", "xoxb-" + SECRET),
        ("ANYTHING", "AKIAIOSFODNN7EXAMPLE"),
        ("ANYTHING", "glpat-" + SECRET),
        ("ANYTHING", "Bearer " + SECRET),
        ("DATABASE_URL", f"postgres://user:{SECRET}@host/db"),
        ("DSN", f"Server=host;Uid=me;Pwd={SECRET};"),
        ("OPENAPI_MCP_HEADERS", f'{{"Authorization": "Bearer {SECRET}"}}'),
    ],
)
def test_a_secret_in_a_file_is_replaced_by_a_reference_to_its_place(tmp_path, name, value):
    config = read_one(tmp_path, {"command": "x", "env": {name: value}})
    assert config.env == {name: f"${{file:{tmp_path}/mcp.json#/mcpServers/github/env/{name}}}"}
    assert resolved(config.env[name]) == value
    assert SECRET not in repr(config)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_LEVEL", "debug"),
        ("MAX_TOKENS", "4096"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("TOKEN_URL", "https://host/token"),
        ("KEY_FILE", "/keys/id"),
        ("AUTH_MODE", "oauth"),
        ("AUTHOR", "Jane"),
        ("KEYBOARD", "de"),
        ("MONKEY", "george"),
        ("PWD", "/home/me"),
        ("USE_TOKEN", "always"),
        ("DATABASE_URL", "postgres://user@host/db"),
        ("DATABASE_URL", "postgres://user:${PASSWORD}@host/db"),
        ("OPENAPI_MCP_HEADERS", '{"Authorization": "Bearer ${TOKEN}"}'),
        ("GITHUB_TOKEN", ""),
        ("PACKAGE", "risk-assessment-2024"),
    ],
)
def test_what_is_no_secret_stays(tmp_path, name, value):
    assert read_one(tmp_path, {"command": "x", "env": {name: value}}).env == {name: value}


@pytest.mark.parametrize(
    ("args", "secret"),
    [
        (["--api-key", SECRET], [1]),
        (["--token", SECRET, "--port", "1"], [1]),
        ([f"--token={SECRET}"], [0]),
        (["-e", f"GITHUB_TOKEN={SECRET}"], [1]),
        (["--header", f"Authorization: Bearer {SECRET}"], [1]),
        (["--header", f"Authorization:{SECRET}"], [1]),
        (["--header", f"X-Api-Key:{SECRET}"], [1]),
        (["mcp-remote", f"https://host/mcp?api_key={SECRET}"], [1]),
        ([f"postgres://me:{SECRET}@host/db"], [0]),
        (["--header", "Authorization: Bearer ${TOKEN}"], []),
        (["--token", "${TOKEN}", "--token=${TOKEN}", "-e", "API_TOKEN"], []),
        (["--token", "--verbose"], []),
        (["--no-auth", "/data", "--scope", "session:read", "--tokenizer", "gpt2"], []),
        (["-y", "@modelcontextprotocol/server-filesystem@2025.1.14", "/home/me"], []),
    ],
)
def test_secret_arguments_are_replaced_and_no_others(tmp_path, args, secret):
    config = read_one(tmp_path, {"command": "x", "args": args})
    assert [n for n, text in enumerate(config.args) if text != args[n]] == secret
    assert [resolved(config.args[n]) for n in secret] == [args[n] for n in secret]


@pytest.mark.parametrize(
    "url",
    [
        f"https://me:{SECRET}@host/mcp",
        f"https://host/mcp?x=1&apiKey={SECRET}",
        "https://host/s/9fJq2LmZ0aQx7RtY3uVb8WcD/mcp",
        "https://host/6f1c2d3e-0a1b-4c5d-8e9f-001122334455/mcp",
    ],
)
def test_an_address_with_a_secret_in_it_is_replaced_as_a_whole(tmp_path, url):
    config = read_one(tmp_path, {"url": url})
    assert resolved(config.url) == url
    assert location(config) == "<from mcp.json>"


def test_the_pointer_to_a_secret_escapes_the_names_on_its_way(tmp_path):
    content = {"mcpServers": {"a/b~c": {"url": "https://h/mcp", "headers": {"X-Key~/": SECRET}}}}
    [config] = read_file(write(tmp_path, content))
    [reference] = config.headers.values()
    assert reference.endswith("#/mcpServers/a~1b~0c/headers/X-Key~0~1}")
    assert resolved(reference) == SECRET


def test_a_secret_that_no_reference_can_name_is_refused(tmp_path):
    folder = tmp_path / "c#"
    folder.mkdir()
    said = complaint(folder, {"mcpServers": {"a": {"command": "x", "env": {"TOKEN": SECRET}}}})
    assert "env TOKEN is a secret" in said


@pytest.mark.parametrize("value", [f"${{TOKEN:-{SECRET}}}", f"Bearer {SECRET}${{REST}}"])
def test_a_secret_beside_a_reference_is_refused(tmp_path, value):
    said = complaint(tmp_path, {"mcpServers": {"a": {"command": "x", "env": {"TOKEN": value}}}})
    assert "write only ${NAME}" in said


# What is wrong with a file.


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("[]", "holds a list; it must hold an object"),
        ('{\n  "mcpServers": {,}\n}', "at line 2, column 18"),
        ('{ // {\n "a": 1 /* \n */ "b"', "at line 3, column 5"),
        ('{"mcpServers": {} /* }', "is not valid JSON"),
        ("[" * 100_000, "mcp.json"),
        ("{}", "names no servers\n  they are looked for under mcpServers, servers"),
        ({"mcpServers": {}}, "names no servers"),
        ({"mcpServers": []}, "mcpServers is a list; it must be an object"),
        ({"mcpServers": {"a": "npx"}}, "server 'a' is text; it must be an object"),
        ('{"servers": {"a": {"command": "x"}, "a": {"command": "y"}}}', "has 'a' more than once"),
        (
            {"mcpServers": {"My Server": {"command": "x"}, "my-server": {"command": "x"}}},
            "'My Server' and 'my-server' would both be named 'my-server'",
        ),
        ({"mcpServers": {"日本": {"command": "x"}}}, "name cannot be used"),
        ({"mcpServers": {"a" * 64: {"command": "x"}}}, "name cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_so(tmp_path, content, said):
    assert said in complaint(tmp_path, content)


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({}, "neither a command nor a url"),
        ({"command": "x", "url": "https://h"}, "both a command and a url"),
        ({"command": ["npx", "x"]}, "command is a list; it must be text"),
        ({"command": "x", "args": "-y"}, "args is text; it must be a list of texts"),
        ({"command": "x", "args": [["a"]]}, "args is a list; it must be a list of texts"),
        ({"command": "x", "env": ["A=1"]}, "env is a list; it must be an object"),
        ({"command": "x", "env": {"DEBUG": True}}, "env is an object; it must be an object with a"),
        ({"command": "x", "env": {"A=B": "1"}}, "no '=' or blank"),
        ({"command": "x", "env": {"A": "\0"}}, "env has a character"),
        ({"command": "\ud800"}, "command has a character"),
        ({"command": "x", "disabled": "no"}, "disabled is text; it must be true or false"),
        ({"command": "x", "envFile": ".env"}, "envFile is not followed here"),
        ({"command": "x", "type": "http"}, "type is 'http', and that needs a url"),
        ({"command": "x", "type": "remote"}, "type is 'remote', and that needs a url"),
        ({"url": "https://h", "type": "stdio"}, "type is 'stdio', and that needs a command"),
        ({"url": "https://h", "type": "ws"}, "it must be stdio, http, streamable-http or sse"),
        ({"url": 5}, "url is a number; it must be text"),
        ({"url": f"ftp://me:{SECRET}@h"}, "url is text; it must be an address"),
        ({"url": "https://h", "serverUrl": "https://h"}, "url and serverUrl say the same"),
        ({"url": "https://h", "headers": ["A: b"]}, "headers is a list"),
    ],
)
def test_a_wrong_value_is_told_with_file_server_key_and_what_is_expected(tmp_path, server, said):
    told = complaint(tmp_path, {"mcpServers": {"shop": server}})
    assert f"{tmp_path}/mcp.json: server 'shop': " in told
    assert said in told


def test_a_file_that_is_not_there_or_no_text_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.json cannot be read"):
        read_file(tmp_path / "nowhere.json")
    (tmp_path / "mcp.json").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"mcp\.json is not UTF-8"):
        read_file(tmp_path / "mcp.json")


# Settings file and command line.


def test_a_table_of_the_settings_file(tmp_path):
    where = str(tmp_path / "pegboard.toml")
    table = {
        "command": "uvx",
        "args": ["server"],
        "env": {"API_KEY": "${API_KEY:-none}"},
        "cwd": "sub",
        "exclude_tools": ["drop_*"],
        "start_seconds": 5,
        "namespace": "team",
    }
    assert from_table("time", table, where=where) == ServerConfig(
        name="time",
        transport=Transport.STDIO,
        command="uvx",
        args=("server",),
        env={"API_KEY": "${API_KEY:-none}"},
        cwd=str(tmp_path / "sub"),
        exclude_tools=("drop_*",),
        start_seconds=5.0,
        namespace="team",
        declared_in=where,
    )


def test_an_unknown_key_of_the_settings_file_is_an_error_with_a_suggestion():
    with pytest.raises(ConfigError, match="unknown key 'excludeTool'") as caught:
        from_table("time", {"command": "x", "excludeTool": []}, where="pegboard.toml")
    assert caught.value.hint == "did you mean 'exclude_tools'?"
    with pytest.raises(ConfigError, match=r"pegboard\.toml: mcp\.servers\.time: unknown key"):
        from_table("time", {"command": "x", "colour": 1}, where="pegboard.toml")


@pytest.mark.parametrize(
    ("table", "variable"),
    [
        ({"command": "x", "env": {"GITHUB_TOKEN": SECRET}}, "GITHUB_TOKEN"),
        ({"command": "x", "args": ["--api-key", SECRET]}, "MY_SHOP_API_KEY"),
        ({"command": "x", "args": [f"--api-key={SECRET}"]}, "MY_SHOP_API_KEY"),
        ({"command": "x", "args": ["-e", f"SHOP_TOKEN={SECRET}"]}, "SHOP_TOKEN"),
        ({"command": "x", "args": [f"{SECRET}token=="]}, "MY_SHOP_ARGS"),
        ({"url": "https://h", "headers": {"Authorization": SECRET}}, "MY_SHOP_AUTHORIZATION"),
        ({"url": f"https://h/mcp?key={SECRET}"}, "MY_SHOP_URL"),
    ],
)
def test_a_secret_outside_a_json_file_is_refused_with_the_variable_to_write(table, variable):
    with pytest.raises(ConfigError) as caught:
        from_table("my-shop", table, where="pegboard.toml")
    assert f"write ${{{variable}}}" in caught.value.hint
    assert SECRET.upper() not in str(caught.value).upper()


def test_a_command_line():
    config = from_command("time", ["uvx", "server", "--zone", "UTC"], env={"A": "1"}, cwd="/tmp")
    assert config == ServerConfig(
        "time", Transport.STDIO, "uvx", ("server", "--zone", "UTC"), {"A": "1"}, "/tmp"
    )
    with pytest.raises(UsageError, match="no command"):
        from_command("time", [])
    with pytest.raises(UsageError, match="looks like a secret") as caught:
        from_command("gh", ["x"], env={"GITHUB_TOKEN": SECRET})
    assert "write ${GITHUB_TOKEN}" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_an_address():
    config = from_url("docs", "https://host/sse", {"Authorization": "Bearer ${TOKEN}"})
    assert (config.transport, config.url) == (Transport.SSE, "https://host/sse")
    assert config.headers == {"Authorization": "Bearer ${TOKEN}"}
    assert from_url("d", "https://h/sse", transport=Transport.HTTP).transport is Transport.HTTP
    with pytest.raises(UsageError, match="begins with http"):
        from_url("docs", "host/mcp")


# The row in the store, and the line for people.

texts = st.text(max_size=20)
pairs = st.dictionaries(texts, texts, max_size=3)


def test_the_line_for_people_is_short_and_has_no_secret(tmp_path):
    said = {"command": "npx", "args": ["-y", "a b", "--token", SECRET, "${REST}"]}
    assert location(read_one(tmp_path, said)) == "npx -y 'a b' --token '<from mcp.json>' '${REST}'"
    assert location(from_url("d", "https://host/mcp")) == "https://host/mcp"
    long = location(from_command("d", ["x", "line\nbreak", "y" * 500]))
    assert len(long) == 160
    assert "\n" not in long


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
KEYS = ("command", "args", "env", "cwd", "url", "type", "headers", "includeTools", "timeout")


@given(st.dictionaries(texts, JSON | st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON))))
def test_any_file_is_read_or_refused(tmp_path_factory, servers):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps({"mcpServers": servers}), "utf-8")
    try:
        configs = read_file(path)
    except ConfigError:
        return
    assert all(config_from(config_text(each)) == each._replace(enabled=True) for each in configs)
    assert all(location(config) for config in configs)


def test_one_server_of_a_file_can_be_taken_whatever_is_wrong_with_the_others(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text('{"servers": {"bad": {"url": 3}, "good": {"command": "x"}}}', "utf-8")
    assert [config.name for config in read_file(path, only="good")] == ["good"]
    with pytest.raises(ConfigError, match="no server 'ghost'") as error:
        read_file(path, only="ghost")
    assert error.value.hint == "it has: bad, good"


def test_a_small_number_is_no_secret():
    assert from_command("a", ["x", "--tokens", "4096"]).args == ("--tokens", "4096")
