"""What the page on security names as proof is there."""

import re

from operate_parts import ROOT

PAGE = (ROOT / "docs" / "explanation" / "security.md").read_text("utf-8")


def test_every_test_that_is_named_is_there():
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE))
    assert len(named) > 30
    assert {name for name in named if not (ROOT / name).is_file()} == set()


def test_every_defence_names_its_proof_and_every_part_says_what_is_not_defended():
    _, *parts = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    attacked = [part for part in parts if "| attack |" in part]
    assert len(attacked) >= 6
    for part in attacked:
        rows = [line for line in part.splitlines() if line.startswith("| ")][1:]
        assert all("`tests/" in row for row in rows), part[:40]
        assert "**Not defended.**" in part, part[:40]
