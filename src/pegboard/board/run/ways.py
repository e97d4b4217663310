"""How tools are run here, as whoever puts a board together decides it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pegboard.execute.grants import Ground
from pegboard.execute.job import Executor, Limits
from pegboard.execute.policy import Rules
from pegboard.execute.secrets import LookUp
from pegboard.model.content import Json
from pegboard.model.items import Entry, Item, ToolType


class Checking(NamedTuple):
    """How arguments and answers are held against schemas; handed in, since that loads long."""

    complaints: Callable[[Json, Json], str]
    """What is wrong, for whoever called to put right; empty if nothing is."""
    filled: Callable[[Json, Json], dict[str, object]]
    """The arguments, with the defaults of those that were not given."""


@dataclass(frozen=True, slots=True)
class Ways:
    """How tools are run here."""

    executors: Mapping[ToolType, Callable[[], Executor]]
    """Each is made when it is first needed: some take long to load."""
    rules: Rules
    limits: Limits
    ground: Ground
    look_up: LookUp
    """Where secrets are."""
    api_secrets: Callable[[Item], list[str]]
    """Names of the secrets with which a service is asked."""
    is_signed: Callable[[Entry], bool]
    """Whether its signature is good, now and to whoever runs this."""
    disowned: Callable[[Entry], str] = lambda entry: ""
    """Why a published item is run no more, whatever anybody says: its key was revoked."""
    parallel: int = 8
    lent: frozenset[str] = frozenset()
    """Secrets and variables that tools may have which others than the owner put on the board."""
