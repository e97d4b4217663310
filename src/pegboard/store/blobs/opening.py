"""Which blob storage the settings ask for."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pegboard.errors import ConfigError
from pegboard.store.blobs.bucket import Bucket, BucketBlobs
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.blobs.storage import Blobs

BUCKET = "s3://"
REFERENCE = "env:"
# Patterns that few boards need, and so they are compiled when they do.
_BUCKET_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}"
_ENDPOINT = r"https?://[A-Za-z0-9.\[\]:_-]+(/[A-Za-z0-9/._~-]*)?"


class BlobPlace(NamedTuple):
    place: str = ""
    endpoint: str = ""
    region: str = ""
    access_key: str = ""
    secret_key: str = ""
    """This and `access_key` say which variable holds the key, as in `env:MY_SECRET`."""


NO_PLACE = BlobPlace()


def open_blobs(where: BlobPlace, environ: Mapping[str, str]) -> Blobs | None:
    """None if the settings leave it to the store."""
    place = where.place
    if not place:
        return None
    if place.startswith(BUCKET):
        return BucketBlobs(_bucket(where, environ))
    if "://" in place:
        raise ConfigError(
            f"blobs.place is {place!r}; it must be a folder, or a bucket as s3://bucket/prefix"
        )
    return FolderBlobs(Path(place))


def _bucket(where: BlobPlace, environ: Mapping[str, str]) -> Bucket:
    name, _, prefix = where.place.removeprefix(BUCKET).partition("/")
    if not re.fullmatch(_BUCKET_NAME, name):
        raise ConfigError(f"blobs.place is {where.place!r}; write it as s3://bucket/prefix")
    endpoint = where.endpoint or _first(environ, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    if endpoint and not re.fullmatch(_ENDPOINT, endpoint):
        raise ConfigError(
            f"blobs.endpoint is {endpoint!r}; it must be an address such as https://host:9000"
        )
    references = {"blobs.access_key": where.access_key, "blobs.secret_key": where.secret_key}
    if not any(references.values()):
        return Bucket(name, prefix.strip("/"), endpoint, where.region)
    for setting, reference in references.items():
        if not reference.startswith(REFERENCE):
            # What it is instead is not said: it may be the key itself.
            raise ConfigError(
                f"{setting} must name the variable that holds the key, as in env:MY_KEY",
                "set both blobs.access_key and blobs.secret_key, or neither",
            )

    def keys() -> tuple[str, str]:
        access, secret = (_look_up(name, text, environ) for name, text in references.items())
        return access, secret

    return Bucket(name, prefix.strip("/"), endpoint, where.region, keys)


def _look_up(setting: str, reference: str, environ: Mapping[str, str]) -> str:
    name = reference.removeprefix(REFERENCE)
    if not (value := environ.get(name)):
        raise ConfigError(
            f"the variable {name} is not set", f"set it: {setting} says that it holds the key"
        )
    return value


def _first(environ: Mapping[str, str], *names: str) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")
