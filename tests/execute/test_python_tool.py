import asyncio
import json
import warnings

import pytest
from python_parts import Python, python_file, python_item, text

from pegboard.execute.job import Limits
from pegboard.execute.process.sandbox import find_bubblewrap
from pegboard.execute.python.bundle import MOST_COMPILED
from pegboard.model.calls import Confined, Outcome

WALK = """
    def run(city: str, days: int = 3, stops: list[str] | None = None) -> dict:
        print("planning", city)
        return {"city": city, "days": days, "stops": stops}
"""


@pytest.fixture
def python(tmp_path):
    made = Python(tmp_path / "cache")
    yield made
    made.processes.close()


def test_run_is_called_with_the_arguments_and_prints_are_logs(python):
    result = python.run(python_item(WALK), city="Zürich", stops=["lake", "Ü"])
    assert result.outcome is Outcome.OK, result
    assert result.structured == {"city": "Zürich", "days": 3, "stops": ["lake", "Ü"]}
    assert json.loads(text(result)) == result.structured
    assert result.logs == "planning Zürich"
    assert not result.error


def test_a_call_says_what_held_it(python):
    result = python.run(python_item(WALK), city="Ulm")
    there = bool(find_bubblewrap(python.environ["PATH"]).path)
    assert result.sandbox is (Confined.BUBBLEWRAP if there else Confined.NOTHING)
    result = python.run_open(python_item(WALK), city="Ulm")
    assert (result.outcome, result.sandbox) == (Outcome.OK, Confined.NOTHING)


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("[1, 'two', None]", [1, "two", None]),
        ("(1, 2)", [1, 2]),
        ("True", True),
        ("2 ** 70", 2**70),
        ("1.5", 1.5),
        ("None", None),
        ("[float('nan'), float('inf'), -float('inf')]", [None, None, None]),
        ("{1: 'a', None: 'b', 2.5: 'c', True: 'd'}", {"1": "d", "null": "b", "2.5": "c"}),
        ("{'b', 'a', 'c'}", ["a", "b", "c"]),
        ("frozenset()", []),
        ("b'\\x00\\xff'", "AP8="),
        ("range(3)", [0, 1, 2]),
        ("{'a': 1}.items()", [["a", 1]]),
        ("'lone \\ud800 one'", "lone \ufffd one"),
        ("'😀'", "😀"),
    ],
)
def test_a_value_is_returned_as_json_has_it(python, returned, expected):
    assert python.value(f"def run():\n    return {returned}") == expected


def test_a_text_is_the_text_and_anything_else_is_its_json(python):
    result = python.run(python_item("def run():\n    return 'two\\nlines'"))
    assert (text(result), result.structured) == ("two\nlines", {"result": "two\nlines"})
    result = python.run(python_item("def run():\n    return [1, 'Ü']"))
    assert (text(result), result.structured) == ('[1, "Ü"]', {"result": [1, "Ü"]})


RICH = """
    from collections import OrderedDict, deque
    from dataclasses import dataclass, field
    from datetime import date, datetime, time, timedelta, timezone
    from decimal import Decimal
    from enum import Enum, IntEnum, StrEnum
    from pathlib import Path
    from types import MappingProxyType
    from typing import ClassVar, NamedTuple
    from uuid import UUID

    class Colour(Enum):
        RED = ("r", 1)

    class Level(IntEnum):
        HIGH = 3

    class Word(StrEnum):
        YES = "yes"

    class Point(NamedTuple):
        x: int
        y: int

    @dataclass
    class Leg:
        kind: ClassVar[str] = "leg"
        start: Point
        when: date
        inner: "list[Leg]" = field(default_factory=list)

    class Model:
        def model_dump(self, mode):
            return {"mode": mode, "nan": float("nan")}

    class Array:
        def tolist(self):
            return [[1, 2], [3, 4]]

    class Text(str):
        pass

    def run():
        return {
            "colour": Colour.RED, "level": Level.HIGH, Word.YES: Word.YES,
            "leg": Leg(Point(1, 2), date(2026, 1, 2), [Leg(Point(3, 4), date(2026, 1, 3))]),
            "moment": datetime(2026, 1, 2, 3, 4, tzinfo=timezone.utc), "time": time(3, 4),
            "long": timedelta(hours=1, milliseconds=500), "back": -timedelta(seconds=2),
            "cost": Decimal("1.10"), "path": Path("/a/b"),
            "id": UUID(int=1), "model": Model(), "array": Array(), "text": Text("t"),
            "ordered": OrderedDict(a=1), "deque": deque([1]), "proxy": MappingProxyType({"b": 2}),
            date(2026, 1, 2): "a day",
        }
"""


