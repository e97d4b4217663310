import tracemalloc
from pathlib import Path

import pytest
from container_host import make_job, text_of

from pegboard.execute import room, stopping
from pegboard.execute.container.by_command import ByCommand
from pegboard.execute.container.by_socket import description
from pegboard.execute.container.engines import DOCKER, PODMAN, Engine
from pegboard.execute.container.wanted import Mount, Wanted
from pegboard.execute.job import Grants, Limits
from pegboard.model.calls import Outcome

LOOK_AROUND = r"""
    id -u; id -g
    grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status | tr -d '\t'
    ls /sys/class/net
    cat /proc/net/route | wc -l
    nc -w 2 1.1.1.1 80 2>&1 | grep -c unreachable
    ls -d /proc/[0-9]* | wc -l
    for place in / /etc /bin /dev /pegboard /proc/sys/kernel /sys; do
        touch $place/x 2>/dev/null && echo "wrote to $place"
    done
    mknod /tmp/disk b 8 0 2>/dev/null && echo 'made a device'
    mount -t tmpfs none /tmp 2>/dev/null && echo 'mounted'
    unshare -Urm mount -o remount,rw / 2>/dev/null && echo 'made it writable'
    ls /dev | grep -E '^(sd|vd|nvme|mem|kmsg|fuse)'
    dd if=/dev/zero of=/tmp/big bs=1M count=20 2>/dev/null || echo 'tmp is full'
    ulimit -n
"""


def test_it_has_no_network_no_root_no_capabilities_and_writes_nowhere(each_way_and_docker):
    result = each_way_and_docker(["sh", "-c", LOOK_AROUND], limits={"written_bytes": 8 << 20})
    lines = text_of(result).splitlines()
    user, group, *lines = lines
    assert user != "0"
    assert group != "0"
    sets = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    assert lines[:5] == [f"{name}:0000000000000000" for name in sets]
    assert lines[5:7] == ["NoNewPrivs:1", "Seccomp:2"]
    interface, routes, unreachable, processes, *lines = lines[7:]
    assert (interface, routes, unreachable) == ("lo", "1", "1")
    assert int(processes) < 10
    assert lines == ["tmp is full", "1024"]


def test_its_limits_are_those_of_the_call(each_way):
    script = "cat /sys/fs/cgroup/*/memory.limit_in_bytes /sys/fs/cgroup/memory.max"
    script += " /sys/fs/cgroup/*/memory.memsw.limit_in_bytes"
    script += " /sys/fs/cgroup/*/pids.max /sys/fs/cgroup/pids.max 2>/dev/null; ulimit -t"
    limits = {"memory_bytes": 32 << 20, "processes": 7, "seconds": 40}
    found = text_of(each_way(["sh", "-c", script], limits=limits)).split()
    assert set(found) == {str(32 << 20), "7", "45"}


def test_a_fork_bomb_ends(each_way):
    bomb = ["sh", "-c", "f() { f | f & }; f; while :; do f; done"]
    result = each_way(bomb, limits={"seconds": 2, "processes": 20})
    assert result.outcome in (Outcome.TIMEOUT, Outcome.FAILED)
    assert "can't fork" in result.logs


def test_a_memory_bomb_ends_and_is_told_so(each_way_and_docker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = each_way_and_docker(["sh", "-c", "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done"])
    assert result.outcome is Outcome.KILLED
    assert "more than 67,108,864 bytes of memory" in result.error
    assert list(tmp_path.iterdir()) == []  # what watches over containers writes where it is


@pytest.mark.parametrize("where", ["1", "2"])
def test_endless_output_ends_and_takes_no_memory(each_way, where):
    tracemalloc.start()
    limits = {"written_bytes": 30 << 20, "log_bytes": 1_000}
    result = each_way(["sh", "-c", f"yes >&{where}"], limits=limits)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.outcome is Outcome.KILLED
    assert "more than 31,457,280 bytes to its outputs" in result.error
    assert len(text_of(result) + result.logs) < 1_200
    assert most < 10 << 20


FLOODS = {
    "many bytes": "n=0; while dd if=/dev/zero of=$n bs=1M count=1 2>/dev/null; do n=$((n+1)); done",
    "many files": "n=0; while :; do n=$((n+1)); : > $n; done",
    "many folders": "while mkdir a && cd a; do :; done",
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_files_ends(box, monkeypatch, flood):
    monkeypatch.setattr(room, "MAX_FILES", 200)
    monkeypatch.setattr(stopping, "MAX_FILES", 200)
    limits = {"written_bytes": 20 << 20}
    result = box(["sh", "-c", f"cd $PEGBOARD_OUTPUT; {flood}; sleep 20"], limits=limits)
    assert result.outcome is Outcome.KILLED


def test_one_large_file_ends_it(each_way):
    command = "dd if=/dev/zero of=/pegboard/output/big bs=1M count=30"
    result = each_way(command, limits={"written_bytes": 8 << 20})
    assert result.outcome is Outcome.KILLED
    assert "SIGXFSZ: it wrote a file larger than it may write" in result.error


def test_links_and_pipes_in_its_output_are_not_followed(box, tmp_path):
    (tmp_path / "secret").write_text("of the host")
    script = f"""
        cd $PEGBOARD_OUTPUT
        ln -s {tmp_path}/secret link; ln -s {tmp_path} folder; ln -s / root; mkfifo pipe
        mkdir -m 0 closed; echo kept > file; chmod 0 file
    """
    result = box(["sh", "-c", script])
    assert [(each.name, each.content) for each in result.artifacts] == [("file", b"kept\n")]


def test_the_network_is_there_only_where_it_is_granted():
    for engine in (Engine(PODMAN, PODMAN, program="podman"), Engine(DOCKER, DOCKER, socket="/s")):
        for granted in (True, False):
            wanted = make_wanted(network=granted)
            options = list(ByCommand(engine, {})._options(wanted))
            assert ("--network" in options) is not granted
            made = description(wanted, engine)["HostConfig"]
            assert isinstance(made, dict)
            assert ("NetworkMode" in made) is not granted


def test_users_of_the_host_are_kept_where_podman_is_not_root():
    engine = Engine(PODMAN, PODMAN, program="podman", rootless=True)
    assert "--userns=keep-id" in ByCommand(engine, {})._options(make_wanted())
    made = description(make_wanted(), engine)["HostConfig"]
    assert isinstance(made, dict)
    assert made["UsernsMode"] == "keep-id"


def make_wanted(**fields) -> Wanted:
    job = make_job("true", grants=Grants())
    return Wanted(
        name="pegboard-test",
        image=str(job.item.executor["image"]),
        command=("true",),
        variables={},
        mounts=(Mount(Path("/a"), "/b"),),
        memory_folders=("/tmp",),
        folder=Path("/nowhere"),
        user="1:1",
        limits=Limits(),
        until=0,
        **fields,
    )
