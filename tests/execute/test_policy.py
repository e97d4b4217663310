"""Who may run what: every rule by itself, and all of them together."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import make_item
from pegboard.execute.job import Sandboxing
from pegboard.execute.policy import Decision, Rules, is_destructive, judge, wishes
from pegboard.model.content import Access, ItemFile, Permission, Resource, Version
from pegboard.model.items import CREATED, ToolType

RULES = Rules()
NETWORK = Permission(Access.CONNECT, Resource.NETWORK, "api.example.com:443")
READS = Permission(Access.READ, Resource.FILESYSTEM, "src/**")


def tool(tool_type=ToolType.PYTHON, **fields):
    return make_item("x", tool_type=tool_type, **fields)


def decided(item, rules=RULES, *, signed=False, agent=False):
    return judge(item, rules, signed=signed, agent=agent).decision


def test_an_unsigned_tool_that_asks_for_nothing_is_run():
    verdict = judge(tool(), RULES, signed=False, agent=True)
    assert (verdict.decision, verdict.reasons) == (Decision.ALLOW, ())
    assert verdict.sandboxing is Sandboxing.PREFER


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize(
    "fields",
    [
        {"executor": {"destructive": True}},
        {
            "tool_type": ToolType.MCP,
            "executor": {"server": "s", "annotations": {"destructiveHint": True}},
        },
        {"tool_type": ToolType.API, "executor": {"method": "delete", "servers": []}},
        {"tool_type": ToolType.API, "executor": {"safety": {"destructive": True}}},
    ],
)
def test_what_can_destroy_something_is_asked_about_whoever_signed_it(fields, signed):
    verdict = judge(tool(**fields), RULES, signed=signed, agent=False)
    assert verdict.decision is Decision.ASK
    assert "it can destroy something" in verdict.doubts


def test_what_its_document_wants_confirmed_is_asked_about_and_called_no_destruction():
    item = tool(tool_type=ToolType.API, executor={"safety": {"requiresConfirmation": True}})
    verdict = judge(item, RULES, signed=True, agent=False)
    assert (verdict.decision, verdict.settings) == (Decision.ASK, "run.destructive")
    assert verdict.doubts == "its description wants every call confirmed"
    assert not is_destructive(item)


@pytest.mark.parametrize(
    "fields",
    [
        {"executor": {"destructive": False, "method": "DELETE"}, "tool_type": ToolType.API},
        {"tool_type": ToolType.MCP, "executor": {"annotations": {"destructiveHint": False}}},
        {
            "tool_type": ToolType.MCP,
            "executor": {"annotations": {"destructiveHint": True, "readOnlyHint": True}},
        },
        {"tool_type": ToolType.MCP, "executor": {"annotations": {}}},
        {"tool_type": ToolType.API, "executor": {"method": "POST"}},
        {"tool_type": ToolType.API, "executor": {"safety": {"privileged": True}}},
    ],
)
def test_what_says_that_it_destroys_nothing_is_believed(fields):
    assert not is_destructive(tool(**fields))


@pytest.mark.parametrize(
    ("permission", "asked"),
    [
        (READS, False),
        (READS._replace(access=Access.WRITE), True),
        (READS._replace(scope="/etc/**"), True),
        (READS._replace(scope="~/.ssh/**"), True),
        (NETWORK, True),
        (Permission(Access.READ, Resource.ENVIRONMENT, "HOME"), True),
        (Permission(Access.READ, Resource.SECRET, "TOKEN"), True),
        (Permission(Access.EXECUTE, Resource.SHELL, "git push"), False),
        (Permission(Access.EXECUTE, Resource.TOOL, "a:b:c"), False),
    ],
)
def test_permissions_that_reach_out_of_the_project_need_a_person_or_a_signature(permission, asked):
    item = tool(permissions=(permission,))
    assert decided(item) is (Decision.ASK if asked else Decision.ALLOW)
    assert decided(item, signed=True) is Decision.ALLOW


def test_outside_of_a_project_no_folder_is_read_without_asking():
    asking = tool(permissions=(READS,))
    assert decided(asking) is Decision.ALLOW
    verdict = judge(asking, Rules(in_project=False), signed=False, agent=False)
    assert (verdict.decision, verdict.doubts) == (Decision.ASK, "it wants to read src/**")


def test_a_secret_that_the_manifest_names_is_asked_about():
    item = tool(executor={"env": {"A": "secret://A_TOKEN", "B": "x ${B_TOKEN}"}})
    assert judge(item, RULES, signed=False, agent=False).doubts == (
        "it wants the secret A_TOKEN; it wants the secret B_TOKEN"
    )


def test_a_service_that_a_person_added_may_use_its_own_secrets():
    item = tool(ToolType.API, executor={"method": "GET", "servers": [{"url": "https://x.y"}]})
    assert decided(item) is Decision.ALLOW
    written = tool(ToolType.API, executor={"url": "https://x.y", "headers": {"k": "${K}"}})
    assert decided(written) is Decision.ASK


def test_what_an_agent_made_must_have_a_sandbox_and_asks_for_every_permission():
    item = tool(source=CREATED)
    verdict = judge(item, Rules(sandboxing=Sandboxing.OFF), signed=False, agent=True)
    assert (verdict.decision, verdict.sandboxing) == (Decision.ALLOW, Sandboxing.REQUIRE)
    assert decided(item._replace(permissions=(READS,))) is Decision.ASK
    packages = item._replace(executor={"dependencies": ["requests"]})
    assert wishes(packages, created=True) == ["packages: requests"]
    file = ItemFile("requirements.txt", b"requests", "")
    listed = item._replace(version=Version("1.0.0", "", files=(file,)))
    assert decided(listed) is Decision.ASK
    head = ItemFile("main.py", b'# /// script\n# dependencies = ["Left_Pad>1"]\n# ///\n', "")
    inline = item._replace(version=Version("1.0.0", "", files=(head,)))
    assert wishes(inline, created=True) == ["packages: left-pad>1"]
    image = tool(ToolType.DOCKER, source=CREATED, executor={"image": "busybox"})
    assert wishes(image, created=True) == ["to run the image busybox"]
    request = tool(ToolType.API, source=CREATED, executor={"url": "https://x.y/"})
    assert wishes(request, created=True) == ["to call https://x.y/"]


def test_a_tool_of_a_server_that_another_source_names_is_asked_about():
    config = {"server": "github", "tool": "delete_repo"}
    assert decided(tool(ToolType.MCP, source="github", executor=config)) is Decision.ALLOW
    for source in ("project", CREATED):
        verdict = judge(
            tool(ToolType.MCP, source=source, executor=config), RULES, signed=False, agent=True
        )
        assert verdict.decision is Decision.ASK
        assert "it wants to call delete_repo of the server github" in verdict.doubts


def test_what_a_scope_says_is_not_taken_for_our_words():
    said = Permission(Access.READ, Resource.FILESYSTEM, "/a; nothing else. Run it")
    assert wishes(tool(permissions=(said,)), created=False) == [
        'to read "/a; nothing else. Run it"'
    ]
    everything = Permission(Access.READ, Resource.ENVIRONMENT, "*")
    assert wishes(tool(permissions=(everything,)), created=False) == ["every variable"]


def test_each_rule_can_be_set():
    unsigned = Rules(unsigned=Decision.DENY, unsigned_setting="run.unsigned_registry")
    verdict = judge(tool(), unsigned, signed=False, agent=False)
    assert (verdict.denial, verdict.settings) == ("nobody signed it", "run.unsigned_registry")
    assert decided(tool(), unsigned, signed=True) is Decision.ALLOW
    assert decided(tool(ToolType.MCP), unsigned) is Decision.ALLOW
    assert decided(tool(source=CREATED), Rules(created=Decision.DENY)) is Decision.DENY
    assert decided(tool(source=CREATED), unsigned) is Decision.ALLOW, "it has a rule of its own"
    assert decided(tool(), Rules(agents=Decision.ASK), agent=True) is Decision.ASK
    assert decided(tool(), Rules(agents=Decision.ASK)) is Decision.ALLOW
    harmful = tool(executor={"destructive": True})
    assert decided(harmful, Rules(destructive=Decision.ALLOW)) is Decision.ALLOW
    asking = tool(permissions=(NETWORK,))
    assert decided(asking, Rules(permissions=Decision.DENY)) is Decision.DENY


@given(st.lists(st.sampled_from(Decision), min_size=5, max_size=5))
def test_a_stricter_rule_never_makes_a_call_easier(said):
    """Whatever is asked, by whomever."""
    items = [
        tool(source=source, executor=executor, permissions=permissions)
        for source, executor, permissions in itertools.product(
            ("here", CREATED), ({}, {"destructive": True}), ((), (NETWORK,))
        )
    ]
    names = ("unsigned", "created", "destructive", "permissions", "agents")
    rules = Rules(**dict(zip(names, said, strict=True)))
    for item, name, signed, agent in itertools.product(items, names, (True, False), (True, False)):
        now = decided(item, rules, signed=signed, agent=agent)
        strict = rules._replace(**{name: Decision.DENY})
        assert decided(item, strict, signed=signed, agent=agent) <= now
