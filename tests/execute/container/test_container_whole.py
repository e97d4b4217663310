"""An image as a tool of a project: from its manifest to its answer."""

import pytest
from container_host import IMAGE

from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import Confined, Outcome

MANIFEST = f"""\
tool_id: shout
tool_type: docker
description: Say it louder.
parameters:
  - {{name: text, type: string, required: true}}
executor_config:
  image: {IMAGE}
  command: [sh, -c, 'echo "$ARG_TEXT" | tr a-z A-Z; ls /sys/class/net']
"""


@pytest.fixture
def board(tmp_path, monkeypatch, host):
    for name, value in host.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_RUN_ENGINE", "podman")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".ai/tools/text/shout"
    folder.mkdir(parents=True)
    (folder / "tool.yaml").write_text(MANIFEST)
    with Pegboard.open(str(tmp_path / "board.db"), create=True) as found:
        found.add_folder(".ai")
        found.sync()
        yield found


def test_a_container_is_run_from_the_board_without_a_network(board, host):
    result = board.call("shout", {"text": "it's $(quiet)"})
    assert result.outcome is Outcome.OK, result.error
    assert result.content[0]["text"].split("\n")[:2] == ["IT'S $(QUIET)", "lo"]
    assert result.sandbox is Confined.CONTAINER
    assert board.call("shout", {}).outcome is Outcome.INVALID_ARGUMENTS
    assert host.podman("ps", "--all", "--quiet") == ""
