import inspect
import re

import pytest

from pegboard import errors
from pegboard.errors import (
    EXIT_CODES,
    BoardBusy,
    BoardError,
    BoardMissing,
    ConfigError,
    InvariantBroken,
    ItemAmbiguous,
    ItemNotFound,
    KeyUnusable,
    ModelUnavailable,
    NotTrusted,
    PegboardError,
    SourceError,
    UsageError,
    exit_code,
)

CLASSES = [
    each
    for _, each in inspect.getmembers(errors, inspect.isclass)
    if issubclass(each, PegboardError) and each.__module__ == errors.__name__
]
_BRANCH = re.compile(r"^ {4}([│ ├└─]*)(\w+)( {2,}\S.*)?$", re.MULTILINE)


def drawn():
    """The tree in the module's docstring, as child and parent."""
    assert errors.__doc__
    path: list[str] = []
    found = {}
    for indent, name, _ in _BRANCH.findall(errors.__doc__):
        depth = len(indent) // 4
        del path[depth:]
        found[name] = path[-1] if path else "Exception"
        path.append(name)
    return found


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    assert drawn() == {each.__name__: each.__base__.__name__ for each in CLASSES}


def test_every_branch_of_the_tree_says_what_it_means():
    unexplained = [name for _, name, about in _BRANCH.findall(errors.__doc__) if not about]
    assert unexplained == ["PegboardError"]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_has_a_docstring_of_its_own_which_is_its_message(kind):
    assert "__doc__" in vars(kind)
    assert kind.__doc__.endswith(".")
    assert str(kind()) == kind().message == kind.__doc__
    assert "\n" not in kind.__doc__


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_has_an_exit_code_that_is_no_success(kind):
    assert exit_code(kind()) in range(2, 70)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (UsageError, 2),
        (ConfigError, 3),
        (KeyUnusable, 3),
        (BoardError, 4),
        (BoardMissing, 4),
        (BoardBusy, 4),
        (SourceError, 5),
        (ModelUnavailable, 6),
        (ItemNotFound, 7),
        (ItemAmbiguous, 8),
        (InvariantBroken, 9),
        (PegboardError, 10),
        (NotTrusted, 12),
    ],
)
def test_the_exit_code_is_that_of_the_nearest_class(kind, code):
    assert exit_code(kind()) == code


def test_an_error_of_tomorrow_gets_the_code_of_its_nearest_ancestor():
    class BoardOnFire(BoardBusy):
        """The board burns."""

    class SomethingElse(PegboardError):
        """Something else."""

    assert exit_code(BoardOnFire()) == 4
    assert exit_code(SomethingElse()) == 10


def test_no_two_classes_in_the_table_share_an_exit_code():
    assert len(set(EXIT_CODES.values())) == len(EXIT_CODES)
    taken = {0, errors.EXIT_NOTHING_FOUND, errors.EXIT_INTERRUPTED}
    assert not taken & set(EXIT_CODES.values())


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (PegboardError, "pegboard_error"),
        (BoardMissing, "board_missing"),
        (ItemNotFound, "item_not_found"),
        (UsageError, "usage_error"),
    ],
)
def test_the_code_is_the_name_in_the_style_of_programs(kind, code):
    assert kind().code == code


def test_the_codes_of_all_errors_differ():
    assert len({kind().code for kind in CLASSES}) == len(CLASSES)


def test_message_and_hint_stand_on_lines_of_their_own():
    error = BoardMissing("there is no board at /x", "make one")
    assert (error.message, error.hint) == ("there is no board at /x", "make one")
    assert str(error) == "there is no board at /x\n  make one"
    assert error.args == ("there is no board at /x",)


def test_without_a_hint_the_message_stands_alone():
    assert str(ItemNotFound("no item 'x'")) == "no item 'x'"


def test_one_root_catches_them_all():
    with pytest.raises(PegboardError):
        raise ModelUnavailable("gone")