def test_values_that_json_does_not_have_are_returned_sensibly(python):
    assert python.value(RICH) == {
        "colour": ["r", 1],
        "level": 3,
        "yes": "yes",
        "leg": {
            "start": {"x": 1, "y": 2},
            "when": "2026-01-02",
            "inner": [{"start": {"x": 3, "y": 4}, "when": "2026-01-03", "inner": []}],
        },
        "moment": "2026-01-02T03:04:00+00:00",
        "time": "03:04:00",
        "long": "PT3600.5S",
        "back": "-PT2S",
        "cost": "1.10",
        "path": "/a/b",
        "id": "00000000-0000-0000-0000-000000000001",
        "model": {"mode": "json", "nan": None},
        "array": [[1, 2], [3, 4]],
        "text": "t",
        "ordered": {"a": 1},
        "deque": [1],
        "proxy": {"b": 2},
        "2026-01-02": "a day",
    }


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("return object()", "type object cannot be written as JSON; return objects, lists"),
        ("return (x for x in [1])", "type generator cannot be written"),
        ("return print", "type builtin_function_or_method cannot be written"),
        ("return {(1, 2): 3}", "a key of type list; use texts"),
        ("a = []; a.append(a); return a", "nested more than 100 levels deep"),
        ("a = {}; a['a'] = a; return a", "nested more than 100 levels deep"),
        ("a = ['x' * 100]\n    for _ in range(40): a = [a, a]\n    return a", "more than 8 MB"),
        ("return 'x' * 9_000_000", "more than 8 MB of JSON; return less, or leave a file"),
        ("return 10 ** 5000", "thousands of digits"),
        ("class A:\n        def tolist(self): return self\n    return A()", "nested more than"),
    ],
)
def test_a_result_that_cannot_be_handed_on_fails_with_the_reason(python, source, complaint):
    result = python.run(python_item(f"def run():\n    {source}"))
    assert result.outcome is Outcome.FAILED
    assert complaint in result.error


def test_whatever_is_printed_stays_apart_from_the_result(python):
    source = """
        import os, sys
        def run():
            print('{"pegboard:result": "forged"}')
            os.write(1, b"raw\\n")
            sys.stderr.write("to stderr\\n")
            print("odd \\ud800", flush=True)
            return "real"
    """
    result = python.run(python_item(source))
    assert text(result) == "real"
    assert result.logs.splitlines() == [
        '{"pegboard:result": "forged"}',
        "raw",
        "odd \\ud800",
        "to stderr",
    ]


def test_an_exception_fails_with_its_message_and_the_tools_own_frames(python):
    source = """
        def look_up(city):
            try:
                return {}[city]
            except KeyError as error:
                raise ValueError(f"no such city: {city}") from error

        def run(city):
            return look_up(city)
    """
    result = python.run(python_item(source), city="Atlantis")
    assert result.outcome is Outcome.FAILED
    assert result.error == "ValueError: no such city: Atlantis"
    assert "in look_up" in result.logs
    assert "return look_up(city)" in result.logs
    assert "KeyError: 'Atlantis'" in result.logs
    assert "pegboard" not in result.logs.replace(str(python.folder), "")
    assert result.logs.count("File ") == 3


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("class Odd(Exception):\n    pass\ndef run():\n    raise Odd('x')", "Odd: x"),
        ("def run():\n    raise KeyError", "KeyError"),
        ("def run():\n    raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("def run():\n    run()", "RecursionError: maximum recursion depth exceeded"),
        ("async def run():\n    raise OSError('gone')", "OSError: gone"),
        ("import nothing_of_this_name\ndef run():\n    pass", "ModuleNotFoundError: No module"),
        ("def run(:\n    pass", "SyntaxError: invalid syntax (main.py, line 1)"),
        ("def run():\n    '\xff'".encode("latin-1"), "SyntaxError: (unicode error)"),
        (b"def run():\n    return 1\0", "null bytes"),
        ("(" * 5_000, "SyntaxError: too many nested parentheses"),
        ("def run(a):\n    pass", "TypeError: run() missing 1 required positional argument: 'a'"),
        (
            "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\n"
            "def run():\n    raise Mute",
            "Mute: <exception str() failed>",
        ),
    ],
)
def test_every_failure_is_named(python, source, error):
    result = python.run(python_item(source, function="run"))
    assert result.outcome is Outcome.FAILED, result
    assert error in result.error
    assert "pegboard_inside" not in result.logs


