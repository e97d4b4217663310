import inspect
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.sources.python.docstring import Docstring, clean, parse
from waiting import SLOWER

GOOGLE = """Send a letter.

    Args:
        to: Who receives it,
            and who reads it first.
        stamp (dict[str, int], optional): What is glued on (top right): a stamp.

            Two stamps are fine.
        *pages: The pages.
        **extras (Any): All the rest.

    Returns:
        The number of the letter,
        or nothing.

    Raises:
        PostError: The box is full.
    """


def test_google_sections_give_descriptions_and_result():
    assert parse(GOOGLE) == Docstring(
        {
            "to": "Who receives it, and who reads it first.",
            "stamp": "What is glued on (top right): a stamp. Two stamps are fine.",
            "pages": "The pages.",
            "extras": "All the rest.",
        },
        "The number of the letter, or nothing.",
    )


@pytest.mark.parametrize("heading", ["Args", "Arguments", "Parameters", "Params", "ARGS"])
def test_every_usual_heading_opens_the_parameters(heading):
    assert parse(f"Do.\n\n{heading}:\n  x: an x").parameters == {"x": "an x"}


def test_a_continuation_line_with_a_colon_is_no_new_parameter():
    found = parse("Do.\n\nArgs:\n    x: one of\n        fast: quick\n    y: other")
    assert found.parameters == {"x": "one of fast: quick", "y": "other"}


def test_the_section_ends_where_the_indent_ends():
    assert parse("Args:\n    x: an x\nNote: more\n    y: no parameter").parameters == {"x": "an x"}


def test_a_result_may_stand_on_the_line_of_its_heading():
    assert parse("Add.\n\nReturns: The sum.").returns == "The sum."


def test_rest_fields_give_descriptions_and_result():
    text = """Do.

    :param int count: how many
        there are
    :type count: int
    :param name: which
    :raises ValueError: never
    :returns: the thing
    """
    assert parse(text) == Docstring({"count": "how many there are", "name": "which"}, "the thing")


def test_numpy_sections_give_descriptions_and_result():
    text = """Do.

    Parameters
    ----------
    x, y : float
        Where it is.
    z
        How high,
        in metres.

    Returns
    -------
    out : int
        The distance.

    Notes
    -----
    w : no parameter
        at all
    """
    assert parse(text) == Docstring(
        {"x": "Where it is.", "y": "Where it is.", "z": "How high, in metres."}, "The distance."
    )


def test_the_first_description_of_a_name_stands():
    assert parse("Args:\n  x: first\n  x: second").parameters == {"x": "first"}


def test_a_text_without_sections_describes_nothing():
    assert parse("Just a sentence: with a colon.") == Docstring()
    assert parse("") == Docstring()


@given(st.text())
def test_any_text_can_be_parsed(text):
    found = parse(text)
    assert all(name and description is not None for name, description in found.parameters.items())


LINES = st.sampled_from(
    [
        "Args:",
        "  x: y",
        "    more",
        "",
        "Returns:",
        "Parameters",
        "---",
        "x : int",
        ":param a: b",
        "(",
    ]
)


@given(st.lists(LINES))
def test_any_mixture_of_styles_can_be_parsed(lines):
    names = set(parse("\n".join(lines)).parameters)
    assert names <= {"x", "a", "Args", "Returns", "Parameters", "more"}


@given(st.lists(st.sampled_from(["", "  ", "\t", "a", "  b", "    c "])))
def test_cleaning_is_what_the_standard_library_does_apart_from_leading_blanks(lines):
    text = "\n".join(lines)
    assert clean(text).lstrip() == inspect.cleandoc(text).lstrip()


@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        "\n  ",
        "Args:\n",
        "Args:\n  a(((:\n",
        ":param a:\n",
        ":param ",
        "a,",
        "(",
        "\t",
        "a\n---\n",
    ],
)
def test_a_hostile_mebibyte_takes_linear_time(piece, share):
    hostile = piece * int(share * (1 << 20) / len(piece))
    began = time.process_time()
    parse("Do.\n\nArgs:\n  " + hostile)
    parse(hostile + "x")
    assert time.process_time() - began < 10 * SLOWER
