import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from container_host import IMAGE, WAIT, Host, Runner, make_job, text_of

from pegboard.execute.container.wanted import LABEL
from pegboard.execute.job import Grants, Job
from pegboard.model.calls import CallResult, Outcome
from waiting import soon, until


def stubborn(folder: Path, **fields) -> Job:
    """Tells when it runs, leaves a daemon behind, and does not listen."""
    folder.mkdir()
    folder.chmod(0o777)
    script = f"trap '' TERM INT HUP; (sleep 600 &); touch {folder}/runs; while :; do sleep 1; done"
    return make_job(["sh", "-c", script], grants=Grants(write=(folder,)), **fields)


def test_a_time_limit_ends_it_whatever_it_does(each_way_and_docker, tmp_path):
    result = each_way_and_docker.run(stubborn(tmp_path / "shared", limits={"seconds": 1.5}))
    assert result.outcome is Outcome.TIMEOUT
    assert "it was stopped after 1.5 seconds" in result.error


def test_what_was_written_before_a_time_limit_is_told(each_way):
    script = "echo so far; echo hm >&2; echo 1 > $PEGBOARD_OUTPUT/a; sleep 600"
    result = each_way(["sh", "-c", script], limits={"seconds": 4})
    assert (text_of(result), result.logs) == ("so far", "hm\n")
    assert [each.name for each in result.artifacts] == ["a"]


def test_cancelling_ends_it_and_is_passed_on(each_way_and_docker, tmp_path):
    async def cancel_when_it_runs() -> None:
        job = stubborn(tmp_path / "shared")
        running = asyncio.create_task(each_way_and_docker.executor.run(job))
        await soon((tmp_path / "shared" / "runs").exists)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(asyncio.wait_for(cancel_when_it_runs(), WAIT))


def test_a_scope_that_cancels_again_and_again_ends_it_too(each_way, tmp_path):
    async def leave_when_it_runs() -> None:
        with anyio.fail_after(WAIT):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(each_way.executor.run, stubborn(tmp_path / "shared"))
                await soon((tmp_path / "shared" / "runs").exists)
                tasks.cancel_scope.cancel()

    anyio.run(leave_when_it_runs)


def test_cancelling_at_any_moment_leaves_nothing(each_way_and_docker):
    async def cancel_after(seconds: float) -> None:
        running = asyncio.create_task(each_way_and_docker.executor.run(make_job("sleep 600")))
        await asyncio.sleep(seconds)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    async def cancel_often() -> None:
        for step in range(6):
            await cancel_after(step * 0.06)

    asyncio.run(asyncio.wait_for(cancel_often(), WAIT))


def test_results_of_runs_at_the_same_time_are_not_mixed_up(each_way):
    async def all_at_once() -> list[CallResult]:
        script = 'echo "$ARG_N"; echo "$ARG_N" >&2; echo "$ARG_N" > $PEGBOARD_OUTPUT/n'
        jobs = [make_job(["sh", "-c", script], arguments={"n": n}) for n in range(6)]
        return await asyncio.gather(*map(each_way.executor.run, jobs))

    for n, result in enumerate(asyncio.run(asyncio.wait_for(all_at_once(), WAIT))):
        [artifact] = result.artifacts
        assert (text_of(result), result.logs, artifact.content.decode()) == (
            f"{n}",
            f"{n}\n",
            f"{n}\n",
        )


def test_of_many_runs_some_wait_and_their_time_begins_later(host, by, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    script = f"mkdir {shared}/alone || exit 9; sleep 0.3; rmdir {shared}/alone"
    job = make_job(["sh", "-c", script], grants=Grants(write=(shared,)), limits={"seconds": 20})

    async def all_at_once() -> list[CallResult]:
        executor = Runner(host, "podman", host.environ, parallel=1).executor
        return await asyncio.gather(*(executor.run(job) for _ in range(3)))

    for result in asyncio.run(asyncio.wait_for(all_at_once(), WAIT)):
        assert result.outcome is Outcome.OK, result


def test_a_secret_at_a_cut_is_hidden_whole(box):
    script = "i=0; while [ $i -lt 9000 ]; do echo -n $KEY; i=$((i+1)); done"
    result = box(
        ["sh", "-c", script],
        config={"env": {"KEY": "${SESAME}"}},
        secrets={"SESAME": "open-sesame"},
        limits={"log_bytes": 1_001},
    )
    assert not set("pnm") & set(text_of(result))


DYING = """
import asyncio, sys
from pathlib import Path
from pegboard.execute.container import wanted
from pegboard.execute.container.executor import ContainerExecutor
from container_host import make_job
from pegboard.execute.job import Grants

wanted.SPARE_SECONDS = 1
shared, scratch, *environ = sys.argv[1:]
executor = ContainerExecutor(
    engine="podman", scratch=Path(scratch), environ=dict(each.split("=", 1) for each in environ)
)
command = ["sh", "-c", f"touch {shared}/runs; sleep 600"]
job = make_job(command, grants=Grants(write=(Path(shared),)), limits={"seconds": 1})
asyncio.run(executor.run(job))
"""


def test_a_container_whose_pegboard_was_killed_ends_by_itself(host, by, tmp_path):
    shared, scratch = tmp_path / "shared", tmp_path / "scratch"
    shared.mkdir()
    shared.chmod(0o777)
    environ = [f"{name}={value}" for name, value in host.environ.items()]
    python_path = ":".join(path for path in sys.path if path)
    dying = subprocess.Popen(
        [sys.executable, "-c", DYING, str(shared), str(scratch), *environ],
        env={"PYTHONPATH": python_path},
    )
    until((shared / "runs").exists)
    dying.send_signal(signal.SIGKILL)
    dying.wait()
    assert host.podman("ps", "--quiet")
    until(lambda: not host.podman("ps", "--all", "--quiet"))


def labelled(host: Host, until: float) -> str:
    label = f"{LABEL}={int(until)}"
    return host.podman("create", "--stop-timeout", "0", "--label", label, IMAGE, "sleep", "600")


@pytest.mark.parametrize("way", ["podman", "socket", "docker"])
def test_the_first_run_removes_containers_that_should_be_over(host, by, way):
    by(way)
    socket = {"DOCKER_HOST": f"unix://{host.socket}"}
    engine, environ = {
        "podman": ("podman", host.environ),
        "socket": ("docker", socket),
        "docker": ("docker", {**host.environ, **socket}),
    }[way]
    labelled(host, time.time() - 1)
    running = labelled(host, time.time() + 600)
    foreign = host.podman("create", IMAGE, "true")
    assert Runner(host, engine, environ)("echo done").outcome is Outcome.OK
    left = host.podman("ps", "--all", "--quiet", "--no-trunc").split()
    host.podman("rm", "--force", *left)
    assert set(left) == {running, foreign}