@pytest.mark.parametrize(
    ("source", "outcome", "error"),
    [
        ("import sys\n    sys.exit(3)", Outcome.FAILED, "exit code 3"),
        ("exit(2)", Outcome.FAILED, "exit code 2"),
        ("import sys\n    sys.exit('no such city')", Outcome.FAILED, "no such city"),
        ("import os\n    os._exit(7)", Outcome.FAILED, "exit code 7"),
        ("quit()", Outcome.OK, ""),
    ],
)
def test_a_tool_that_ends_itself_ends_as_it_says(python, source, outcome, error):
    result = python.run(python_item(f"def run():\n    {source}"))
    assert result.outcome is outcome
    assert error in result.error


def test_an_async_function_is_awaited(python):
    source = """
        import asyncio
        async def run(city):
            await asyncio.sleep(0)
            return [city]
    """
    assert python.value(source, city="Ulm") == ["Ulm"]


DECLARED = """
    from __future__ import annotations
    from dataclasses import dataclass
    from datetime import date, datetime
    from decimal import Decimal
    from enum import Enum
    from pathlib import Path
    from typing import Annotated, Literal, Optional
    from uuid import UUID

    class Mode(Enum):
        FOOT = "foot"

    @dataclass
    class Point:
        x: int
        mode: Mode

    class Model:
        @classmethod
        def model_validate(cls, value):
            if "bad" in value:
                raise ValueError("bad is not allowed")
            made = cls()
            made.value = value
            return made

    def run(point: Point, points: list[Point], model: Model, day: date, moment: datetime | None,
            cost: Decimal, path: Path, mode: Mode, named: dict[str, Point], either: Point | str,
            other: Point | str, pair: tuple[Mode, int], all: set[str], plain: Annotated[str, 1],
            word: Literal["a"], key: Optional[UUID] = None, free=None, *, unknown: Missing = 1):
        assert point == Point(1, Mode.FOOT), point
        assert points == [point, point], points
        assert model.value == {"a": 1}
        assert (day, moment) == (date(2026, 1, 2), datetime(2026, 1, 2, 3, 4))
        assert (cost, path, mode) == (Decimal("1.1"), Path("/a"), Mode.FOOT)
        assert named == {"a": point} and either == point and other == "text"
        assert (pair, all, plain, word) == ((Mode.FOOT, 2), {"x"}, "p", "a")
        assert key == UUID(int=1) and free == {"x": 1}, (key, free)
        return "fits"
"""


def test_arguments_become_what_the_function_declares(python):
    point = {"x": 1, "mode": "foot"}
    arguments = {
        "point": point,
        "points": [point, point],
        "model": {"a": 1},
        "day": "2026-01-02",
        "moment": "2026-01-02T03:04:00",
        "cost": 1.1,
        "path": "/a",
        "mode": "foot",
        "named": {"a": point},
        "either": point,
        "other": "text",
        "pair": ["foot", 2],
        "all": ["x", "x"],
        "plain": "p",
        "word": "a",
        "key": "00000000-0000-0000-0000-000000000001",
        "free": {"x": 1},
    }
    understood = DECLARED.replace("Missing", "int")
    assert python.value(understood, **arguments) == "fits"


def test_a_declaration_that_cannot_be_understood_changes_nothing(python):
    source = """
        from __future__ import annotations
        def run(day: Missing, more: date):
            return [day, more]
    """
    assert python.value(source, day="2026-01-02", more="x") == ["2026-01-02", "x"]


