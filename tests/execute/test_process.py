import asyncio
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest
from process_parts import WAIT, Runs, a_job, needs_bubblewrap, seen_in_proc

import pegboard.execute.process.processes
import pegboard.execute.process.running
from pegboard.execute.job import Grants, Limits, Sandboxing
from pegboard.execute.process.limiting import begun, find_ending, limited
from pegboard.execute.process.processes import Command
from pegboard.execute.room import MAX_ANSWER, MAX_ARTIFACTS
from pegboard.execute.secrets import Secrets
from pegboard.model.calls import Confined, Outcome
from waiting import in_the_time_it_takes, soon, until

pytestmark = needs_bubblewrap

BOTH = pytest.mark.parametrize("sandboxing", [Sandboxing.REQUIRE, Sandboxing.OFF])


@pytest.fixture(params=["groups", "no groups"])
def with_or_without_groups(request, monkeypatch):
    if request.param == "no groups":
        monkeypatch.setattr(pegboard.execute.process.processes, "find_groups", lambda: None)


@BOTH
def test_arguments_come_by_a_file_and_answers_and_artifacts_go_by_files(runs, sandboxing):
    ran = runs.run(
        """
        cp $PEGBOARD_ARGUMENTS $PEGBOARD_ANSWER
        mkdir $PEGBOARD_OUTPUT/deep; echo '<p>' > $PEGBOARD_OUTPUT/deep/page.html
        printf '\\0' > $PEGBOARD_OUTPUT/what
        echo out; echo err >&2
        """,
        arguments={"a": ["ü", 1]},
        sandboxing=sandboxing,
    )
    assert (ran.outcome, ran.code, ran.error) == (Outcome.OK, 0, "")
    assert (ran.stdout, ran.stderr) == ("out\n", "err\n")
    assert json.loads(ran.answer) == {"a": ["ü", 1]}
    assert [tuple(each) for each in ran.artifacts] == [
        ("what", "application/octet-stream", b"\0"),
        ("deep/page.html", "text/html", b"<p>\n"),
    ]
    assert ran.sandbox is (Confined.NOTHING if sandboxing == "off" else Confined.BUBBLEWRAP)


@BOTH
def test_an_exit_code_is_failure_and_a_signal_is_being_killed(runs, sandboxing):
    ran = runs.run("echo no such thing >&2; exit 3", sandboxing=sandboxing)
    assert (ran.outcome, ran.code) == (Outcome.FAILED, 3)
    assert ran.error == "it ended with exit code 3: no such thing"
    ran = runs.run("kill -SEGV $$", sandboxing=sandboxing)
    assert (ran.outcome, ran.error) == (Outcome.KILLED, "it was ended by SIGSEGV")


@BOTH
def test_a_program_that_is_not_there_is_unavailable(runs, sandboxing):
    command = Command(("/not/there",), runs.folder, {})
    ran = asyncio.run(runs.processes.run(command, a_job(sandboxing=sandboxing)))
    assert ran.outcome is Outcome.UNAVAILABLE
    assert ran.error == "'/not/there' cannot be started: there is no such program"


