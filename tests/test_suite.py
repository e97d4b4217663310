"""What holds for all tests."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAUSE = re.compile(r"\bsleep\((?!0\))|\.wait\((timeout=)?0?\.\d+\)")
"""A wait of some length, not for an event; `sleep(0)` lets others go on and does not pause."""

MAY_PAUSE = {
    "waiting.py": "between two looks at what only a look can tell",
    "execute/container/test_container_ends.py": "calls off at moments that nothing tells of",
    "execute/evil.py": "servers that answer nothing, for whoever gives up on them",
    "serve/upstream_child.py": "a tool that takes long, until it is called off",
    "embed/test_http.py": "an answer that comes in drops",
    "embed/test_loading_together.py": "looks into another thread while it holds up an import",
    "sources/test_watch.py": "a folder that is written to all the time",
    "reliability/reliability_parts.py": "between two looks, unless the process ends before",
    "reliability/test_processes_together.py": "the same",
    "reliability/test_postgres_kills.py": "an embedder that takes as long as a model does",
}


def test_no_test_sleeps_where_it_could_wait_for_an_event():
    pausing = {
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.py")
        if PAUSE.search(path.read_text("utf-8"))
    }
    assert pausing - {"test_suite.py"} == set(MAY_PAUSE)
