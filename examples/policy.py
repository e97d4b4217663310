"""What the agent thinks: rules in the place of a model, so that it needs no key.

`solve` is a conversation. It yields the call that it wants made of one of Pegboard's tools, is sent
the answer, and returns what it has to say in the end. Who makes the calls, and how, is none of its
business: `agent.py` makes them over MCP, `other_ways.py` with pydantic-ai and over plain HTTP.
"""

import json
import re
from collections.abc import Generator
from typing import Any, NamedTuple

SURE = 0.5
"""The least score at which a tool is tried. Pegboard's scores mean the same for every question."""


class Call(NamedTuple):
    tool: str
    arguments: dict[str, Any]


class Answer(NamedTuple):
    data: dict[str, Any]
    """The structured part; empty if the call failed."""
    error: str = ""


class Rule(NamedTuple):
    """Which tasks it understands, what to search for then, and what to make if nothing fits."""

    pattern: str
    wishes: tuple[str, ...]
    draft: dict[str, Any] | None = None


Thinking = Generator[Call, Answer, str]

ROMAN = {
    "manifest": {
        "tool_id": "read_roman_numeral",
        "tool_type": "python",
        "category": "text",
        "description": "Tell which number a Roman numeral such as MCMXCIV stands for.",
        "parameters": [
            {
                "name": "numeral",
                "type": "string",
                "description": "Roman numeral, in capital letters.",
                "required": True,
            }
        ],
    },
    "files": {
        "main.py": """\
WORTH = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def run(numeral: str) -> int:
    values = [WORTH[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(-a if a < b else a for a, b in zip(values, following))
"""
    },
    "try_with": {"numeral": "XIV"},
}

RULES = (
    Rule(
        r"How far is it from (?P<first_latitude>[\d.]+), (?P<first_longitude>[\d.]+) "
        r"to (?P<second_latitude>[\d.]+), (?P<second_longitude>[\d.]+) in (?P<unit>\w+)\?",
        ("distance between two coordinates",),
    ),
    Rule(r"Is (?P<account>.+) a valid IBAN\?", ("check a bank account number",)),
    Rule(
        r"What number is (?P<numeral>[IVXLCDM]+)\?",
        ("convert a Roman numeral", "turn XIV into 14"),
        ROMAN,
    ),
    Rule(r"Bake (?P<cake>.+)\.", ("bake a cake", "recipe for a cake")),
)


def solve(task: str) -> Thinking:
    rule, facts = understood(task)
    for wish in rule.wishes:
        found = yield Call("search_tools", {"query": wish})
        for hit in found.data["hits"]:
            if hit["score"] >= SURE:
                arguments = yield from filled(hit["id"], facts)
                if arguments is not None:
                    return (yield from called(hit["id"], arguments))
    if rule.draft is None:
        return "no tool fits, and I cannot make one"
    made = yield Call("create_tool", rule.draft)
    if made.error:
        return f"I could not make the tool: {made.error}"
    arguments = yield from filled(made.data["id"], facts)
    return (yield from called(made.data["id"], arguments or {}))


def understood(task: str) -> tuple[Rule, dict[str, str]]:
    for rule in RULES:
        if match := re.fullmatch(rule.pattern, task):
            return rule, match.groupdict()
    raise ValueError(f"no rule understands {task!r}")


def filled(tool: str, facts: dict[str, str]) -> Generator[Call, Answer, dict[str, Any] | None]:
    """Arguments from what is known; nothing if the tool needs more than that.

    A fact belongs to the parameter whose name and description have all words of the fact's name.
    """
    told = yield Call("describe_tool", {"name": tool})
    schema = told.data["tools"][0]["input_schema"]
    arguments = {}
    for name, part in schema["properties"].items():
        said = f"{name} {part.get('description', '')}".lower()
        for fact, value in facts.items():
            if all(word in said for word in fact.split("_")):
                arguments[name] = float(value) if part.get("type") == "number" else value
    return arguments if set(schema.get("required", ())) <= set(arguments) else None


def called(tool: str, arguments: dict[str, Any]) -> Thinking:
    answer = yield Call("call_tool", {"name": tool, "arguments": arguments})
    if answer.error and (mended := repaired(arguments, answer.error)) != arguments:
        answer = yield Call("call_tool", {"name": tool, "arguments": mended})
    if answer.error:
        return f"{tool} failed: {answer.error}"
    return json.dumps(answer.data.get("result", answer.data))


def repaired(arguments: dict[str, Any], error: str) -> dict[str, Any]:
    """Whatever must be one of a few values becomes the one that its own begins with.

    The error names each argument that does not fit, and below it the part of the schema.
    """
    mended = dict(arguments)
    for name, part in re.findall(r"- /(\w+): .*\n\s*it must fit: (.*)", error):
        for choice in json.loads(part).get("enum", ()):
            if str(arguments[name]).startswith(choice):
                mended[name] = choice
    return mended


TASKS = {
    "How far is it from 52.52, 13.40 to 48.86, 2.35 in miles?": "544.999",
    "Is DE89 3704 0044 0532 0130 00 a valid IBAN?": '{"valid": true, "country": "DE", '
    '"formatted": "DE89 3704 0044 0532 0130 00"}',
    "What number is MCMXCIV?": "1994",
    "What number is MMXXVI?": "2026",
    "Bake a banana bread.": "no tool fits, and I cannot make one",
}
"""Each with the answer that is right."""


def narrate(call: Call, answer: Answer) -> None:
    """One step, in one line."""
    given, data = call.arguments, answer.data
    match call.tool:
        case "search_tools":
            told = f"{given['query']}: {best(data['hits'])}"
        case "describe_tool":
            told = f"{given['name']}: {', '.join(data['tools'][0]['input_schema']['properties'])}"
        case "create_tool":
            told = answer.error or f"{data['state']} {data['id']}"
        case _:
            refused = re.findall(r"- /(.*)", answer.error) or [answer.error]
            told = ", ".join(f"{name}={value}" for name, value in given["arguments"].items())
            told += f"; refused: {'; '.join(refused)}" if answer.error else ""
    print(f"  {call.tool:13} {told}")


def best(hits: list[dict[str, Any]]) -> str:
    if not hits:
        return "no tool fits"
    told = f"{hits[0]['id']} {int(hits[0]['score'] * 10) / 10}"
    return told if hits[0]["score"] >= SURE else f"{told}, not sure enough"


def finish(task: str, answer: str) -> bool:
    """Whether it is the right answer, after telling it."""
    right = answer == TASKS[task]
    print(f"  {'answer' if right else 'WRONG':13} {answer}")
    return right
