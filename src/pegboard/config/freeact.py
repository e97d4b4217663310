"""The variables of freeact's search server, read as settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pegboard.config.aliases import switch
from pegboard.config.loading import Layer, build, parsed
from pegboard.config.settings import Settings


class PytoolsPlace(NamedTuple):
    """What the environment of freeact's search server says."""

    folder: Path
    """As it is written: paths in answers begin with it."""
    board: Path
    settings: Settings
    sync: bool
    watch: bool
    notices: tuple[str, ...]


def pytools_place(*, cwd: Path, environ: Mapping[str, str]) -> PytoolsPlace:
    """PYTOOLS_DIR, PYTOOLS_DB_PATH and the rest, with the defaults that freeact gives them."""
    said: Layer = {}
    notices = []
    model = environ.get("PYTOOLS_EMBEDDING_MODEL", "")
    if model == "test":
        said["embed.provider"] = ("test", "PYTOOLS_EMBEDDING_MODEL")
        said["embed.dimension"] = _number(environ, "PYTOOLS_EMBEDDING_DIM", int, 0)
    elif model:
        notices.append(f"PYTOOLS_EMBEDDING_MODEL is {model!r}; the model inside is used instead")
    weights = {
        "search.bm25_weight": _number(environ, "PYTOOLS_BM25_WEIGHT", float, 1.0),
        "search.vector_weight": _number(environ, "PYTOOLS_VEC_WEIGHT", float, 1.0),
    }
    if any(weight != 1.0 for weight, _ in weights.values()):
        said |= weights | {"search.fusion": ("rrf", "PYTOOLS_BM25_WEIGHT and PYTOOLS_VEC_WEIGHT")}
    return PytoolsPlace(
        folder=Path(environ.get("PYTOOLS_DIR", ".freeact/generated")),
        board=cwd / environ.get("PYTOOLS_DB_PATH", ".freeact/search.db"),
        settings=build(said),
        sync=switch(environ, "PYTOOLS_SYNC", "true"),
        watch=switch(environ, "PYTOOLS_WATCH", "true"),
        notices=tuple(notices),
    )


def _number(
    environ: Mapping[str, str], name: str, kind: type[int] | type[float], default: float
) -> tuple[object, str]:
    return (parsed(environ[name], kind) if environ.get(name) else kind(default)), name
