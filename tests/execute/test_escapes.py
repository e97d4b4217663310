"""What hostile tools try, each in the real sandbox. The `runs` know that nothing remained."""

import asyncio
import contextlib
import os
import signal
import socket
import threading
from pathlib import Path

import pytest
from process_parts import (
    Runs,
    a_job,
    limits_processes,
    needs_bubblewrap,
    needs_groups,
    seen_in_proc,
)

from pegboard.execute.job import Grants, Sandboxing
from pegboard.model.calls import Confined, Outcome
from waiting import soon

pytestmark = needs_bubblewrap

TRY = """
import ctypes, os, socket, sys
def attempt(name, do):
    try:
        print(name, 'worked:', do())
    except OSError as error:
        print(name, 'failed:', error.strerror)
"""


def attempts(runs: Runs, script: str, **job) -> dict[str, str]:
    """What each attempt came to, by name."""
    said = runs.said(TRY + script, **job)
    return dict(line.split(" ", 1) for line in said.splitlines())


def all_failed(found: dict[str, str]) -> bool:
    return bool(found) and all(each.startswith("failed:") for each in found.values())


def test_the_passwords_of_the_host_cannot_be_read(runs):
    found = attempts(
        runs,
        """
for path in '/etc/shadow', '/etc/gshadow', '/etc/ssh', '/var', '/run', '/sys', '/boot':
    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
""",
    )
    assert all_failed(found), found
    assert "root:" not in runs.said("cat /etc/passwd")


def test_the_home_of_the_user_cannot_be_read(runs, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "diary").write_text("dear diary")
    real = Path(f"~{os.environ.get('USER', 'root')}").expanduser()
    ran = runs.run(f"cat {home}/diary; ls -A {home} {real} /home /root")
    assert ran.outcome is Outcome.FAILED
    assert ran.stdout == ""
    assert ran.stderr.count("No such file or directory") == 5


def test_nothing_can_be_written_outside_its_own_folder(runs, tmp_path):
    granted, outside = tmp_path / "granted", tmp_path / "outside"
    granted.mkdir()
    outside.mkdir()
    found = attempts(
        runs,
        f"""
for path in '/x', '/usr/x', '/etc/x', '/dev/x', '/proc/x', {str(granted)!r} + '/x':
    attempt(path, lambda: open(path, 'w').write('x'))
attempt('outside', lambda: open({str(outside)!r} + '/x', 'w'))
attempt('settings', lambda: open('/etc/passwd', 'a'))
""",
        grants=Grants(read=(granted,)),
    )
    assert all_failed(found), found
    assert not list(granted.iterdir())
    assert not list(outside.iterdir())


def test_the_settings_of_the_kernel_are_not_its_own_not_even_for_root(runs):
    found = attempts(
        runs,
        """
for path in '/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger':
    attempt(path, lambda: os.open(path, os.O_WRONLY))
""",
    )
    assert all_failed(found), found


@limits_processes
def test_a_process_gets_no_more_processes_than_its_limit(runs):
    said = runs.said(
        """
        import os, signal
        made = 0
        try:
            while made < 500:
                if os.fork() == 0:
                    signal.pause()
                made += 1
        except OSError:
            pass
        print(made)
        """,
        processes=20,
    )
    assert 10 < int(said) <= 20


@limits_processes
def test_a_fork_bomb_ends_when_its_time_is_over(runs):
    ran = runs.run("bomb() { bomb | bomb & bomb; }; bomb", seconds=1.0, processes=30)
    assert ran.outcome in (Outcome.TIMEOUT, Outcome.KILLED, Outcome.FAILED), ran


@needs_groups
def test_a_process_that_takes_too_much_memory_is_killed(runs):
    ran = runs.run(
        """
        import time
        all = []
        while True:
            all.append(b'x' * (1 << 20))
        """,
        memory_bytes=64 << 20,
    )
    assert (ran.outcome, ran.sandbox) == (Outcome.KILLED, Confined.BUBBLEWRAP)
    assert ran.error.startswith("it needed more than 64 MB of memory")


