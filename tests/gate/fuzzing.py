"""Documents made to break the gate: good ones, mutated by structure and by text, and pure noise.

    python tests/gate/fuzzing.py 100000 [SEED]

Whatever goes in, an item or a rejection comes out, soon and without much memory. Printed is how
many of each, what took longest, and how much memory the process had at most.
"""

import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import yaml
from gate_parts import example_in, make_document

from pegboard.gate.admission import admit
from pegboard.gate.characters import first_forbidden
from pegboard.model.items import Form, Item, Rejection

GOOD = {
    Form.MANIFEST: ("release", example_in("manifest.md", "yaml")),
    Form.DIRECTIVE: ("deploy_staging", example_in("directives.md", "markdown")),
    Form.KNOWLEDGE: ("retry-with-backoff", example_in("knowledge.md", "markdown")),
    Form.SKILL: ("release-notes", example_in("skills.md", "markdown")),
}
CONFIGS = [
    {"tool_type": "bash", "executor_config": {"entrypoint": "run.sh"}},
    {"tool_type": "api", "executor_config": {"url": "https://example.com/{id}"}},
    {"tool_type": "docker", "executor_config": {"image": "alpine", "command": ["ls"]}},
    {"tool_type": "mcp", "executor_config": {"mcp_server": "a", "mcp_tool": "b"}},
    {"input_schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}},
    {"tool_type": "python", "tool_id": "release"},
]
KEYS = (
    *("tool_id", "name", "id", "title", "type", "tags", "links", "permissions", "category"),
    *("version", "description", "executor_config", "parameters", "input_schema", "metadata"),
    *("allowed-tools", "relationships", "$ref", "properties", "entrypoint", "<<", ""),
)
VALUES = (
    *(None, True, 0, -1, 1.5, 10**300, "", " ", "a", "../../etc/passwd", "/etc/passwd", "a\\b"),
    *("read filesystem ../x", "1.0.0", "1", "\u202e", "\0", "\ufeff", "x" * 5000, "#/$defs/b"),
    *([], {}, ["a"], [[]], {"a": {}}, [None], ["x"] * 300, {"to": "a", "type": "b"}, "[[a]]"),
    *({"type": "object", "properties": {"a": {"type": "int"}}}, {"$ref": "#"}, ["a", "a"]),
    *("connect network https://a", "connect network http\u017f://a", "execute shell a", "a\n"),
)
TOKENS = (
    *("---\n", "...\n", "&a ", "*a", "!!python/object:os.system ", "{", "}", "[", "]", "- ", ": "),
    *("'", '"', "|\n  ", ">\n", "<<: *a\n", "? ", "%YAML 1.1\n", "\t", "\r", "\r\n", "#", "~"),
    *(
        "<",
        ">",
        "</",
        "/>",
        "&lol;",
        "&#x202e;",
        "&#0;",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<?x?>",
    ),
    *("<!DOCTYPE x [", '<!ENTITY a "b">', "<directive>", "</directive>", "<step name='a'>"),
    *(
        "<mcp>a</mcp>",
        "<tool/>",
        "<tool>a</tool>",
        "<input name='a' type='b'/>",
        "<permissions>",
        "<read resource='filesystem' path='..'/>",
    ),
    *("```", "~~~", "```xml\n", "[[", "]]", "`a:b:c`", "\\", "\0", "\ud800", "\u200b", "\ufeff"),
    *("é", "日本", "\U000e0041", "0x" + "f" * 50, "1" * 450, "((((", "a(", "= ", "\u2028", "\x85"),
)


LONGEST_SECONDS = 2.0
"""Of processor time, for one document."""
MOST_GROWTH = 200
"""Megabytes that the process may have more at its largest than at its beginning."""


class Slow(NamedTuple):
    seconds: float
    form: str
    size: int


class Tally(NamedTuple):
    items: Counter
    rejections: Counter
    slowest: Slow
    largest: int


def run(count, seed=0):
    """Raises if anything but a sound item or a rejection comes out."""
    chance = random.Random(seed)
    items, rejections = Counter(), Counter()
    slowest, largest = Slow(0.0, "", 0), 0
    for _ in range(count):
        form = chance.choice(list(GOOD))
        candidate = make_candidate(chance, form)
        began = time.thread_time()
        verdict = admit(candidate)
        took = Slow(time.thread_time() - began, form.value, len(candidate.document))
        assert took.seconds < LONGEST_SECONDS, form
        slowest, largest = max(slowest, took), max(largest, took.size)
        if isinstance(verdict, Item):
            check(verdict, candidate)
            items[form.value] += 1
        else:
            assert isinstance(verdict, Rejection)
            assert verdict.code.isidentifier()
            assert verdict.reason
            assert not first_forbidden(verdict.reason)
            rejections[verdict.code] += 1
    return Tally(items, rejections, slowest, largest)


def check(item, candidate):
    version = item.version
    assert version is not None
    assert version.manifest_text.encode() == candidate.document
    for text in texts_in((item._replace(version=None), version.manifest)):
        assert not first_forbidden(text)
    assert item.name.strip()
    assert item.id.startswith(candidate.fields["id"].rpartition(":")[0])
    path = item.executor.get("entrypoint")
    assert path is None or path in {file.path for file in candidate.files}
    for permission in item.permissions:
        assert ".." not in permission.scope.split("/")


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from texts_in([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)


def make_candidate(chance, form):
    name, good = GOOD[form]
    kind = chance.random()
    if kind < 0.4:
        text = restructured(chance, form, good)
    elif kind < 0.9:
        text = retyped(chance, good)
    else:
        text = noise(chance)
    files = ["main.py", "run.sh"] if form is Form.MANIFEST else []
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return make_document(form, content, name, files=files)


def restructured(chance, form, good):
    """Other values at the places of a good document."""
    if form is Form.DIRECTIVE:
        return with_elements(chance, good)
    front, around = (good, "{}") if form is Form.MANIFEST else front_of(good)
    said = yaml.safe_load(front)
    if form is Form.MANIFEST and chance.random() < 0.5:
        said |= json.loads(json.dumps(chance.choice(CONFIGS)))
    for _ in range(chance.randint(0, 3)):
        change(chance, said)
    if chance.random() < 0.5:
        written = json.dumps(said)
    else:
        written = yaml.safe_dump(said, default_flow_style=chance.choice([None, True, False]))
    return around.replace("{}", written, 1)


def front_of(good):
    _, front, body = good.split("---\n", 2)
    return front, "---\n{}\n---\n" + body


def change(chance, said):
    """Goes down at random, and puts, takes or renames something there."""
    at = said
    while isinstance(at, dict | list) and at and chance.random() < 0.6:
        below = chance.choice(list(at.values()) if isinstance(at, dict) else at)
        if not isinstance(below, dict | list):
            break
        at = below
    value = json.loads(json.dumps(chance.choice(VALUES)))
    if isinstance(at, list):
        at.insert(chance.randint(0, len(at)), value)
        return
    action = chance.random()
    key = chance.choice([*at] if at and chance.random() < 0.7 else KEYS)
    if action < 0.5:
        at[key] = value
    elif action < 0.75:
        at.pop(key, None)
    else:
        at[chance.choice(KEYS)] = at.pop(key, value)


def with_elements(chance, good):
    tags = ("step", "input", "tool", "permissions", "metadata", "read", "a", "xi:include")
    for _ in range(chance.randint(1, 4)):
        tag, value = chance.choice(tags), str(chance.choice(VALUES))[:200]
        name = chance.choice(("name", "type", "tool", "default", "resource", "path", "required"))
        escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&apos;")
        inner = chance.choice((escaped, "<b/>" * chance.randint(0, 30), "<b>" * 3 + "</b>" * 3))
        element = f"<{tag} {name}='{escaped}'>{inner}</{tag}>"
        places = [at for at, character in enumerate(good) if character == "\n"]
        at = chance.choice(places)
        good = f"{good[:at]}\n{element}{good[at:]}"
    return good


def retyped(chance, text):
    """A good document with slips of the pen, or with what somebody put there on purpose."""
    for _ in range(chance.randint(1, 6)):
        a, b = sorted(chance.randint(0, len(text)) for _ in range(2))
        b = min(b, a + chance.choice((1, 5, 40, 400)))
        match chance.randint(0, 5):
            case 0:
                text = text[:a] + text[b:]
            case 1 | 2:
                text = text[:a] + chance.choice(TOKENS) + text[a:]
            case 3:
                text = text[:b] + text[a:b] * chance.choice((1, 2, 50)) + text[b:]
            case 4:
                text = text[:a] + chance.choice(TOKENS) * chance.choice((3, 100, 3000)) + text[a:]
            case 5:
                lines = text.split("\n")
                chance.shuffle(lines)
                text = "\n".join(lines) if chance.random() < 0.2 else text.replace("\n", "\r\n")
        text = text[:100_000]
    return text


def noise(chance):
    size = chance.choice((0, 1, 20, 500, 5000))
    if chance.random() < 0.3:
        return chance.randbytes(size)
    if chance.random() < 0.5:
        return "".join(chance.choice(TOKENS) for _ in range(size))
    highest = chance.choice((127, 0xFFFF, 0x10FFFF))
    return "".join(chr(chance.randint(0, highest)) for _ in range(size))


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    run(200, seed)  # everything is loaded, so that the growth counted is that of the work
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    tally = run(count, seed)
    took = time.process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < MOST_GROWTH * 1024
    lines = [
        f"{count:,} documents in {took:.1f} s of processor time",
        f"{tally.items.total():,} items: {dict(tally.items)}",
        f"{tally.rejections.total():,} rejections: {dict(tally.rejections.most_common())}",
        f"slowest: {tally.slowest.seconds * 1000:.1f} ms, a {tally.slowest.form}"
        f" of {tally.slowest.size:,} bytes; largest: {tally.largest:,} bytes",
        f"memory: {before / 1024:.0f} MB before, at most {after / 1024:.0f} MB",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
