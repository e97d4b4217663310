"""What needs no container: commands, variables, frames and results."""

import json

import pytest
from container_host import make_job, text_of
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import CallError, InvalidArguments
from pegboard.execute.container.by_socket import Frames
from pegboard.execute.container.manifest import asked_of, command_of
from pegboard.execute.container.result import result_of
from pegboard.execute.container.wanted import Ended, Heard
from pegboard.execute.room import Left
from pegboard.execute.variables import variables_of
from pegboard.model.calls import Outcome

VALUES = {"name": "x y", "n": 5, "list": [1, "a"], "none": None}
KNOWN = {*VALUES, "other"}


def command(words, arguments=VALUES) -> list[str]:
    return list(command_of({"command": words}, KNOWN, arguments))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "{name}"], ["run", "x y"]),
        ("run '{name}' {n}", ["run", "x y", "5"]),
        (["--to={name}", "-n={n}", "if={name}"], ["--to=x y", "-n=5", "if=x y"]),
        (["{list}", "{none}"], ['[1, "a"]', "null"]),
        (["a", "{other}", "--to={other}", "b"], ["a", "b"]),
        (
            ["awk", "{print}", "${HOME}", "{}", '{"a": {}}'],
            ["awk", "{print}", "${HOME}", "{}", '{"a": {}}'],
        ),
        (["sh", "-c", "{name}"], ["sh", "-c", "x y"]),
        ([], []),
        (None, []),
    ],
)
def test_an_argument_becomes_one_word_or_the_value_of_an_option(words, expected):
    assert command(words) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["sh", "-c", "echo {name}"],
        ["sh", "-c", "{name}; ls"],
        ["sh", "-c", "x={name}"],
        ["sh", "-ec", "x={name}"],
        ["{name}{n}"],
        ["{{name}}"],
        ["--a b={name}"],
        ["$(x)={name}"],
        ["a=b={name}"],
        ["${name}"],
        ["{name}\n"],
        "sh -c 'echo {other}'",
    ],
)
def test_an_argument_inside_a_longer_text_is_refused(words):
    with pytest.raises(CallError, match="where it could become code"):
        command(words)


def test_a_command_that_cannot_be_split_is_told_so():
    with pytest.raises(CallError, match="No closing quotation"):
        command("sh -c 'echo")


@pytest.mark.parametrize(
    ("value", "reason"),
    [("a\0b", "zero character"), ("\ud800", "half a character"), ("x" * 200_000, "too long")],
)
def test_an_argument_that_no_command_line_can_have_is_invalid(value, reason):
    with pytest.raises(InvalidArguments, match=f"'name'.*{reason}"):
        command(["{name}"], {"name": value})


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200))
def test_any_other_text_stays_one_word(text):
    assert command(["a", "{name}", "--b={name}"], {"name": text}) == ["a", text, f"--b={text}"]


def test_arguments_are_variables_under_their_names():
    arguments = {"a.b-c": "x\n", "Été": 1.5, "list": [1], "yes": True, "none": None, "2": ""}
    assert variables_of(arguments) == {
        "ARG_A_B_C": "x\n",
        "ARG__T_": "1.5",
        "ARG_LIST": "[1]",
        "ARG_YES": "true",
        "ARG_NONE": "null",
        "ARG_2": "",
    }


def test_arguments_that_would_be_one_variable_are_invalid():
    with pytest.raises(InvalidArguments, match=r"'a-b' and 'a_b' would both be \$ARG_A_B"):
        variables_of({"a-b": 1, "a_b": 2})


def test_much_text_is_left_to_the_file():
    found = variables_of({"long": "é" * 60_000, **{f"n{n}": "x" * 90_000 for n in range(20)}})
    assert len(found) == 11
    assert "ARG_LONG" not in found


@pytest.mark.parametrize("image", [None, "", "-v/:/host", "a b", "a\n"])
def test_an_image_that_is_no_name_is_refused(image):
    with pytest.raises(CallError, match="is no name of an image"):
        asked_of(make_job("true", config={"image": image}), {})