@needs_groups
def test_memory_counts_for_all_processes_together_and_for_files_in_memory(runs):
    ran = runs.run(
        """
        import os, signal
        for _ in range(6):
            if os.fork() == 0:
                hog = b'x' * (20 << 20)
                signal.pause()
        print(os.wait()[1])
        """,
        memory_bytes=64 << 20,
    )
    assert ran.outcome is Outcome.KILLED or ran.stdout.strip() == str(int(signal.SIGKILL)), ran
    ran = runs.run("cat /dev/zero > /tmp/hog", memory_bytes=32 << 20, written_bytes=1 << 30)
    assert ran.outcome is Outcome.KILLED, ran


def test_endless_output_ends_it_and_little_of_it_is_kept(runs):
    ran = runs.run("yes", written_bytes=10 << 20, log_bytes=1_000)
    assert ran.outcome is Outcome.KILLED
    assert "wrote more than 10,485,760 bytes to its outputs" in ran.error
    assert ran.stdout.startswith("y\ny\n")
    assert "characters left out" in ran.stdout
    assert len(ran.stdout) < 1_200


@pytest.mark.parametrize("sandboxing", [Sandboxing.REQUIRE, Sandboxing.OFF])
def test_it_ends_though_it_ignores_every_signal_that_can_be_ignored(runs, sandboxing):
    ran = runs.run(
        """
        import signal
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            try:
                signal.signal(number, signal.SIG_IGN)
            except OSError:
                pass
        while True:
            signal.pause()
        """,
        seconds=0.5,
        sandboxing=sandboxing,
    )
    assert ran.outcome is Outcome.TIMEOUT
    assert ran.error.startswith("it was stopped after 0.5 seconds")


DAEMON = """
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
    os._exit(0)
os.wait()
print('done')
"""


@pytest.mark.parametrize("sandboxing", [Sandboxing.REQUIRE, Sandboxing.OFF])
def test_a_daemon_left_behind_ends_with_it_though_it_holds_the_output_open(runs, sandboxing):
    assert runs.said(DAEMON, sandboxing=sandboxing) == "done"
    assert not runs.left()


@pytest.mark.server
def test_no_socket_reaches_anything(runs):
    with listening() as (port, name):
        found = attempts(runs, connecting(port, name))
    assert all_failed(found), found


@pytest.mark.server
def test_with_the_network_granted_it_reaches_a_server(runs):
    with listening() as (port, name):
        found = attempts(runs, connecting(port, name), grants=Grants(network=True))
    assert found["tcp"].startswith("worked:"), found


def connecting(port: int, name: str) -> str:
    return f"""
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', {port}), 5))
unix = socket.socket(socket.AF_UNIX)
attempt('abstract', lambda: unix.connect({name!r}))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
attempt('udp', lambda: udp.sendto(b'x', ('192.0.2.1', 53)))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
"""


@contextlib.contextmanager
def listening():
    """Servers of ours: one on loopback, one by a name that is in no file system."""
    name = f"\0pegboard-test-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(name)
        unix.listen()
        yield tcp.getsockname()[1], name


def test_the_environment_is_only_what_it_was_given(runs):
    ran = runs.run("env", environment={"GIVEN": "yes"}, grants=Grants(variables=("GRANTED",)))
    names = {line.partition("=")[0] for line in ran.stdout.splitlines()}
    of_ours = {f"PEGBOARD_{name}" for name in ("ARGUMENTS", "ANSWER", "OUTPUT", "RUN")}
    assert names == {"PATH", "HOME", "TMPDIR", "LANG", "PWD", "GIVEN", *of_ours}


def test_no_environment_of_another_process_can_be_read(runs, monkeypatch):
    monkeypatch.setenv("PEGBOARD_TEST_SECRET", "hush-hush")
    found = runs.said(
        f"""
        import os, pathlib
        for pid in [os.getppid(), {os.getpid()}, *os.listdir('/proc')]:
            for file in 'environ', 'cmdline':
                try:
                    print(pathlib.Path(f'/proc/{{pid}}/{{file}}').read_bytes())
                except OSError:
                    pass
        """
    )
    assert "PEGBOARD_ANSWER" in found
    assert "hush" not in found


