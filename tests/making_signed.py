"""A `.ai` folder with an item of every sort that can be signed."""

from pathlib import Path

FILES = {
    "tools/ops/release.py": '''"""Release a new version of the package."""


def run(version: str) -> str:
    """Release a new version of the package."""
    return version
''',
    "tools/mail/post/tool.yaml": """tool_id: post
tool_type: python
version: 1.0.0
description: Post a letter to somebody far away.
executor_config:
  entrypoint: main.py
""",
    "tools/mail/post/main.py": "print('posted')\n",
    "directives/deploy.md": """# Deploy

```xml
<directive name="deploy" version="1.0.0">
  <metadata>
    <description>Deploy the service to production.</description>
    <category>ops</category>
    <author>ada</author>
  </metadata>
  <process>
    <step name="build"><description>Build it.</description><action>make</action></step>
  </process>
</directive>
```
""",
    "knowledge/vectors.md": """---
id: vectors
title: How vectors are compared
type: concept
tags: [search]
---
Cosine of vectors of unit length.
""",
    "skills/pdf/SKILL.md": """---
name: pdf
description: Fill in forms of a document.
---
# PDF

Ask for the form first.
""",
    "skills/pdf/scripts/fill.py": "print('filled')\n",
}
ITEMS = {
    "tools/ops/release.py": "tools:ops:release",
    "tools/mail/post": "tools:mail:post",
    "directives/deploy.md": "directives::deploy",
    "knowledge/vectors.md": "knowledge::vectors",
    "skills/pdf": "skills::pdf",
}
"""Where each item lies, and the id that it gets."""
OF_ITEM = {file: next(item for item in ITEMS if file.startswith(item)) for file in FILES}
"""Each file, and the item that it belongs to."""
SIDE_FILES = {
    "tools/ops/release.py": "tools/ops/release.py.sig",
    "tools/mail/post": "tools/mail/post/tool.yaml.sig",
    "directives/deploy.md": "directives/deploy.md.sig",
    "knowledge/vectors.md": "knowledge/vectors.md.sig",
    "skills/pdf": "skills/pdf/SKILL.md.sig",
}


def write_items(root: Path) -> Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return root


def flip(path: Path) -> None:
    """Change one byte of a file, in a word that is there only to be read."""
    content = path.read_text("utf-8")
    word = next(word for word in _WORDS if word in content)
    path.write_text(content.replace(word, word.capitalize(), 1), "utf-8")


_WORDS = ("package", "letter", "service", "unit", "form", "posted", "filled")
