import asyncio
import json
from pathlib import Path

import pytest
from process_parts import needs_bubblewrap

from pegboard.execute.bash import BashExecutor
from pegboard.execute.job import Job, Limits, Sandboxing
from pegboard.execute.secrets import Secrets
from pegboard.execute.variables import MOST_BYTES
from pegboard.model.calls import CallResult, Outcome
from pegboard.model.items import Item, ItemId

pytestmark = needs_bubblewrap


@pytest.fixture
def call(runs):
    """Runs a script as a bash tool and gives its result."""

    def run(
        script: str,
        arguments: dict[str, object] | None = None,
        *,
        output_schema: dict[str, object] | None = None,
        secrets: Secrets | None = None,
        limits: Limits | None = None,
        **config,
    ) -> CallResult:
        (runs.folder / "run.sh").write_text(script)
        item = Item(
            ItemId("tests:tool"),
            "tool",
            output_schema=output_schema or {},
            executor={"entrypoint": "run.sh", **config},
        )
        executor = BashExecutor(runs.processes, lambda item: runs.folder)
        job = Job(
            item,
            arguments or {},
            secrets or Secrets(),
            limits or Limits(),
            sandboxing=Sandboxing.REQUIRE,
        )
        return asyncio.run(executor.run(job))

    return run


def test_what_it_prints_is_the_result_and_its_errors_are_logs(call):
    result = call('[[ bash == b* ]] && echo "in bash"; echo working >&2')
    assert result.outcome is Outcome.OK
    assert result.content == ({"type": "text", "text": "in bash\n"},)
    assert (result.structured, result.logs) == (None, "working\n")
    assert result.sandbox == "bubblewrap"


def test_arguments_are_variables_and_a_file_and_never_part_of_a_command(call):
    hostile = "'; touch /tmp/x; $(echo no) `echo no` \"\n"
    arguments = {"text": hostile, "some-Name.1": ["ü", 1], "yes": True, "none": None, "n": 1.5}
    result = call(
        'printf "%s|" "$ARG_TEXT" "$ARG_SOME_NAME_1" "$ARG_YES" "$ARG_NONE" "$ARG_N" "$#"\n'
        "cat $PEGBOARD_ARGUMENTS; ls /tmp/x",
        arguments,
    )
    said = result.content[0]["text"]
    assert said.startswith(f'{hostile}|["ü", 1]|true|null|1.5|0|')
    assert json.loads(said.rpartition("|")[2]) == arguments
    assert "'/tmp/x': No such file" in result.logs


def test_fixed_arguments_are_passed_as_they_are(call):
    result = call('printf "%s|" "$@"', {"name": "x"}, args=["a b", "{name}", "$HOME", "*"])
    assert result.content[0]["text"] == "a b|{name}|$HOME|*|"


def test_a_long_argument_is_only_in_the_file(call):
    long = "x" * (MOST_BYTES + 1)
    result = call(
        'echo "${ARG_LONG-unset} ${#ARG_FITS}"; wc -c < $PEGBOARD_ARGUMENTS',
        {"long": long, "fits": "x" * MOST_BYTES},
    )
    assert result.content[0]["text"].startswith(f"unset {MOST_BYTES}\n2000")
    assert result.logs.endswith("so only in $PEGBOARD_ARGUMENTS: long")


def test_many_long_arguments_fit_too(call):
    result = call("env | grep -c ^ARG_", {f"a{n}": "x" * MOST_BYTES for n in range(50)})
    assert result.content[0]["text"] == "10\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a-b": 1, "a_b": 2}, "'a-b' and 'a_b' would both be $ARG_A_B"),
        ({"a": "x\0y"}, "'a' has a zero character"),
        ({"a": "x\ud800y"}, "'a' has half a character"),
    ],
)
def test_arguments_that_no_environment_can_hold_are_refused(call, arguments, message):
    result = call("echo hi", arguments)
    assert result.outcome is Outcome.INVALID_ARGUMENTS
    assert message in result.error


def test_zero_bytes_inside_a_list_are_escaped_as_json_escapes_them(call):
    result = call('echo "$ARG_A"', {"a": ["x\0y"]})
    assert result.content[0]["text"] == '["x\\u0000y"]\n'


def test_an_object_that_is_printed_is_structured_too(call):
    result = call("""echo '{"a": [1]}'""")
    assert result.structured == {"a": [1]}
    assert result.content[0]["text"] == '{"a": [1]}\n'


def test_a_mark_of_the_byte_order_before_an_object_is_passed_over(call):
    assert call(r"""printf '\357\273\277{"a": 1}'""").structured == {"a": 1}