def test_a_program_that_is_not_shown_is_unavailable(runs, tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    command = Command((str(program),), runs.folder, {})
    ran = asyncio.run(runs.processes.run(command, a_job()))
    assert ran.outcome is Outcome.UNAVAILABLE
    assert ran.error == f"it cannot be started: {program}: not found in the sandbox"


@BOTH
def test_granted_paths_variables_and_the_working_folder(tmp_path, sandboxing):
    project = tmp_path / "project"
    (project / "in").mkdir(parents=True)
    (project / "out").mkdir()
    (project / "in" / "file").write_text("hello")
    runs = Runs(tmp_path, GRANTED="from outside", NOT_GRANTED="hush")
    said = runs.said(
        "cat in/file; echo there > out/file; echo; echo $GRANTED$NOT_GRANTED; pwd",
        grants=Grants(
            read=(project / "in", tmp_path / "not there"),
            write=(project / "out",),
            variables=("GRAN*", "NOWHERE"),
            project=project,
        ),
        sandboxing=sandboxing,
    )
    assert said == f"hello\nfrom outside\n{project}"
    assert (project / "out" / "file").read_text() == "there\n"
    assert not runs.left()


@pytest.mark.skipif(not Path("/etc/hostname").exists(), reason="this host has no such file")
def test_a_granted_file_among_the_settings_of_the_host_can_be_read(runs):
    ran = runs.run("cat /etc/hostname; whoami", grants=Grants(read=(Path("/etc/hostname"),)))
    assert ran.stdout == Path("/etc/hostname").read_text() + "nobody\n"


@BOTH
def test_who_is_granted_nothing_in_the_project_begins_in_its_output_folder(runs, sandboxing):
    grants = Grants(project=runs.folder.parent)
    ran = runs.run("echo hi > made", grants=grants, sandboxing=sandboxing)
    assert [each.name for each in ran.artifacts] == ["made"]


@BOTH
def test_secrets_are_hidden_before_the_output_is_cut(runs, sandboxing):
    secrets = Secrets({"TOKEN": "s3cret" * 10}.get)
    secrets.find("TOKEN")
    line = "-" * 90 + "s3cret" * 10
    ran = runs.run(
        f"yes -- {line} | head -n 9999; yes -- {line} | head -n 9999 >&2",
        secrets=secrets,
        log_bytes=1_000,
        sandboxing=sandboxing,
    )
    assert ran.cut
    for text in (ran.stdout, ran.stderr):
        assert "s3c" not in text
        assert "***" in text


def test_of_answers_and_artifacts_only_so_much_is_taken_and_the_rest_is_told(runs):
    ran = runs.run(
        f"""
        head -c {MAX_ANSWER + 1} /dev/zero > $PEGBOARD_ANSWER
        for i in $(seq {MAX_ARTIFACTS + 5}); do echo > $PEGBOARD_OUTPUT/$i; done
        """
    )
    assert (ran.outcome, ran.answer, len(ran.artifacts)) == (Outcome.OK, None, MAX_ARTIFACTS)
    assert f"its answer of {MAX_ANSWER + 1:,} bytes is left out" in ran.stderr
    assert "5 files of its output are left out" in ran.stderr


def test_files_that_nobody_may_read_are_removed_all_the_same(runs):
    ran = runs.run("mkdir -p a/b; echo > a/b/c; chmod 0 a/b/c a/b a")
    assert ran.outcome is Outcome.OK


@pytest.mark.usefixtures("with_or_without_groups")
@BOTH
def test_cancelling_ends_all_of_it_within_a_second(runs, sandboxing):
    script = """
    import os, signal
    for number in range(3):
        if os.fork() == 0:
            if number:
                os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            open(os.environ['PEGBOARD_OUTPUT'] + f'/{number}', 'w').close()
            while True:
                signal.pause()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()
    """

    async def cancel() -> None:
        job = a_job(sandboxing=sandboxing)
        task = asyncio.create_task(runs.processes.run(runs.command(script), job))
        await soon(lambda: len(list(runs.scratch.glob("*/1/output/*"))) == 3)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=1.0)
        assert done
        assert task.cancelled()
        assert not runs.left()

    asyncio.run(cancel())


@pytest.mark.usefixtures("with_or_without_groups")
@BOTH
def test_cancelled_at_any_moment_of_its_start_nothing_remains(runs, sandboxing):
    command, job = runs.command("sleep 1000 & sleep 1000"), a_job(sandboxing=sandboxing)

    async def cancel(turns: int) -> None:
        task = asyncio.create_task(runs.processes.run(command, job))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    async def all_of_them() -> None:
        await runs.processes.run(runs.command("true"), job)
        await asyncio.gather(*(cancel(turns) for turns in range(0, 3_000, 100)))

    asyncio.run(all_of_them())
    assert not runs.left()


@pytest.mark.usefixtures("with_or_without_groups")
@BOTH
def test_a_daemon_ends_with_who_started_it(runs, sandboxing):
    said = runs.said("setsid sleep 1000 & echo started", sandboxing=sandboxing)
    assert said == "started"
    until(lambda: not runs.left())