@pytest.mark.parametrize(
    ("annotation", "value", "complaint"),
    [
        ("Model", {"bad": 1}, "ValueError: bad is not allowed"),
        ("Point", {"y": 1}, "unexpected keyword argument 'y'"),
        ("date", "soon", "Invalid isoformat string"),
        ("Mode", "plane", "'plane' is not a valid Mode"),
        ("Decimal", "much", "InvalidOperation"),
    ],
)
def test_arguments_that_a_declared_type_refuses_are_invalid(python, annotation, value, complaint):
    declared = DECLARED.partition("    def run(")[0]
    result = python.run(
        python_item(f"{declared}    def run(what: {annotation}):\n        return 1"), what=value
    )
    assert result.outcome is Outcome.INVALID_ARGUMENTS, result
    assert complaint in result.error


def test_parameters_that_cannot_be_named_are_given_in_order(python):
    assert python.value("def run(a, b, /, c):\n    return [a, b, c]", c=3, b=2, a=1) == [1, 2, 3]


def test_only_a_function_that_is_named_or_called_run_is_called(python):
    both = "def run():\n    return 'run'\ndef run_parsed():\n    return 'parsed'"
    assert text(python.run(python_item(both))) == "run"
    assert text(python.run(python_item(both, function="run_parsed"))) == "parsed"
    only = "def run_parsed():\n    return 'parsed'\nprint('as a script')"
    assert text(python.run(python_item(only))) == "as a script\n"
    inner = "class A:\n    def run(self):\n        pass\nclass run:\n    pass\nprint(__name__)"
    assert text(python.run(python_item(inner))) == "__main__\n"
    guarded = (
        "def run():\n    return __name__ == '__main__'\nif __name__ == '__main__':\n    exit(1)"
    )
    assert python.value(guarded) is False


@pytest.mark.parametrize("source", ["x = 1", "go = 1"])
def test_a_function_that_is_not_there_is_named(python, source):
    result = python.run(python_item(source, function="go"))
    assert result.outcome is Outcome.FAILED
    assert result.error == "the file has no function 'go'; define it, or name another"


SCRIPT = """
    import json, os, sys
    with open(os.environ["PEGBOARD_ARGUMENTS"]) as file:
        given = json.load(file)
    print(json.dumps({"argv": sys.argv[1:], "given": given}))
    print("a remark", file=sys.stderr)
"""


def test_a_script_gets_its_arguments_and_its_output_is_its_result(python):
    result = python.run(python_item(SCRIPT), arguments=["--city", "Ulm; $(rm -rf /)"])
    assert result.outcome is Outcome.OK, result
    words = ["--city", "Ulm; $(rm -rf /)"]
    assert result.structured == {"argv": words, "given": {"arguments": words}}
    assert json.loads(text(result)) == result.structured
    assert result.logs == "a remark\n"


@pytest.mark.parametrize("said", ["[1]", "{1}", "{" * 5, "done", '{"a": NaN}', ""])
def test_output_that_is_no_json_object_is_only_text(python, said):
    result = python.run(python_item(f"print({said!r}, end='')"))
    assert (result.outcome, text(result), result.structured) == (Outcome.OK, said, None)


def test_output_that_is_to_fit_a_schema_is_read_as_json(python):
    declared = python_item("print([1, 2])")._replace(output_schema={"type": "array"})
    assert python.run(declared).structured == {"result": [1, 2]}
    too_long = python_item("print('x' * 100_000)")._replace(output_schema={"type": "object"})
    result = python.run(too_long)
    assert result.outcome is Outcome.FAILED
    assert "more than the 64,000 bytes that are kept" in result.error


def test_a_script_that_fails_says_how(python):
    result = python.run(python_item("print('so far')\nraise ValueError('no')"))
    assert (result.outcome, result.error) == (Outcome.FAILED, "ValueError: no")
    assert result.logs.startswith("so far\nTraceback")
    result = python.run(python_item("import sys\nsys.exit('usage: walk CITY')"))
    assert (result.outcome, result.error) == (
        Outcome.FAILED,
        "it ended with exit code 1: usage: walk CITY",
    )


