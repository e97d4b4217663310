import asyncio
import shutil
from pathlib import Path

import pytest
from container_host import make_job

from pegboard.errors import NotExecutable
from pegboard.execute.container import engines
from pegboard.execute.container.engines import DOCKER, PODMAN, Engine, Engines
from pegboard.execute.container.executor import ContainerExecutor
from pegboard.model.calls import CallResult, Outcome

SAYS_PODMAN = """echo '{"Client": {"Version": "5.0.0", "OsArch": "linux/amd64"}}'"""
SAYS_DOCKER = """echo '{"Client": {"Version": "28.0.0"}, "Server": {"Version": "28.0.0"}}'"""


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def found(choice: str, environ: dict[str, str]) -> Engine:
    return asyncio.run(Engines(choice, environ).find())


def run_in(folder: Path, **environ: str) -> CallResult:
    executor = ContainerExecutor(engine="auto", scratch=folder, environ=environ)
    return asyncio.run(executor.run(make_job("true")))


def test_without_any_engine_it_is_unavailable_with_the_reason_of_each(tmp_path):
    result = run_in(tmp_path, PATH=str(tmp_path), DOCKER_HOST=f"unix://{tmp_path}/d.sock")
    assert result.outcome is Outcome.UNAVAILABLE
    assert "podman: not installed; docker: not installed" in result.error
    assert f"{tmp_path}/d.sock: No such file or directory" in result.error
    assert "install podman (apt install podman), or start docker" in result.error
    assert list(tmp_path.iterdir()) == []


def test_a_docker_without_its_daemon_is_no_engine(tmp_path):
    docker = shutil.which("docker")
    if docker is None:
        pytest.skip("there is no docker client on this host")
    (tmp_path / "docker").symlink_to(docker)
    host = f"unix://{tmp_path}/none.sock"
    result = run_in(tmp_path, PATH=str(tmp_path), HOME=str(tmp_path), DOCKER_HOST=host)
    assert result.outcome is Outcome.UNAVAILABLE
    assert "docker: Cannot connect to the Docker daemon" in result.error


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "it ended with exit code 3"),
        ("echo broken >&2; exit 1", "podman: broken"),
        ("echo hello", "it does not say its version, but 'hello'"),
        ("trap '' TERM; while :; do :; done", "it did not answer within 0.3 seconds"),
        ("sleep 60 & exit 1", "it ended with exit code 1"),
    ],
)
def test_a_program_that_does_not_answer_is_no_engine(tmp_path, monkeypatch, script, reason):
    monkeypatch.setattr(engines, "ANSWER_SECONDS", 0.3)
    program(tmp_path, "podman", script)
    with pytest.raises(NotExecutable, match=reason):
        found(PODMAN, {"PATH": f"{tmp_path}:/usr/bin:/bin"})


def test_a_program_that_cannot_be_run_is_no_engine(tmp_path):
    (tmp_path / "podman").write_bytes(b"\x7fELF")
    (tmp_path / "podman").chmod(0o755)
    with pytest.raises(NotExecutable, match="podman cannot be started: Exec format error"):
        found(PODMAN, {"PATH": str(tmp_path)})


def test_the_first_that_answers_is_taken_and_a_choice_is_kept(tmp_path):
    both = {"PATH": str(tmp_path)}
    program(tmp_path, "docker", SAYS_DOCKER)
    assert found("auto", both) == Engine(DOCKER, DOCKER, program=f"{tmp_path}/docker")
    program(tmp_path, "podman", SAYS_PODMAN)
    assert found("auto", both).program == f"{tmp_path}/podman"
    assert found("docker", both).program == f"{tmp_path}/docker"
    program(tmp_path, "docker", "exit 1")
    assert found("auto", both).kind == PODMAN
    with pytest.raises(NotExecutable, match="docker: it ended with exit code 1"):
        found("docker", both)


def test_a_docker_that_is_podman_is_spoken_to_as_podman(tmp_path):
    program(tmp_path, "docker", SAYS_PODMAN)
    assert found("docker", {"PATH": str(tmp_path)}).kind == PODMAN