def test_without_groups_the_memory_of_each_process_is_limited(runs, monkeypatch):
    monkeypatch.setattr(pegboard.execute.process.processes, "find_groups", lambda: None)
    ran = runs.run("import os; hog = b'x' * (1 << 30)", memory_bytes=200 << 20)
    assert (ran.outcome, ran.error) == (Outcome.FAILED, "it ended with exit code 1: MemoryError")


@pytest.mark.usefixtures("with_or_without_groups")
@BOTH
def test_a_hundred_at_once_are_not_mixed_up(runs, sandboxing):
    command = runs.command('sed "s/.*/& $MINE/" $PEGBOARD_ARGUMENTS; cp $PEGBOARD_ARGUMENTS a')

    async def one(number: int) -> None:
        mine = command._replace(environment={"MINE": f"mine {number}"})
        ran = await runs.processes.run(mine, a_job({"n": number}, sandboxing=sandboxing))
        assert ran.outcome is Outcome.OK, ran
        assert ran.stdout == f'{{"n": {number}}} mine {number}'
        assert ran.artifacts[0].content == f'{{"n": {number}}}'.encode()

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(100):
                tasks.create_task(one(number))

    asyncio.run(all_of_them())
    assert not runs.left()


def test_one_that_is_cancelled_does_not_disturb_the_others(runs):
    async def some() -> list[str]:
        names = [asyncio.create_task(go("sleep 1000")) for _ in range(10)]
        others = [asyncio.create_task(go("sleep 0.3; echo done")) for _ in range(10)]
        await soon(lambda: len(list(runs.scratch.glob("*/[0-9]*"))) == 20)
        for each in names:
            each.cancel()
        await asyncio.wait(names)
        return [(await each).stdout for each in others]

    async def go(script: str):
        return await runs.processes.run(runs.command(script), a_job(sandboxing=Sandboxing.OFF))

    assert asyncio.run(some()) == ["done\n"] * 10