def test_no_other_process_can_be_seen_or_signalled(runs):
    found = attempts(
        runs,
        f"""
attempt('parent', lambda: os.kill({os.getpid()}, 0))
attempt('look', lambda: os.listdir('/proc/{os.getpid()}'))
print('pids', sum(name.isdigit() for name in os.listdir('/proc')))
""",
    )
    assert found["parent"].startswith("failed:")
    assert found["look"].startswith("failed:")
    assert int(found["pids"]) <= 3


def test_killing_everything_kills_only_itself(runs):
    ran = runs.run("kill -9 -1; kill -9 1; kill -9 $PPID; kill -9 0")
    assert ran.outcome is Outcome.KILLED
    assert ran.error == "it was ended by SIGKILL"


def test_a_link_out_of_its_folder_leads_nowhere(runs, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hush")
    (runs.folder / "link").symlink_to(secret)
    (runs.folder / "folder").symlink_to(tmp_path)
    found = attempts(
        runs,
        f"""
attempt('link', lambda: open({str(runs.folder)!r} + '/link').read())
attempt('folder', lambda: open({str(runs.folder)!r} + '/folder/secret').read())
""",
    )
    assert all_failed(found), found


@pytest.mark.parametrize("sandboxing", [Sandboxing.REQUIRE, Sandboxing.OFF])
def test_links_and_pipes_in_its_output_are_no_artifacts(runs, tmp_path, sandboxing):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file").write_text("hush")
    ran = runs.run(
        f"""
        cd $PEGBOARD_OUTPUT
        ln -s {secret}/file link; ln -s {secret} folder; mkfifo pipe
        mkdir real; echo hi > real/a.txt
        ln -s {secret}/file $PEGBOARD_ANSWER
        """,
        sandboxing=sandboxing,
    )
    assert [(each.name, each.content) for each in ran.artifacts] == [("real/a.txt", b"hi\n")]
    assert ran.answer is None


@pytest.mark.parametrize("sandboxing", [Sandboxing.REQUIRE, Sandboxing.OFF])
def test_an_output_folder_swapped_for_a_link_has_no_artifacts(runs, tmp_path, sandboxing):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file").write_text("hush")
    ran = runs.run(
        f"""
        cd /; rmdir $PEGBOARD_OUTPUT; ln -s {secret} $PEGBOARD_OUTPUT; mkfifo $PEGBOARD_ANSWER
        """,
        sandboxing=sandboxing,
    )
    assert (ran.outcome, ran.artifacts, ran.answer) == (Outcome.OK, (), None)
    assert (secret / "file").read_text() == "hush"


def test_its_own_files_cannot_be_changed_even_where_the_folder_around_them_is_granted(runs):
    (runs.folder / "kept").write_text("as it was")
    script = f"""
own = {str(runs.folder)!r}
attempt('write', lambda: open(own + '/kept', 'w'))
attempt('make', lambda: open(own + '/new', 'w'))
attempt('remove', lambda: os.remove(own + '/kept'))
attempt('rename', lambda: os.rename(own, own + '2'))
attempt('chmod', lambda: os.chmod(own + '/kept', 0o777))
attempt('link', lambda: os.link(own + '/kept', os.environ['PEGBOARD_OUTPUT'] + '/link'))
"""
    around = Grants(write=(runs.folder.parent, runs.folder))
    for grants in (Grants(), around):
        found = attempts(runs, script, grants=grants)
        assert all_failed(found), found
    assert (runs.folder / "kept").read_text() == "as it was"
    assert runs.said(f"echo hi > {runs.folder.parent}/beside; echo ok", grants=around) == "ok"


def test_its_folder_cannot_be_filled_with_bytes(runs):
    ran = runs.run(
        """
        import os
        for number in range(10_000):
            with open(os.environ['PEGBOARD_OUTPUT'] + f'/{number}', 'wb') as file:
                file.write(b'x' * (1 << 20))
        """,
        written_bytes=8 << 20,
    )
    assert ran.outcome is Outcome.KILLED
    assert "wrote more than 8,388,608 bytes to its folders" in ran.error


@needs_groups
def test_its_folder_cannot_be_filled_with_files_that_have_no_name(runs):
    ran = runs.run(
        """
        import os, signal
        files = []
        for number in range(100):
            files.append(open(os.environ['PEGBOARD_OUTPUT'] + f'/{number}', 'wb'))
            os.unlink(files[-1].name)
            files[-1].write(b'x' * (1 << 20))
            files[-1].flush()
        signal.pause()
        """,
        written_bytes=8 << 20,
    )
    assert ran.outcome is Outcome.KILLED, ran
    assert "to its folders" in ran.error


def test_its_folder_cannot_be_filled_with_files(runs):
    ran = runs.run(
        """
        import os, signal
        for number in range(20_000):
            open(os.environ['PEGBOARD_OUTPUT'] + f'/{number}', 'wb').close()
        signal.pause()
        """
    )
    assert ran.outcome is Outcome.KILLED, ran
    assert ran.error == "it was stopped because it made more than 10,000 files in its folder"


def test_folders_nested_without_end_are_noticed_and_removed(runs):
    ran = runs.run(
        """
        import os, signal
        os.chdir(os.environ['PEGBOARD_OUTPUT'])
        for _ in range(3_000):
            os.mkdir('nested')
            os.chdir('nested')
        signal.pause()
        """
    )
    assert ran.outcome is Outcome.KILLED, ran


def test_a_single_file_memory_and_the_private_tmp_have_a_limit(runs):
    found = attempts(
        runs,
        """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def fill(path):
    with open(path, 'wb') as file:
        for _ in range(32):
            file.write(b'x' * (1 << 20))
def fill_many(folder):
    for number in range(32):
        with open(f'{folder}/{number}', 'wb') as file:
            file.write(b'x' * (1 << 20))
attempt('file', lambda: fill('/tmp/x'))
os.remove('/tmp/x')
attempt('tmp', lambda: fill_many('/tmp'))
attempt('shm', lambda: fill_many('/dev/shm'))
""",
        written_bytes=8 << 20,
    )
    assert all_failed(found), found


def test_capabilities_and_namespaces_cannot_be_had_again(runs):
    status = runs.said("grep -E 'CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status")
    values = dict(line.split(":\t") for line in status.splitlines())
    assert values["CapEff"] == values["CapPrm"] == values["CapBnd"] == "0" * 16
    assert values["NoNewPrivs"] == "1"
    ran = runs.run("unshare -U true; unshare -m true; mount -t tmpfs x /tmp; chroot / true; exit 0")
    assert len(ran.stderr.strip().splitlines()) >= 4, ran


def test_calls_of_the_kernel_that_no_tool_needs_are_refused(runs):
    found = attempts(
        runs,
        """
kernel = ctypes.CDLL(None, use_errno=True)
def call(*values):
    if kernel.syscall(*values) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
x86 = os.uname().machine == 'x86_64'
attempt('userns', lambda: call(272 if x86 else 97, 0x10000000))
attempt('keyctl', lambda: call(250 if x86 else 219, 0, -3, 0))
attempt('io_uring', lambda: call(425, 1, 0))
attempt('mount', lambda: call(165 if x86 else 40, b'x', b'/tmp', b'tmpfs', 0, 0))
attempt('clone', lambda: call(56 if x86 else 220, 0x10000000 | 17, 0, 0, 0, 0))
""",
    )
    assert all_failed(found), found
    assert {found[name] for name in ("userns", "keyctl", "io_uring", "mount")} == {
        "failed: Operation not permitted"
    }


def test_a_hidden_path_inside_a_granted_one_is_neither_read_nor_written(runs, tmp_path):
    project = tmp_path / "project"
    (project / ".pegboard").mkdir(parents=True)
    (project / ".pegboard" / "board").write_text("all tools")
    (project / ".env").write_text("TOKEN=hush")
    (project / "link").symlink_to(project / ".env")
    found = attempts(
        runs,
        f"""
root = {str(project)!r}
for name in '.env', 'link', '.pegboard/board':
    attempt(f'read-{{name}}', lambda: open(f'{{root}}/{{name}}').read())
    attempt(f'write-{{name}}', lambda: open(f'{{root}}/{{name}}', 'w').write('x'))
attempt('make', lambda: open(f'{{root}}/.pegboard/new', 'w'))
attempt('remove', lambda: os.remove(f'{{root}}/.env'))
attempt('rename', lambda: os.rename(f'{{root}}/.pegboard', f'{{root}}/other'))
open(f'{{root}}/allowed', 'w').write('x')
""",
        grants=Grants(
            write=(project,),
            hidden=(project / ".pegboard", project / "link", project / "not there"),
        ),
    )
    assert all_failed(found), found
    assert (project / ".env").read_text() == "TOKEN=hush"
    assert [each.name for each in (project / ".pegboard").iterdir()] == ["board"]
    assert (project / "allowed").exists()


def test_what_is_hidden_is_not_moved_away_with_a_folder_around_it(runs, tmp_path):
    """It would be found there by the next process, under a name that is not hidden."""
    outer = tmp_path / "outer"
    board = outer / "work" / "project" / ".pegboard"
    board.mkdir(parents=True)
    (board / "board.db").write_text("hush")
    found = attempts(
        runs,
        f"""
work = {str(outer / "work")!r}
attempt('work', lambda: os.rename(work, work + '2'))
attempt('project', lambda: os.rename(work + '/project', work + '/project2'))
attempt('elsewhere', lambda: os.rename(work + '/project', {str(outer)!r} + '/project'))
attempt('board', lambda: os.rename(work + '/project/.pegboard', work + '/board'))
attempt('read', lambda: open(work + '/project/.pegboard/board.db').read())
for folder in work, work + '/project', {str(outer)!r}:
    open(f'{{folder}}/allowed', 'w').write('x')
""",
        grants=Grants(write=(outer,), hidden=(board,)),
    )
    assert all_failed(found), found
    assert (board / "board.db").read_text() == "hush"
    assert {each.parent.name for each in outer.rglob("allowed")} == {"outer", "work", "project"}


def test_its_own_files_are_seen_though_all_around_them_is_hidden(runs, tmp_path):
    (runs.folder / "own").write_text("mine")
    (tmp_path / "other").write_text("hush")
    (tmp_path / "shown").mkdir()
    found = attempts(
        runs,
        f"""
print('own', open({str(runs.folder)!r} + '/own').read())
attempt('list', lambda: open({str(tmp_path)!r} + '/other'))
attempt('write', lambda: open({str(tmp_path)!r} + '/new', 'w'))
attempt('granted', lambda: os.listdir({str(tmp_path)!r} + '/shown'))
""",
        grants=Grants(read=(tmp_path / "shown",), write=(tmp_path,), hidden=(tmp_path,)),
    )
    assert found.pop("own") == "mine"
    assert all_failed(found), found


def test_variables_of_a_tool_lead_nothing_astray_outside_the_sandbox(runs):
    environment = {"LD_PRELOAD": "/not/there.so", "ENV": "/not/there", "BASH_ENV": "/not/there"}
    ran = runs.run("exec /bin/true", environment=environment)
    # By the shell that lets it begin, the shell of the script, and what that becomes.
    assert ran.stderr.count("cannot be preloaded") == 3


def test_a_zero_byte_smuggles_no_option_into_the_sandbox(runs, tmp_path):
    (tmp_path / "secret").write_text("hush")
    smuggled = "x\0--ro-bind\0/\0/host"
    ran = runs.run("cat /host/etc/shadow", environment={"X": smuggled})
    assert ran.outcome is Outcome.UNAVAILABLE
    assert "zero byte" in ran.error


def test_secrets_in_its_environment_are_in_no_command_line(runs):
    async def look() -> list[int]:
        command = runs.command("sleep 1000", TOKEN="very-hush-hush")
        task = asyncio.create_task(runs.processes.run(command, a_job()))
        await soon(lambda: bool(seen_in_proc(b"very-hush-hush", "environ")))
        found = seen_in_proc(b"very-hush-hush", "cmdline")
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return found

    assert asyncio.run(look()) == []


def test_other_runs_at_the_same_time_are_not_seen(runs):
    seen = threading.Event()

    async def both() -> str:
        first = asyncio.create_task(runs.processes.run(runs.command("sleep 1000"), a_job()))
        await soon(lambda: bool(list(runs.scratch.glob("*/1"))))
        ran = await runs.processes.run(runs.command(f"ls -a {runs.scratch}/*"), a_job())
        first.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await first
        seen.set()
        return ran.stdout

    assert asyncio.run(both()).split() == [".", "..", "2"]