@pytest.mark.parametrize("env", [{"A=B": "x"}, {"": "x"}, {"A\nB": "x"}, {"A": "x\0"}, {"#A": "x"}])
def test_a_variable_that_no_process_can_have_is_refused(env):
    with pytest.raises(CallError, match="that no process can have"):
        asked_of(make_job("true", config={"env": env}), {})


def test_what_pegboard_says_wins_over_what_a_manifest_says():
    env = {"ARG_A": "x", "PEGBOARD_OUTPUT": "/etc", "HOME": "/home"}
    found = asked_of(make_job("true", arguments={"a": 1}, config={"env": env}), {}).variables
    assert found["ARG_A"] == "1"
    assert found["PEGBOARD_OUTPUT"] == "/pegboard/output"
    assert found["HOME"] == "/home"


@given(
    st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=50)), max_size=8),
    st.integers(1, 20),
)
def test_frames_are_taken_apart_wherever_they_are_cut(frames, size):
    data = b"".join(bytes([n, 0, 0, 0]) + len(part).to_bytes(4, "big") + part for n, part in frames)
    heard = {1: b"", 2: b""}

    def hear(stream: int, part: bytes) -> None:
        heard[stream] += part

    reader = Frames(hear)
    for at in range(0, len(data), size):
        reader.feed(data[at : at + size])
    for stream, whole in heard.items():
        assert whole == b"".join(part for n, part in frames if n == stream)


def test_a_promised_result_that_is_too_long_to_be_kept_is_a_failure():
    result = told("9" * 70_000, Ended(0), output_schema={"type": "string"})
    assert result.outcome is Outcome.FAILED
    assert "it printed more than the 64,000 bytes that are kept" in result.error


def told(said: str, ended: Ended, **fields):
    job = make_job("true", **fields)
    heard = Heard(job.limits)
    heard.add(heard.out, said.encode("utf-8", "surrogatepass"))
    return result_of(job, ended, heard, Left())


@pytest.mark.parametrize(
    ("said", "schema", "structured"),
    [
        ('{"a": 1}', {}, {"a": 1}),
        ('{"a": "\\ud800"}', {}, {"a": "\ufffd"}),
        ("[1]", {"type": "array"}, {"result": [1]}),
        ("[1]", {}, None),
        ("5", {"type": "integer"}, {"result": 5}),
        ("NaN", {"type": "number"}, None),
        ("plain", {"type": "string"}, None),
        ("9" * 10_000, {"type": "integer"}, None),
        ("[" * 50_000, {"type": "array"}, None),
        (json.dumps({"a": "x" * 70_000}), {}, None),
        ("\ud800", {"type": "string"}, None),
    ],
)
def test_json_that_is_no_object_is_a_result_of_tools_that_promise_one(said, schema, structured):
    result = told(said, Ended(0), output_schema=schema)
    assert (result.outcome, result.structured) == (Outcome.OK, structured)
    assert len(text_of(result)) <= 64_100


@pytest.mark.parametrize(
    ("ended", "outcome", "error"),
    [
        (Ended(1), Outcome.FAILED, "exit code 1"),
        (Ended(255), Outcome.FAILED, "exit code 255"),
        (Ended(137), Outcome.KILLED, "bytes of memory"),
        (Ended(1, out_of_memory=True), Outcome.KILLED, "bytes of memory"),
        (Ended(0, out_of_memory=True), Outcome.OK, ""),
        (Ended(139), Outcome.KILLED, "signal SIGSEGV"),
        (Ended(152), Outcome.KILLED, "SIGXCPU: it used more processor time"),
        (Ended(125, refusal="cgroups are broken"), Outcome.UNAVAILABLE, "cgroups are broken"),
        (Ended(127, refusal='exec: "x": executable file not found'), Outcome.FAILED, "its command"),
        (Ended(126, refusal="exec format error"), Outcome.FAILED, "its command"),
    ],
)
def test_every_end_has_its_meaning(ended, outcome, error):
    result = told("", ended)
    assert result.outcome is outcome
    assert error in result.error