PEGBOARD = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = {path!r}
from process_parts import Runs, a_job
from pegboard.execute.job import Grants, Sandboxing
runs = Runs(Path({where!r}), **{environ!r})
grants = Grants(write=tuple(map(Path, {shared!r})))
job = a_job(sandboxing=Sandboxing({sandboxing!r}), seconds=1000, grants=grants)
asyncio.run(runs.processes.run(runs.command({script!r}), job))
"""


def killed_pegboard(
    tmp_path: Path,
    sandboxing: Sandboxing,
    script: str,
    *,
    when: str = "scratch/*/1/output/*",
    shared: tuple[str, ...] = (),
    **environ: str,
) -> Runs:
    """What is left by one that was killed while it ran a tool, as soon as such a file was there."""
    path = [str(Path(__file__).parent), *filter(None, sys.path)]
    text = PEGBOARD.format(
        path=path,
        where=str(tmp_path),
        sandboxing=sandboxing.value,
        script=script,
        shared=shared,
        environ=environ,
    )
    process = subprocess.Popen([sys.executable, "-c", text])
    try:
        until(lambda: bool(list(tmp_path.glob(when))))
    finally:
        process.kill()
        process.wait()
    return Runs(tmp_path)


def ended(runs: Runs) -> bool:
    """Whether no process of a tool is left of one that was killed; its folders may be."""
    return not seen_in_proc(str(runs.folder.parent).encode(), "environ")


@BOTH
def test_a_pegboard_that_is_killed_leaves_no_tool_running(tmp_path, sandboxing):
    runs = killed_pegboard(tmp_path, sandboxing, "echo > here; exec sleep 1000")
    until(lambda: ended(runs))
    assert runs.left()
    runs.said("true")
    assert not runs.left()
    runs.processes.close()


SLOW_TO_ARM = r"""
#include <fcntl.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int prctl(int option, ...)
{
    unsigned long given[4];
    va_list more;
    va_start(more, option);
    for (int at = 0; at < 4; at++)
        given[at] = va_arg(more, unsigned long);
    va_end(more);
    if (option == PR_SET_PDEATHSIG && getpid() == 1 && access(PLACE, W_OK) == 0) {
        close(open(PLACE "/late", O_CREAT | O_WRONLY, 0600));
        while (access(PLACE "/go", F_OK) != 0)
            usleep(1000);
    }
    return syscall(SYS_prctl, option, given[0], given[1], given[2], given[3]);
}
"""
"""The first process of a sandbox ties its life to ours only when there is a file `go`."""


@pytest.mark.skipif(not which("cc"), reason="there is no compiler")
def test_a_pegboard_that_is_killed_before_the_sandbox_watches_it_leaves_no_tool_running(tmp_path):
    """Bubblewrap starts the tool first: on a busy machine, the tool may be well on its way."""
    place, library, folder = tmp_path / "place", tmp_path / "slow.so", tmp_path / "bin"
    place.mkdir()
    folder.mkdir()
    compiled = ["cc", "-shared", "-fPIC", f'-DPLACE="{place}"', "-x", "c", "-", "-o", str(library)]
    subprocess.run(compiled, input=SLOW_TO_ARM, text=True, check=True)
    bwrap = folder / "bwrap"
    bwrap.write_text(f'#!/bin/sh\nLD_PRELOAD={library} exec {which("bwrap")} "$@"\n')
    bwrap.chmod(0o755)
    try:
        runs = killed_pegboard(
            tmp_path,
            Sandboxing.REQUIRE,
            "echo > here; exec sleep 1000",
            when="place/late",
            shared=(str(place),),
            PATH=f"{folder}:{os.environ['PATH']}",
        )
    finally:
        (place / "go").touch()
    until(lambda: ended(runs))
    runs.processes.close()


@pytest.mark.skipif(not find_ending(os.environ["PATH"]), reason="there is no setpriv")
def test_what_is_started_by_another_than_us_does_not_begin(tmp_path):
    """So it looks to a process whose Pegboard was killed before the two were tied together."""
    made = tmp_path / "made"
    argv = limited(("/bin/touch", str(made)), Limits(), ending=find_ending(os.environ["PATH"]))
    assert subprocess.run(["/bin/sh", "-c", '"$@"; exit $?', "sh", *argv]).returncode == 1
    assert not made.exists()
    assert subprocess.run(argv).returncode == 0
    assert made.exists()


def test_what_nobody_listens_to_does_not_begin(tmp_path):
    """In a sandbox, where processes outside of it cannot be seen."""
    made = tmp_path / "made"
    bare = ("bwrap", "--unshare-pid", "--bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--")
    argv = [*bare, *begun(("/bin/touch", str(made)), Limits())]
    listening, told = os.pipe()
    with os.fdopen(listening, "rb") as heard, os.fdopen(told, "wb") as saying:
        assert subprocess.run(argv, stdin=saying).returncode == 0
        saying.close()
        assert heard.read() == b"began\n"
    assert made.exists()
    made.unlink()
    listening, told = os.pipe()
    os.close(listening)
    with os.fdopen(told, "wb") as saying:
        assert subprocess.run(argv, stdin=saying).returncode != 0
    assert not made.exists()


@BOTH
def test_nothing_can_be_read_or_said_where_input_would_be(runs, sandboxing):
    said = runs.said("readlink /proc/self/fd/0; wc -c; ls /proc/self/fd", sandboxing=sandboxing)
    assert said.split() == ["/dev/null", "0", "0", "1", "2", "3"]  # the last is what ls reads


@BOTH
def test_the_next_pegboard_clears_up_after_one_that_was_killed(tmp_path, sandboxing):
    runs = killed_pegboard(tmp_path, sandboxing, "setsid sleep 1000 & echo > here; wait")
    [left] = runs.scratch.iterdir()
    assert runs.left()
    assert runs.said("echo hi", sandboxing=sandboxing) == "hi"
    assert not left.exists()
    assert not runs.left()
    runs.processes.close()
    assert not list(runs.scratch.iterdir())


def test_the_folders_of_a_pegboard_that_lives_are_left_alone(tmp_path):
    one, other = Runs(tmp_path), Runs(tmp_path)

    async def both() -> str:
        job = a_job(seconds=1000)
        task = asyncio.create_task(one.processes.run(one.command("echo > a; sleep 1000"), job))
        await soon(lambda: bool(list(one.scratch.glob("*/1/output/a"))))
        ran = await other.processes.run(other.command("echo hi"), a_job())
        assert list(one.scratch.glob("*/1/output/a"))
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return ran.stdout

    assert asyncio.run(both()) == "hi\n"


def without_bubblewrap(tmp_path: Path, script: str = "") -> Runs:
    """Where there is none on the PATH, or one that is this script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    if script:
        (folder / "bwrap").write_text(script)
        (folder / "bwrap").chmod(0o755)
    return Runs(tmp_path, PATH=str(folder))


