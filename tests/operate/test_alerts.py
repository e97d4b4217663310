"""The rules for Prometheus speak of numbers that there are, and the handbook of all rules."""

import re
import shutil
import subprocess

import pytest
import yaml
from operate_parts import BOUND, ROOT

RULES = ROOT / "deploy" / "alerts.yml"
HANDBOOK = (ROOT / "docs" / "operate.md").read_text("utf-8")
SERVING = (ROOT / "docs" / "how-to" / "serve.md").read_text("utf-8")


def alerts():
    [group] = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return group["rules"]


def exposed():
    """The table that tests/serve/running/test_gateway_health.py holds against a real gateway."""
    rows = re.findall(r"^\| (`(?:pegboard|process)_[^|]*)\|", SERVING, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_a_rule_asks_for_numbers_that_there_are_and_says_what_to_do(rule):
    assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
    named = set(re.findall(r"\b(?:pegboard|process)_[a-z_]+", rule["expr"]))
    known = exposed()
    assert len(known) > 15
    assert {name.removesuffix("_bucket") for name in named} <= known
    assert named or rule["expr"].startswith("up{")
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert all(rule["annotations"][text] for text in ("summary", "description"))


def test_the_handbook_tells_of_every_rule_and_of_no_other():
    told = re.findall(r"^\| `(Pegboard\w+)` \|", HANDBOOK, re.MULTILINE)
    assert told == [rule["alert"] for rule in alerts()]


@pytest.mark.skipif(not shutil.which("promtool"), reason="there is no promtool")
def test_prometheus_itself_reads_them():
    done = subprocess.run(
        ["promtool", "check", "rules", RULES], capture_output=True, text=True, timeout=BOUND
    )
    assert done.returncode == 0, done.stdout + done.stderr
