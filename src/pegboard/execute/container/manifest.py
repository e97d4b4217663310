"""What a manifest and its arguments ask of a container."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.errors import CallError
from pegboard.execute.container.command import command_of
from pegboard.execute.container.mounts import ARGUMENTS, OUTPUT
from pegboard.execute.grants import handed_over
from pegboard.execute.job import Job
from pegboard.execute.secrets import environment_of
from pegboard.execute.variables import variables_of

HOME = "/tmp"  # noqa: S108 (in the container, where it is private and in memory)

_IMAGE = re.compile(r"[a-z0-9]\S*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class Asked(NamedTuple):
    image: str
    command: tuple[str, ...]
    variables: Mapping[str, str]


def asked_of(job: Job, environ: Mapping[str, str]) -> Asked:
    """Raises `CallError`: `InvalidArguments` and `SecretMissing` among them."""
    config = job.item.executor
    image = config.get("image")
    if not isinstance(image, str) or not _IMAGE.fullmatch(image):
        raise CallError(f"its image {image!r} is no name of an image", "correct the manifest")
    properties = job.item.input_schema.get("properties")
    parameters = properties.keys() if isinstance(properties, Mapping) else ()
    command = command_of(config, parameters, job.arguments)
    return Asked(image, command, _variables(job, environ))


def _variables(job: Job, environ: Mapping[str, str]) -> dict[str, str]:
    granted = {
        name: value
        for name, value in handed_over(environ, job.grants).items()
        if _VARIABLE.fullmatch(name)
    }
    said = environment_of(job.item.executor, job.secrets)
    for name, value in said.items():
        if not _VARIABLE.fullmatch(name) or "\0" in value:
            raise CallError(
                f"its variable {name[:200]!r} has a name or a value that no process can have",
                "correct env in the manifest",
            )
    own = {"PEGBOARD_ARGUMENTS": ARGUMENTS, "PEGBOARD_OUTPUT": OUTPUT}
    return {"HOME": HOME, **granted, **said, **variables_of(job.arguments), **own}
