"""What a tool may have lacked is told with its failure, for tools that were really run."""

import sys

import pytest
from python_parts import Python, python_item

from pegboard.execute.hints import with_hint
from pegboard.execute.job import Grants
from pegboard.execute.process.sandbox import find_bubblewrap
from pegboard.model.calls import CallResult, Confined, Outcome


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    made = Python(tmp_path_factory.mktemp("hints"))
    yield made
    made.processes.close()


NOTHING = Grants()


def hint(result, grants=NOTHING):
    """What was added to the error; the rest must be as it was."""
    told = with_hint(result, grants)
    assert told._replace(error=result.error) == result
    assert told.error.startswith(result.error)
    return told.error[len(result.error) :].strip()


def failure(error, logs="", confined=Confined.BUBBLEWRAP):
    return CallResult(Outcome.FAILED, error=error, logs=logs, sandbox=confined)


def failed(python, source, **arguments):
    result = python.run(python_item(source), **arguments)
    assert result.outcome is Outcome.FAILED, result
    return result


@pytest.mark.program
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import no_such_package.deep", "no_such_package is neither in the standard library"),
        ("def run(arguments): ...", "run gets the tool's parameters by their names"),
        ("import os\ndef run(city): return os.environ['API_KEY']", "'read secret API_KEY'"),
    ],
)
def test_what_it_would_lack_anywhere(python, source, said):
    assert said in hint(failed(python, source, city="Ulm"))


CONFINED = pytest.mark.skipif(
    sys.platform != "linux" or not find_bubblewrap("/usr/bin:/bin").path,
    reason="needs bubblewrap",
)


@pytest.mark.program
@CONFINED
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import urllib.request as u; u.urlopen('https://example.com')", "connect network HOST"),
        ("import socket; socket.create_connection(('192.0.2.1', 80), 5)", "connect network HOST"),
        ("open('data/pets.csv')", "'read filesystem data/pets.csv' or 'write filesystem data/**'"),
        ("open('pets.csv')", "put 'read filesystem pets.csv' into"),
        ("open('/srv/my data/pets.csv')", "put 'read filesystem /srv/my data/pets.csv'"),
        ("open('/usr/pets.csv', 'w')", "put 'write filesystem /usr/**'"),
        ("import subprocess; subprocess.run(['no-such-program'])", "and no-such-program is none"),
    ],
)
def test_what_the_sandbox_keeps_from_it(python, line, said):
    assert said in hint(failed(python, f"def run():\n    {line}"))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("cat: data/pets.csv: No such file or directory", "read filesystem data/pets.csv"),
        ("ls: cannot access '/srv/a b': No such file or directory", "read filesystem /srv/a b"),
        ("run.sh: line 2: out/x: Read-only file system", "write filesystem out/**"),
        ("run.sh: line 3: jq: command not found", "jq is none"),
        ("run.sh: line 3: API_KEY: unbound variable", "read environment API_KEY"),
        ("curl: (6) Could not resolve host: example.com", "connect network HOST"),
    ],
)
def test_the_words_of_a_shell_are_understood(error, said):
    assert said in hint(failure("it ended with exit code 1", logs=error))


def test_what_is_granted_is_not_what_it_lacked(tmp_path):
    grants = Grants(read=(tmp_path / "data",), network=True, project=tmp_path)
    missing = "FileNotFoundError: [Errno 2] No such file or directory: "
    assert not hint(failure(f"{missing}'data/pets.csv'"), grants)
    assert not hint(failure(f"{missing}'{tmp_path}/data/pets.csv'"), grants)
    assert "'read filesystem src/x.py'" in hint(failure(f"{missing}'{tmp_path}/src/x.py'"), grants)
    assert not hint(failure("gaierror: [Errno -3] Temporary failure in name resolution"), grants)


@pytest.mark.parametrize(
    "result",
    [
        failure("ZeroDivisionError: division by zero"),
        failure("KeyError: 'city'"),
        failure("FileNotFoundError: [Errno 2] No such file or directory: '/tmp/mine.txt'"),
        failure("OSError: [Errno 101] Network is unreachable", confined=Confined.NOTHING),
        failure("ModuleNotFoundError: No module named 'x'", confined=Confined.CONTAINER),
        failure("ModuleNotFoundError: No module named 'x'", confined=None),
        CallResult(Outcome.TIMEOUT, logs="No module named 'x'", sandbox=Confined.BUBBLEWRAP),
        CallResult(Outcome.OK, logs="No module named 'x'", sandbox=Confined.BUBBLEWRAP),
    ],
)
def test_where_nothing_can_be_known_nothing_is_said(result):
    assert not hint(result)


@pytest.mark.timeout(20)
def test_a_tale_that_was_made_to_be_searched_for_long_holds_up_nobody():
    tale = 'subprocess.py"' * 280 + "FileNotFoundError: " * 210
    for _ in range(50):
        assert not hint(failure(tale, logs=tale))


def test_a_long_tale_is_not_read_for_ever():
    tale = "subprocess.py\" <frozen os> : a: ' " * 200_000
    assert not hint(failure("it ended with exit code 1", logs=tale))
