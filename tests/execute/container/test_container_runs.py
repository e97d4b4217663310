import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest
from container_host import WITH_VOLUME, Runner, make_job, text_of

from pegboard.execute.container import wanted
from pegboard.execute.job import Grants
from pegboard.model.calls import Confined, Outcome
from pegboard.model.content import ItemFile, Version

HOSTILE = {
    "quotes": "a'b\"c`d`",
    "shell": "$(touch /tmp/x) ; ${HOME} && exit 9 | cat > y",
    "lines": "one\ntwo=2\r\n\tthree\n",
    "dashes": "--privileged",
    "dash": "-v /:/host",
    "empty": "",
    "braces": "{dashes}",
    "unicode": "ünï ☃ \u202e \x7f",
    "percent": "%s%n\\x41",
}


def opened(folder: Path) -> Path:
    """Containers are somebody else where the tests are root's."""
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def test_hostile_arguments_arrive_as_they_are_in_words_variables_and_the_file(each_way_and_docker):
    script = """
        for name in QUOTES SHELL LINES DASHES DASH EMPTY BRACES UNICODE PERCENT; do
            eval 'printf %s "$ARG_'$name'"' > "$PEGBOARD_OUTPUT/$name"
            printf %s "$1" > "$PEGBOARD_OUTPUT/word-$name"
            shift
        done
        printf %s "$1" > "$PEGBOARD_OUTPUT/option"
        cp "$PEGBOARD_ARGUMENTS" "$PEGBOARD_OUTPUT"
    """
    words = [f"{{{name}}}" for name in HOSTILE]
    command = ["sh", "-c", script, "sh", *words, "--option={shell}"]
    result = each_way_and_docker(command, arguments=HOSTILE)
    assert (result.outcome, result.logs) == (Outcome.OK, "")
    found = {each.name: each.content.decode() for each in result.artifacts}
    assert json.loads(found.pop("arguments.json")) == HOSTILE
    assert found.pop("option") == f"--option={HOSTILE['shell']}"
    for name, text in HOSTILE.items():
        assert (found.pop(name.upper()), found.pop(f"word-{name.upper()}")) == (text, text)
    assert found == {}


def test_a_long_argument_is_only_in_the_file(each_way):
    script = 'echo "${ARG_TEXT-none}"; wc -c < "$PEGBOARD_ARGUMENTS"'
    result = each_way(["sh", "-c", script], arguments={"text": "x" * 1_000_000})
    assert text_of(result) == "none\n1000012"


def test_what_it_writes_is_its_result_and_its_logs(each_way):
    result = each_way('sh -c \'echo "{\\"a\\": [1]}"; echo careful >&2\'')
    assert result.outcome is Outcome.OK
    assert result.structured == {"a": [1]}
    assert text_of(result) == '{"a": [1]}'
    assert result.logs == "careful\n"
    assert result.sandbox is Confined.CONTAINER


@pytest.mark.parametrize("code", [3, 125])
def test_an_exit_code_is_a_failure_that_is_told_with_its_last_words(each_way_and_docker, code):
    script = f"echo a; echo b >&2; echo Error: last >&2; exit {code}"
    result = each_way_and_docker(["sh", "-c", script])
    assert result.outcome is Outcome.FAILED
    assert result.error == f"it ended with exit code {code}; its last words: Error: last"
    assert text_of(result) == "a"


def test_a_command_that_is_not_in_the_image_is_a_failure(each_way_and_docker):
    result = each_way_and_docker(["nowhere-to-be-found"])
    assert result.outcome is Outcome.FAILED
    assert "its command cannot be run in its image" in result.error


def test_a_folder_that_is_not_in_the_image_is_a_failure(box):
    result = box("pwd", config={"workdir": "/nowhere"})
    assert result.outcome is Outcome.FAILED
    assert 'workdir "/nowhere" does not exist' in result.error


