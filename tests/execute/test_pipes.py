import sys
import tracemalloc

import anyio
import pytest

from pegboard.errors import ServerUnavailable
from pegboard.execute.mcp.pipes import MAX_LINE, Pipes, inherited
from pegboard.model.calls import ServerConfig, Transport


def script(text: str, **fields) -> Pipes:
    config = ServerConfig("s", Transport.STDIO, sys.executable, ("-c", text), **fields)
    return Pipes(config, {}, lambda said: said.replace("hush", "***"))


def heard(pipes: Pipes) -> list[object]:
    """Every message until the server ends."""

    async def listen():
        async with pipes.open() as (read, _):
            return [each.message async for each in read]

    return anyio.run(listen)


PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


def test_messages_are_read_until_the_end_and_the_end_is_explained():
    pipes = script(f"import sys; print({PING!r}); print('hush!', file=sys.stderr); sys.exit(4)")
    [message] = heard(pipes)
    assert message.method == "ping"
    assert pipes.fault().endswith(" ended with exit code 4; its last words on stderr: ***!")


def test_a_last_line_that_is_not_ended_is_no_message():
    assert heard(script(f"import sys; sys.stdout.write({PING!r})")) == []


def test_a_long_line_is_put_together_and_one_that_is_too_long_ends_it():
    pad = """print('{"jsonrpc": "2.0", "method": "m", "params": {"p": "' + 'x' * %d + '"}}')"""
    [message] = heard(script(pad % (10 << 20)))
    assert len(message.params["p"]) == 10 << 20
    pipes = script(pad % MAX_LINE)
    assert heard(pipes) == []
    assert "a line of more than 32 MB" in pipes.fault()


def test_of_much_stderr_only_the_end_is_kept():
    tracemalloc.start()
    pipes = script(
        "import sys\n"
        "for _ in range(50): sys.stderr.write('x' * (1 << 20))\n"
        "print('the end', file=sys.stderr)"
    )
    heard(pipes)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert pipes.fault().endswith("the end")
    assert len(pipes.fault()) < 5_000
    assert most < 10 << 20


def test_a_secret_at_the_edge_of_what_is_shown_is_hidden_whole():
    pipes = script("import sys; sys.stderr.write('hush' * 3_000)")
    heard(pipes)
    assert not set("hus") & set(pipes.fault().partition("stderr: ")[2])


def test_a_command_with_a_zero_in_it_cannot_be_run():
    with pytest.raises(ServerUnavailable, match="cannot be run"):
        heard(script("a\0b"))


def test_a_function_that_a_shell_exports_is_not_inherited():
    assert inherited({"HOME": "() { :; }", "PATH": "/bin", "SECRET": "x"}) == {"PATH": "/bin"}
