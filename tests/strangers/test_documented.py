"""What docs/how-to/clients.md shows does what it says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard import Pegboard
from pegboard.sources.mcp.config import read_file
from real_servers import clock

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "clients.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_program_with_the_sdk_finds_and_calls_a_tool(tmp_path):
    with Pegboard.open(str(tmp_path / "board.db"), create=True) as board:
        board.add_servers([clock()])
        board.sync()
    program = tmp_path / "agent.py"
    program.write_text(next(code for code in blocks("python") if "asyncio.run" in code), "utf-8")
    paths = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        [sys.executable, program],
        cwd=tmp_path,
        env={"PATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "mcp:time:get_current_time" in done.stdout
    assert '"timezone": "Asia/Tokyo"' in done.stdout


@pytest.mark.parametrize("block", blocks("json"))
def test_every_file_for_a_client_is_one_that_we_can_read_ourselves(tmp_path, block):
    folder = tmp_path / ".vscode"
    folder.mkdir()
    file = folder / "mcp.json"
    file.write_text(json.dumps(json.loads(block)), "utf-8")
    [config] = read_file(file)
    assert config.name in ("pegboard", "pytools")
    assert config.args[0] in ("mcp", "-m")
