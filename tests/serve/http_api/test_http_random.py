"""Random requests from several clients at once, a few of those that `make bench` sends."""

import os
import subprocess
import sys
from pathlib import Path

SOAK = Path(__file__).parents[3] / "benchmarks" / "random_requests.py"


def test_random_requests_break_nothing_and_lose_nothing(tmp_path):
    found = subprocess.run(
        [sys.executable, str(SOAK), "--requests=2000", f"--results={tmp_path}"],
        capture_output=True,
        text=True,
        timeout=110,
        env=os.environ,
    )
    assert found.returncode == 0, found.stderr[-3_000:] + found.stdout[-2_000:]
    assert "2000" in (tmp_path / "random_requests.json").read_text()
