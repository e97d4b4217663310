import json

import pytest
from execute_parts import WAIT

import real_servers
from pegboard.model.calls import Outcome

pytestmark = pytest.mark.server


def test_all_six_start_side_by_side_with_only_a_path_in_the_environment(pool, tmp_path):
    configs = real_servers.all_six(tmp_path)
    made = pool(*configs)
    asked = {config.name: made.sessions.listing(config.name) for config in configs}
    listed = {name: future.result(WAIT) for name, future in asked.items()}
    some = {
        "everything": {"echo", "get-sum"},
        "filesystem": {"read_text_file", "write_file"},
        "memory": {"create_entities", "read_graph"},
        "time": {"get_current_time", "convert_time"},
        "git": {"git_status", "git_log"},
        "fetch": {"fetch"},
    }
    for name, names in some.items():
        assert names <= {tool["name"] for tool in listed[name].tools}
        assert listed[name].server
    assert made.sessions.live() == set(some)


@pytest.fixture
def everything(pool):
    return pool(real_servers.everything())


def test_a_tool_is_listed_as_the_server_wrote_it(everything):
    tools = everything.sessions.listing("everything").result(WAIT).tools
    [echo] = [tool for tool in tools if tool["name"] == "echo"]
    assert echo["title"] == "Echo Tool"
    assert echo["annotations"]["readOnlyHint"] is True
    assert echo["inputSchema"]["$schema"] == "http://json-schema.org/draft-07/schema#"
    [structured] = [tool for tool in tools if tool["name"] == "get-structured-content"]
    assert structured["outputSchema"]["properties"].keys() == {
        *("temperature", "conditions", "humidity")
    }


def test_every_kind_of_content_comes_back(everything):
    assert everything.said("everything", "echo", message="ü 漢") == "Echo: ü 漢"
    image = everything.call("everything", "get-tiny-image").content[1]
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    weather = everything.call("everything", "get-structured-content", location="Chicago")
    assert weather.structured == json.loads(weather.content[0]["text"])
    annotated = everything.call("everything", "get-annotated-message", messageType="success")
    assert annotated.content[0]["annotations"] == {"audience": ["user"], "priority": 0.7}
    links = everything.call("everything", "get-resource-links", count=2).content[1:]
    assert [link["type"] for link in links] == ["resource_link", "resource_link"]
    arguments = {"resourceType": "Text", "resourceId": 1}
    embedded = everything.call("everything", "get-resource-reference", **arguments).content[1]
    assert embedded["type"] == "resource"
    assert embedded["resource"]["mimeType"] == "text/plain"


def test_an_error_of_the_tool_is_its_answer(everything):
    wrong = everything.call("everything", "get-sum", a="one", b=2)
    assert wrong.outcome is Outcome.FAILED
    assert "expected number" in wrong.content[0]["text"]


def test_progress_passes_through_and_a_call_can_be_cancelled(everything):
    heard = []
    long = everything.sessions.call(
        "everything",
        "trigger-long-running-operation",
        {"duration": 0.5, "steps": 5},
        on_progress=heard.append,
    )
    assert long.result(WAIT).outcome is Outcome.OK
    assert heard == [(float(step), 5.0, None) for step in range(1, 6)]
    arguments = {"duration": 60, "steps": 5}
    hung = everything.sessions.call("everything", "trigger-long-running-operation", arguments)
    assert hung.cancel()
    assert everything.said("everything", "echo", message="on") == "Echo: on"


def test_the_others_do_their_work(pool, tmp_path):
    files, repository = tmp_path / "files", tmp_path / "repository"
    files.mkdir()
    repository.mkdir()
    made = pool(
        real_servers.filesystem(files),
        real_servers.memory(tmp_path / "memory.jsonl"),
        real_servers.clock(),
        real_servers.git(repository),
    )
    path = str(files / "note.txt")
    assert made.call("filesystem", "write_file", path=path, content="hi").outcome is Outcome.OK
    assert made.said("filesystem", "read_text_file", path=path) == "hi"
    outside = made.call("filesystem", "read_text_file", path="/etc/passwd")
    assert outside.outcome is Outcome.FAILED
    entity = {"name": "Ada", "entityType": "person", "observations": ["likes looms"]}
    assert made.call("memory", "create_entities", entities=[entity]).outcome is Outcome.OK
    assert made.call("memory", "read_graph").structured["entities"][0]["name"] == "Ada"
    assert "Zurich" in made.said("time", "get_current_time", timezone="Europe/Zurich")
    assert "No commits yet" in made.said("git", "git_status", repo_path=str(repository))