def test_a_container_that_the_engine_does_not_start_makes_it_unavailable(
    each_way_and_docker, monkeypatch
):
    monkeypatch.setattr(wanted, "OPEN_FILES", 1 << 30)
    result = each_way_and_docker("true")
    assert result.outcome is Outcome.UNAVAILABLE, result
    assert "the container engine could not run it: " in result.error
    assert result.sandbox is None


def test_a_secret_reaches_the_tool_and_no_command_line(host, by, tmp_path):
    wrapper = tmp_path / "podman"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\nexec {host.program} "$@"\n')
    wrapper.chmod(0o755)
    box = Runner(host, "podman", {**host.environ, "PATH": f"{tmp_path}:{host.environ['PATH']}"})
    result = box(
        ["sh", "-c", 'echo "$KEY" | tee /dev/stderr; test ${#KEY} = 11'],
        config={"env": {"KEY": "secret://SESAME"}},
        secrets={"SESAME": "open sesame"},
    )
    assert result.outcome is Outcome.OK
    assert (text_of(result), result.logs) == ("***", "***\n")
    said = (tmp_path / "said").read_text()
    assert "run" in said
    assert "sesame" not in said


def test_a_secret_with_several_lines_can_be_sent_to_a_socket_and_not_to_a_command(by):
    fields = {"config": {"env": {"KEY": "${PEM}"}}, "secrets": {"PEM": "begin\nend"}}
    assert text_of(by("socket")(["sh", "-c", 'echo "$KEY" | wc -l'], **fields)) == "2"
    result = by("podman")(["true"], **fields)
    assert result.outcome is Outcome.FAILED
    assert "the variable KEY has more than one line" in result.error
    assert "begin" not in result.error


def test_a_missing_secret_makes_it_unavailable(box):
    result = box(["true"], config={"env": {"KEY": "${SESAME}"}})
    assert result.outcome is Outcome.UNAVAILABLE
    assert "there is no secret SESAME" in result.error


def test_a_variable_of_the_manifest_means_nothing_to_the_engine(each_way):
    env = {"LD_PRELOAD": "/nowhere.so", "CONTAINERS_CONF": "/nowhere", "PATH": "/bin", "HOME": "/x"}
    script = "sh -c 'echo $LD_PRELOAD $CONTAINERS_CONF $PATH $HOME'"
    result = each_way(script, config={"env": env})
    assert (text_of(result), result.logs) == ("/nowhere.so /nowhere /bin /x", "")


def test_of_pegboards_own_environment_only_what_is_granted_arrives(host, by):
    own = {"WANTED": " yes ", "UNWANTED": "no", "HTTP_PROXY": "http://user:pass@proxy"}
    result = Runner(host, "podman", host.environ | own)(
        "env", grants=Grants(variables=("WANTED", "NOT_THERE"))
    )
    found = dict(line.split("=", 1) for line in text_of(result).splitlines())
    assert found.pop("WANTED") == " yes "
    assert found.keys() <= {
        *("HOME", "PATH", "TERM", "HOSTNAME", "container", "SHLVL", "PWD"),
        *("PEGBOARD_ARGUMENTS", "PEGBOARD_OUTPUT"),
    }


def test_variables_are_granted_by_how_their_names_begin_too(host, by):
    own = {"TEAM_A": "1", "TEAM_B": "2", "OTHER": "3", "TEAM_%%": "() { :; }"}
    result = Runner(host, "podman", host.environ | own)("env", grants=Grants(variables=("TEAM_*",)))
    found = dict(line.split("=", 1) for line in text_of(result).splitlines())
    assert {name: value for name, value in found.items() if name in own} == {
        "TEAM_A": "1",
        "TEAM_B": "2",
    }