def test_a_script_may_write_its_answer_itself(python):
    write = """
        import os
        print("on the way")
        with open(os.environ["PEGBOARD_ANSWER"], "w") as file:
            file.write({!r})
    """
    result = python.run(python_item(write.format('{"error": "its own word"}')))
    assert (result.outcome, result.logs) == (Outcome.OK, "on the way")
    assert result.structured == {"error": "its own word"}
    for wrong in ("nonsense", "[" * 100_000, '{"a": Infinity}'):
        result = python.run(python_item(write.format(wrong)))
        assert result.outcome is Outcome.FAILED
        assert "$PEGBOARD_ANSWER names is no JSON" in result.error


def test_other_files_of_the_tool_can_be_imported_and_read(python):
    source = """
        from lib import part
        import beside
        from pathlib import Path
        def run():
            return [part.WORD, beside.WORD, (Path(__file__).parent / "data.txt").read_text()]
    """
    others = (
        python_file("lib/__init__.py", ""),
        python_file("lib/part.py", "WORD = 'part'"),
        python_file("beside.py", "WORD = 'beside'"),
        python_file("data.txt", "data"),
    )
    assert python.value(source, *others) == ["part", "beside", "data"]


def test_a_tool_in_one_file_may_be_named_like_a_module_that_it_needs(python):
    item = python_item("", function="run", entrypoint="calendar.py")
    source = "import calendar, datetime\ndef run():\n    return calendar.isleap(2024)"
    files = (python_file("calendar.py", source),)
    item = item._replace(version=item.version._replace(files=files))
    result = python.run(item)
    assert result.structured == {"result": True}, result


def test_a_tool_sees_the_standard_library_and_none_of_our_packages(python):
    source = """
        import sys
        def run():
            found = []
            for name in ("pegboard", "pytest", "click", "site_packages", "pip"):
                try:
                    __import__(name)
                except ImportError:
                    continue
                found.append(name)
            return [found, [each for each in sys.path if "site-packages" in each], sys.argv[1:]]
    """
    assert python.value(source) == [[], [], []]
    assert python.run_open(python_item(source)).structured == {"result": [[], [], []]}


def test_workers_that_begin_anew_find_the_tools_functions(python):
    source = """
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context
        def double(x):
            return 2 * x
        def run():
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                return list(pool.map(double, [1, 2]))
    """
    assert python.value(source) == [2, 4]


def test_what_is_left_to_do_at_the_end_is_done(python):
    source = """
        import os
        kept = open("left_open.txt", "w")
        def run(how):
            kept.write("all of it")
            if how == "thread":
                import threading
                gate = threading.Event()
                def late():
                    gate.wait()
                    open("late.txt", "w").write("late")
                threading.Thread(target=late).start()
                import atexit
                atexit.register(print, "at the end")
                gate.set()
            return 1
    """
    result = python.run(python_item(source), how="thread")
    assert result.logs == "at the end"
    kept = {each.name: each.content for each in result.artifacts}
    assert kept == {"left_open.txt": b"all of it", "late.txt": b"late"}
    result = python.run(python_item(source), how="")
    assert [each.content for each in result.artifacts] == [b"all of it"]


@pytest.mark.parametrize(
    ("source", "logs"),
    [
        ("print('no end of line', end='')", "no end of line"),
        ("print('kept', end=''); sys.stdout = None; sys.stderr = None", "kept"),
        ("print('kept', end=''); sys.stdout = io.StringIO(); print('not shown')", "kept"),
        ("print('kept'); sys.stdout.close()", "kept"),
    ],
)
def test_a_result_counts_whatever_the_tool_does_to_its_outputs(python, source, logs):
    result = python.run(python_item(f"import io, sys\ndef run():\n    {source}\n    return 1"))
    assert (result.outcome, result.structured) == (Outcome.OK, {"result": 1}), result
    assert result.logs == logs