def test_without_bubblewrap_a_required_sandbox_is_unavailable(tmp_path):
    ran = without_bubblewrap(tmp_path).run("echo hi", sandboxing=Sandboxing.REQUIRE)
    assert (ran.outcome, ran.sandbox) == (Outcome.UNAVAILABLE, None)
    assert ran.error.startswith("bubblewrap (bwrap) is not installed: install it")


def test_a_bubblewrap_that_does_not_work_is_as_good_as_none_and_says_why(tmp_path):
    runs = without_bubblewrap(tmp_path, "#!/bin/sh\necho No permissions to create it >&2; exit 1\n")
    ran = runs.run("echo hi", sandboxing=Sandboxing.REQUIRE)
    assert ran.outcome is Outcome.UNAVAILABLE
    assert "does not work on this host (No permissions to create it)" in ran.error
    ran = runs.run("echo hi", sandboxing=Sandboxing.PREFER)
    assert (ran.stdout, ran.sandbox) == ("hi\n", Confined.NOTHING)


def test_without_bubblewrap_a_preferred_sandbox_is_done_without(tmp_path):
    runs = without_bubblewrap(tmp_path)
    ran = runs.run(
        "env; ulimit -n; ulimit -c; ps -o pgid= -p $$", sandboxing=Sandboxing.PREFER, seconds=5.0
    )
    assert ran.sandbox is Confined.NOTHING
    *environment, files, core, group = ran.stdout.splitlines()
    assert not [line for line in environment if line.startswith(("PYTEST", "USER", "SHELL"))]
    assert (files, core) == ("1024", "0")
    assert int(group) != os.getpgid(0)
    assert not runs.left()


def test_without_bubblewrap_time_and_output_are_limited_too(tmp_path):
    runs = without_bubblewrap(tmp_path)
    job = {"sandboxing": Sandboxing.PREFER}
    assert runs.run("sleep 1000", seconds=0.2, **job).outcome is Outcome.TIMEOUT
    assert runs.run("yes", written_bytes=1 << 20, **job).outcome is Outcome.KILLED
    fill = "while :; do head -c 1000000 /dev/zero > $(mktemp); done"
    assert runs.run(fill, written_bytes=8 << 20, **job).outcome is Outcome.KILLED
    assert not runs.left()


def test_one_that_ends_when_asked_to_may_clear_up(runs, monkeypatch):
    monkeypatch.setattr(pegboard.execute.process.running, "GRACE", WAIT)
    script = "trap 'echo bye; exit 0' TERM; echo > here; while :; do sleep 0.01; done"

    def attempt(seconds: float) -> bool:
        return runs.run(script, sandboxing=Sandboxing.OFF, seconds=seconds).stdout == "bye\n"

    in_the_time_it_takes(attempt)


def test_a_scratch_folder_that_cannot_be_made_is_unavailable(tmp_path):
    (tmp_path / "scratch").write_text("in the way")
    ran = Runs(tmp_path).run("echo hi")
    assert ran.outcome is Outcome.UNAVAILABLE
    assert ran.error.startswith("no private folder can be made")


def test_private_folders_are_private(runs):
    said = runs.said("stat -c %a $(dirname $PEGBOARD_OUTPUT) $PEGBOARD_OUTPUT")
    assert said.split() == ["700", "700"]
    assert {oct(each.stat().st_mode & 0o777) for each in runs.scratch.iterdir()} == {"0o700"}
