"""Large files in a bucket that speaks S3: AWS, Supabase Storage, R2, MinIO and others."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pegboard.errors import BoardError, ConfigError
from pegboard.model.content import Blob

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Credential, S3Store

_METADATA_SERVICE = "169.254."
"""Where machines at AWS ask for keys when they were given none."""


class Patience(NamedTuple):
    connect_seconds: float = 5.0
    request_seconds: float = 60.0
    retries: int = 3
    retry_seconds: float = 60.0
    """After this time nothing is tried again."""


class Bucket(NamedTuple):
    name: str
    prefix: str = ""
    endpoint: str = ""
    """Empty for AWS itself."""
    region: str = ""
    keys: Callable[[], tuple[str, str]] | None = None
    """Gives access key and secret key; without it, they are looked for as AWS's own tools do."""


class BucketBlobs:
    """Nothing is loaded or asked for before it is needed."""

    def __init__(self, bucket: Bucket, patience: Patience | None = None) -> None:
        self._bucket = bucket
        self._patience = patience or Patience()
        self.place = f"s3://{bucket.name}/{bucket.prefix}".rstrip("/")

    def put(self, key: str, content: bytes) -> None:
        with self._told():
            # In one request: the parts of a larger upload would be left where no list shows them.
            self._store.put(key, content, use_multipart=False)

    def get(self, key: str) -> bytes | None:
        with self._told():
            try:
                return self._store.get(key).bytes().to_bytes()
            except FileNotFoundError as error:
                if _code(error) == "NoSuchBucket":
                    raise
                return None

    def has(self, key: str) -> bool:
        with self._told():
            try:
                self._store.head(key)
            except FileNotFoundError:  # whose answer does not say whether there is a bucket
                return False
            return True

    def delete(self, key: str) -> None:
        with self._told():
            try:
                self._store.delete(key)
            except FileNotFoundError as error:
                if _code(error) == "NoSuchBucket":
                    raise

    def listed(self, under: str) -> Iterator[Blob]:
        with self._told():
            for page in self._store.list(under):
                for each in page:
                    yield Blob(each["path"], each["size"], each["last_modified"].timestamp())

    @cached_property
    def _store(self) -> "S3Store":
        try:
            from obstore.store import S3Store
        except ImportError as error:
            raise ConfigError(
                f"blobs.place is {self.place}, and what speaks to buckets is not installed",
                "install it with: pip install 'pegboard[s3]'",
            ) from error
        from datetime import timedelta

        patience = self._patience
        config: S3Config = {"disable_bulk_delete": True}  # not every service has it
        if self._bucket.endpoint:
            config["aws_endpoint_url_s3"] = self._bucket.endpoint
        if self._bucket.region:
            config["region"] = self._bucket.region
        return S3Store(
            self._bucket.name,
            prefix=self._bucket.prefix or None,
            config=config,
            client_options={
                "allow_http": self._bucket.endpoint.startswith("http://"),
                "connect_timeout": timedelta(seconds=patience.connect_seconds),
                "timeout": timedelta(seconds=patience.request_seconds),
            },
            retry_config={
                "max_retries": patience.retries,
                "retry_timeout": timedelta(seconds=patience.retry_seconds),
            },
            credential_provider=_always(*self._bucket.keys()) if self._bucket.keys else None,
        )

    @contextmanager
    def _told(self) -> Iterator[None]:
        _ = self._store  # so that the library is there, or its absence has been told
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as error:
            raise self._trouble(error) from error

    def _trouble(self, error: Exception) -> BoardError:
        said, code = str(error), _code(error)
        where = f" at {self._bucket.endpoint}" if self._bucket.endpoint else ""
        status = re.search(r"status code: (\d+)", said)
        keys = (
            "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the variables that"
            " blobs.access_key and blobs.secret_key name, and what they may do"
        )
        if code == "NoSuchBucket":
            return BoardError(
                f"there is no bucket {self._bucket.name!r}{where}",
                "make it, or set blobs.place to one that exists",
            )
        if _METADATA_SERVICE in said.partition("\n")[0]:
            return BoardError(f"there are no keys for {self.place}{where}", keys)
        if status and status[1] in ("401", "403"):
            return BoardError(f"{self.place}{where} refuses access ({code or status[1]})", keys)
        return BoardError(
            f"{self.place}{where} cannot be reached or used ({said.partition(chr(10))[0]})",
            "check blobs.place, blobs.endpoint and the network, then run the command again;"
            " nothing committed was lost",
        )


def _always(access_key: str, secret_key: str) -> "Callable[[], S3Credential]":
    """These keys and nothing else: with keys in the config, the library takes a token of others."""
    return lambda: {
        "access_key_id": access_key,
        "secret_access_key": secret_key,
        "token": None,
        "expires_at": None,
    }


def _code(error: Exception) -> str:
    found = re.search(r"<Code>(\w+)</Code>", str(error))
    return found[1] if found else ""