def test_what_the_manifest_names_is_in_the_environment_and_nothing_else(tmp_path):
    python = Python(tmp_path, TOKEN="s3cret-token", OTHER="not to be seen", PYTHONPATH="/nowhere")
    source = "import os\ndef run():\n    print(os.environ['KEY'])\n    return sorted(os.environ)"
    item = python_item(source, env={"KEY": "Bearer secret://TOKEN", "PLAIN": "1"})
    result = python.run(item)
    names = result.structured["result"]
    assert {"KEY", "PLAIN", "PEGBOARD_ANSWER"} <= set(names)
    assert not {"OTHER", "TOKEN", "PYTHONPATH"} & set(names)
    assert result.logs == "Bearer ***"
    item = python_item("", env={"KEY": "secret://NOWHERE"})
    result = python.run(item)
    assert result.outcome is Outcome.UNAVAILABLE
    assert "there is no secret NOWHERE" in result.error
    python.processes.close()


def test_a_secret_in_a_long_error_is_hidden_before_it_is_cut(tmp_path):
    python = Python(tmp_path, TOKEN="s3cret-token")
    source = (
        "import os\ndef run():\n    raise ValueError('x' * 3_981 + os.environ['KEY'] + 'y' * 99)"
    )
    result = python.run(python_item(source, env={"KEY": "${TOKEN}"}))
    assert result.error.startswith("ValueError: xxx")
    assert "s3c" not in result.error
    assert len(result.error) < 4_100
    python.processes.close()


@pytest.mark.parametrize(
    ("executor", "complaint"),
    [
        ({"entrypoint": "other.py"}, "has no file 'other.py'"),
        ({"entrypoint": "../../etc/passwd"}, "has no file '../../etc/passwd'"),
        ({"requires_python": "<3.0"}, "it needs Python <3.0, and Pegboard runs on 3."),
        ({"requires_python": "new"}, "'new', which is no range of versions"),
        ({"dependencies": ["https://example.org/x.whl"]}, "is not allowed for tools"),
        ({"dependencies": "httpx"}, "its dependencies are no list of texts"),
    ],
)
def test_a_tool_that_cannot_be_run_here_says_why(python, executor, complaint):
    result = python.run(python_item(WALK, **executor), city="Ulm")
    assert result.outcome is Outcome.UNAVAILABLE
    assert complaint in result.error
    assert "\n" in result.error, "what to do is said, too"


def test_a_tool_that_overwrites_its_own_files_runs_unchanged_the_next_time(python):
    source = """
        import os
        from pathlib import Path
        def run():
            folder = Path(__file__).parent
            os.chmod(folder, 0o755)
            os.chmod(__file__, 0o644)
            Path(__file__).write_text("def run():\\n    return 'overwritten'")
            (folder / "os.py").write_text("raise SystemError")
            return "the first"
    """
    for _ in range(2):
        result = python.run_open(python_item(source))
        assert text(result) == "the first"
    [folder] = [each.parent for each in python.folder.glob("files/*/main.py")]
    assert python.run(python_item(source)).outcome in (Outcome.FAILED, Outcome.OK)
    assert sorted(each.name for each in folder.iterdir()) == ["main.py"]


def test_a_file_too_long_to_be_compiled_here_is_compiled_there(python):
    source = f"def run():\n    return 'long'\n# {'x' * MOST_COMPILED}\n"
    assert python.value(source) == "long"


def test_warnings_about_a_tools_source_are_not_ours(python):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert python.value("def run():\n    return 1 is 1, '\\d'") == [True, "\\d"]


def test_many_calls_at_once_are_not_mixed_up(python):
    item = python_item("def run(n):\n    print(n)\n    return {'n': n}")

    async def all_at_once():
        jobs = [python.job(item, {"n": n}, limits=Limits(seconds=100)) for n in range(30)]
        return await asyncio.gather(*(python.executor.run(job) for job in jobs))

    results = asyncio.run(all_at_once())
    assert [each.structured for each in results] == [{"n": n} for n in range(30)]
    assert [each.logs for each in results] == [str(n) for n in range(30)]


def test_a_file_without_run_that_says_nothing_is_told_what_it_lacks(python):
    silent = python.run(python_item("def main(city): return city"), city="Ulm")
    assert (silent.outcome, text(silent)) == (Outcome.OK, "")
    assert "it has no function run" in silent.logs
    assert not python.run(python_item("print('here I am')")).logs