@pytest.mark.parametrize("printed", ["[1, 2]", "17", '"text"', "null"])
def test_other_json_is_structured_only_for_who_says_what_it_returns(call, printed):
    assert call(f"echo '{printed}'").structured is None
    result = call(f"echo '{printed}'", output_schema={"type": "object"})
    assert result.structured == {"result": json.loads(printed)}


@pytest.mark.parametrize("printed", ["{", "NaN", '{"a": Infinity}', "[" * 100_000, "", "hello"])
def test_what_is_no_json_is_text(call, printed):
    result = call(f"printf '%s' '{printed}'", output_schema={"type": "object"})
    assert result.outcome is Outcome.OK or "bytes that are kept" in result.error
    assert result.structured is None


def test_half_a_character_that_json_can_escape_does_not_come_through(call):
    half = '{"a": "\\ud800"}'
    for script in (f"echo '{half}'", f"echo '{half}' > $PEGBOARD_ANSWER"):
        assert call(script).structured == {"a": "\ufffd"}


def test_an_answer_in_the_file_goes_before_what_is_printed(call):
    result = call("""echo '{"no": 1}'; echo oops >&2; echo '[1]' > $PEGBOARD_ANSWER""")
    assert result.structured == {"result": [1]}
    assert result.content == ({"type": "text", "text": "[1]"},)
    assert result.logs == '{"no": 1}\n\noops\n'


def test_an_answer_that_is_no_json_is_told_and_what_is_printed_counts(call):
    result = call("echo text; echo {oops > $PEGBOARD_ANSWER")
    assert (result.outcome, result.structured) == (Outcome.OK, None)
    assert result.content[0]["text"] == "text\n"
    assert result.logs == "what it wrote to the file that $PEGBOARD_ANSWER names is no JSON"


def test_a_result_too_long_to_be_kept_is_no_result(call):
    script = 'printf \'{"a": "\'; head -c 10000 /dev/zero | tr "\\\\0" x; echo \'"}\''
    result = call(script, output_schema={"type": "object"}, limits=Limits(log_bytes=1_000))
    assert result.outcome is Outcome.FAILED
    assert "let it write the result to the file that $PEGBOARD_ANSWER names" in result.error
    assert call(script, limits=Limits(log_bytes=1_000)).outcome is Outcome.OK


def test_failure_names_the_exit_code_and_the_last_words(call):
    result = call("echo some; echo first >&2; echo last words >&2; exit 7")
    assert (result.outcome, result.error) == (
        Outcome.FAILED,
        "it ended with exit code 7: last words",
    )
    assert result.content[0]["text"] == "some\n"
    assert result.logs == "first\nlast words\n"


def test_its_environment_may_refer_to_secrets(call):
    env = {"TOKEN": "Bearer secret://API_TOKEN", "PLAIN": "x"}
    secrets = Secrets({"API_TOKEN": "t0ken-t0ken"}.get)
    result = call('echo "$PLAIN $TOKEN ${#TOKEN}"; exit 1', env=env, secrets=secrets)
    assert result.content[0]["text"] == "x Bearer *** 18\n"
    result = call("echo $TOKEN", env=env, secrets=Secrets())
    assert result.outcome is Outcome.UNAVAILABLE
    assert "there is no secret API_TOKEN" in result.error


def test_files_that_it_makes_are_artifacts(call):
    [artifact] = call("echo a,b > $PEGBOARD_OUTPUT/table.csv").artifacts
    assert artifact == ("table.csv", "text/csv", b"a,b\n")


@pytest.mark.parametrize("entrypoint", ["missing.sh", "../outside.sh", "/bin/true", "", "."])
def test_a_script_that_is_not_among_its_files_is_unavailable(call, runs, entrypoint):
    (runs.folder.parent / "outside.sh").write_text("echo no")
    result = call("echo hi", entrypoint=entrypoint)
    assert result.outcome is Outcome.UNAVAILABLE
    assert f"there is no file {entrypoint!r} among the tool's files" in result.error


def test_files_that_cannot_be_unpacked_are_unavailable(runs):
    def unpack(item: Item) -> Path:
        raise OSError("the disk is full")

    job = Job(Item(ItemId("tests:tool"), "tool"), {}, Secrets())
    result = asyncio.run(BashExecutor(runs.processes, unpack).run(job))
    assert (result.outcome, result.error) == (
        Outcome.UNAVAILABLE,
        "its files cannot be unpacked: the disk is full",
    )


def test_other_files_of_the_tool_are_beside_the_script(call, runs):
    (runs.folder / "part.sh").write_text("hello() { echo hello; }")
    assert call('. "$(dirname "$0")/part.sh"; hello').content[0]["text"] == "hello\n"