def test_the_files_of_a_tool_can_be_read_and_not_written(host, by, tmp_path):
    folder = opened(tmp_path / "unpacked")
    script = folder / "say.sh"
    script.write_text("echo said; echo more >> /pegboard/tool/say.sh")
    script.chmod(0o666)
    content = script.read_bytes()
    file = ItemFile("say.sh", content, hashlib.sha256(content).hexdigest())
    box = Runner(host, "podman", host.environ, unpack=lambda item: folder)
    version = Version("1.0.0", "hash", files=(file,))
    result = box.run(make_job("sh /pegboard/tool/say.sh", version=version))
    assert text_of(result) == "said"
    assert "Read-only file system" in result.logs
    assert script.read_bytes() == content


def test_granted_paths_are_where_they_are_and_hidden_ones_are_empty(each_way, tmp_path):
    project = opened(tmp_path / "project")
    notes, private = opened(project / "notes"), opened(project / "private")
    (project / "read.txt").write_text("to be read")
    (project / ".env").write_text("KEY=1")
    (private / "key").write_text("2")
    grants = Grants(
        read=(project, tmp_path / "not there", Path("/"), Path("/proc/1"), private / "key"),
        write=(notes,),
        hidden=(project / ".env", private),
        project=project,
    )
    script = "pwd; cat read.txt .env; ls private; echo new > notes/a; echo new > b"
    result = each_way(["sh", "-c", script], grants=grants)
    assert text_of(result) == f"{project}\nto be read"
    assert "can't create b: Read-only file system" in result.logs
    assert (notes / "a").read_text() == "new\n"
    assert not (project / "b").exists()


def test_what_is_hidden_is_not_moved_away_with_a_folder_around_it(each_way, tmp_path):
    outer = opened(tmp_path / "outer")
    project = opened(opened(outer / "work") / "project")
    board = opened(project / ".pegboard")
    (board / "board.db").write_text("hush")
    script = "mv work work2; mv work/project project2; ls work/project/.pegboard; ls -a *; "
    script += "echo new > work/project/a"
    grants = Grants(write=(outer,), hidden=(board,), project=outer)
    result = each_way(["sh", "-c", script], grants=grants)
    assert "board.db" not in text_of(result)
    assert (board / "board.db").read_text() == "hush"
    assert (project / "a").read_text() == "new\n"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can mount")
def test_what_is_mounted_below_a_path_that_may_be_read_is_not_written(each_way, tmp_path):
    below = opened(opened(tmp_path / "project") / "below")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=777", "none", str(below)], check=True)
    try:
        result = each_way(f"touch {below}/x", grants=Grants(read=(tmp_path / "project",)))
        assert result.outcome is Outcome.FAILED
        assert list(below.iterdir()) == []
    finally:
        subprocess.run(["umount", str(below)], check=True)


@pytest.mark.parametrize("name", ["a,b", 'a"b', "a\nb"])
def test_a_path_that_engines_would_misunderstand_is_not_shown(box, tmp_path, name):
    result = box("true", grants=Grants(write=(opened(tmp_path / name),)))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "engines misunderstand its name" in result.error


def test_what_an_image_wants_to_write_to_is_in_memory(each_way_and_docker):
    result = each_way_and_docker(
        "sh -c 'pwd; mount | grep /data'", config={"image": WITH_VOLUME, "workdir": "/etc"}
    )
    assert text_of(result).startswith("/etc\ntmpfs on /data type tmpfs")


def test_an_image_that_is_missing_is_pulled_first(each_way_and_docker, host):
    host.podman("rmi", "--force", "--ignore", host.pullable)
    result = each_way_and_docker("echo here", config={"image": host.pullable})
    assert text_of(result) == "here", result


def test_an_image_that_cannot_be_had_makes_it_unavailable(each_way_and_docker, host):
    image = host.pullable.replace("pegboard/pulled", "nowhere")
    result = each_way_and_docker("true", config={"image": image})
    assert result.outcome is Outcome.UNAVAILABLE
    assert f"the image {image} is not on this host and cannot be pulled: " in result.error
    assert result.sandbox is None
