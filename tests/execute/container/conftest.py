import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from container_host import IMAGE, Host, Runner

from waiting import until


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    for program in ("podman", "runc", "busybox"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed; run: make parts")
    host = Host(Path(tempfile.mkdtemp(prefix="pegboard-")))
    try:
        host.podman("run", "--rm", IMAGE, "true")
    except AssertionError as error:
        host.close()
        pytest.skip(f"podman cannot run containers on this host: {error}")
    yield host
    until(lambda: host.monitors() == [])
    assert host.podman("volume", "ls", "--quiet") == ""
    host.close()


@pytest.fixture(scope="session")
def runners(host: Host) -> Iterator[dict[str, Runner]]:
    """By podman's command, by podman's socket, and by docker's command over podman's socket."""
    at_socket = {"DOCKER_HOST": f"unix://{host.socket}"}
    made = {
        "podman": Runner(host, "podman", host.environ),
        "socket": Runner(host, "docker", at_socket),
        "docker": Runner(host, "docker", {**host.environ, **at_socket}),
    }
    yield made
    for each in made.values():
        asyncio.run(each.executor.close())


@pytest.fixture
def by(runners: dict[str, Runner], host: Host) -> Iterator[Callable[[str], Runner]]:
    """One that reaches the engine in this way; nothing may be left of what it ran."""

    def choose(way: str) -> Runner:
        if way == "docker" and shutil.which("docker") is None:
            pytest.skip("there is no docker client on this host")
        return runners[way]

    yield choose
    assert [path for each in runners.values() for path in each.files_left()] == []
    assert host.podman("ps", "--all", "--quiet") == ""


@pytest.fixture
def box(by: Callable[[str], Runner]) -> Runner:
    return by("podman")


@pytest.fixture(params=["podman", "socket"])
def each_way(request: pytest.FixtureRequest, by: Callable[[str], Runner]) -> Runner:
    return by(request.param)


@pytest.fixture(params=["podman", "socket", "docker"])
def each_way_and_docker(request: pytest.FixtureRequest, by: Callable[[str], Runner]) -> Runner:
    return by(request.param)