def test_an_engine_is_found_by_its_socket(host, tmp_path):
    by_variable = {"DOCKER_HOST": f"unix://{host.socket}"}
    assert found("auto", by_variable) == Engine(PODMAN, PODMAN, socket=str(host.socket))
    (tmp_path / "podman").mkdir()
    (tmp_path / "podman" / "podman.sock").symlink_to(host.socket)
    by_place = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert found("podman", by_place).socket == f"{tmp_path}/podman/podman.sock"


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "unix://relative.sock", "nonsense"])
def test_an_address_that_is_no_socket_of_this_host_is_not_tried(tmp_path, address):
    with pytest.raises(NotExecutable) as raised:
        found("docker", {"PATH": str(tmp_path), "DOCKER_HOST": address})
    assert address.partition("://")[2] not in raised.value.message or address == "nonsense"


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", b"hello\r\n\r\n", b""]
)
def test_what_is_no_engine_behind_a_socket_is_told_so(tmp_path, answer):
    async def answer_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(answer)
        writer.close()
        await writer.wait_closed()

    async def ask() -> None:
        path = str(tmp_path / "x.sock")
        async with await asyncio.start_unix_server(answer_all, path):
            await Engines("docker", {"DOCKER_HOST": f"unix://{path}"}).find()

    with pytest.raises(NotExecutable, match=r"x\.sock: "):
        asyncio.run(ask())


def test_an_engine_is_remembered_and_a_failure_only_for_a_while(tmp_path, monkeypatch):
    asked = tmp_path / "asked"
    engine = Engines(PODMAN, {"PATH": f"{tmp_path}:/bin"})
    program(tmp_path, "podman", f"echo >> {asked}; exit 1")
    for _ in range(2):
        with pytest.raises(NotExecutable):
            asyncio.run(engine.find())
    assert asked.read_text() == "\n"
    program(tmp_path, "podman", f"echo >> {asked}; {SAYS_PODMAN}")
    monkeypatch.setattr(engines, "FAILURE_SECONDS", 0.0)
    for _ in range(2):
        assert asyncio.run(engine.find()).kind == PODMAN
    assert asked.read_text() == "\n\n"
    engine.forget()
    asyncio.run(engine.find())
    assert asked.read_text() == "\n\n\n"


def test_an_engine_that_stops_working_is_told_in_its_own_words_and_looked_for_again(tmp_path):
    program(
        tmp_path, "podman", f"case $1 in version) {SAYS_PODMAN};; *) echo gone >&2; exit 2;; esac"
    )
    executor = ContainerExecutor(engine="auto", scratch=tmp_path, environ={"PATH": str(tmp_path)})
    for _ in range(2):
        result = asyncio.run(executor.run(make_job("true")))
        assert result.outcome is Outcome.UNAVAILABLE
        assert "gone" in result.error
        (tmp_path / "podman").unlink(missing_ok=True)
        program(tmp_path, "docker", "echo gone too >&2; exit 1")


def test_the_options_are_those_that_dockers_own_command_knows(host, by, tmp_path):
    """Read by the client itself, which looks for its daemon only after it has understood them."""
    docker = shutil.which("docker")
    if docker is None:
        pytest.skip("there is no docker client on this host")
    program(
        tmp_path,
        "docker",
        f"""case "$1 $2" in
            version*) {SAYS_DOCKER};;
            image*) echo null;;
            *) exec {docker} "$@";;
        esac""",
    )
    environ = {"PATH": str(tmp_path), "HOME": str(tmp_path), "DOCKER_HOST": "unix:///nowhere.sock"}
    executor = ContainerExecutor(engine="docker", scratch=tmp_path, environ=environ)
    result = asyncio.run(executor.run(make_job("true", arguments={"a": 1})))
    assert result.outcome is Outcome.UNAVAILABLE
    assert "Cannot connect to the Docker daemon" in result.error
