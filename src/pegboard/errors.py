"""Every error Pegboard raises on purpose.

    PegboardError
    ├── UsageError             a value the caller gave cannot be used
    ├── ConfigError            a settings file, variable or flag is wrong
    │   └── KeyUnusable        a key file or the list of trusted keys cannot be used
    ├── BoardError             the board cannot do what was asked
    │   ├── BoardMissing       there is no board where one was expected
    │   ├── BoardBusy          another process held the write lock for too long
    │   ├── BoardUnreachable   the server that has the board does not answer
    │   ├── BoardReadOnly      the board or its folder cannot be written
    │   │   └── BoardPartlyHidden  who asks does not see the whole board
    │   ├── BoardFull          the disk is full
    │   ├── BoardCorrupt       the file is damaged or not a board
    │   └── BoardTooNew        a newer Pegboard wrote this board
    ├── SourceError            a source as a whole cannot be read
    │   └── ServerUnavailable  an MCP server cannot be started, reached or understood
    ├── EmbeddingError         a text could not be embedded
    │   └── ModelUnavailable   the model cannot be loaded or reached at all
    ├── ItemNotFound           no item has this id or name
    ├── ItemAmbiguous          several items have this name
    ├── CallError              a tool was not called
    │   ├── InvalidArguments   the arguments do not fit the tool's schema
    │   ├── ItemHeld           the tool changed since it was approved
    │   ├── SecretMissing      a secret that it needs is nowhere to be found
    │   └── NotExecutable      nothing here can run it now
    ├── NotTrusted             a signature is missing, or not to be believed
    ├── NotAllowed             whoever asks may not do this
    │   └── NotSignedIn        who asks is not known: no token, or none that is good
    ├── ProviderUnavailable    the identity provider does not answer
    ├── ChangedMeanwhile       the item is no longer what the change was meant for
    ├── TooLarge               a request is larger than is allowed
    ├── TooMany                there were too many requests in a short time
    ├── TookTooLong            there was no answer in time
    └── InvariantBroken        the board's own check found something wrong

`EXIT_CODES` at the end is the one table from error to process exit code.
"""


class PegboardError(Exception):
    """Something went wrong in Pegboard."""

    def __init__(self, message: str = "", hint: str = "") -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.hint = hint
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message

    @property
    def code(self) -> str:
        """A stable name for programs, such as `board_missing`."""
        name = type(self).__name__
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


class UsageError(PegboardError):
    """A value cannot be used."""


class ConfigError(PegboardError):
    """The settings are wrong."""


class KeyUnusable(ConfigError):
    """A key cannot be used."""


class BoardError(PegboardError):
    """The board cannot do this."""


class BoardMissing(BoardError):
    """There is no board here."""


class BoardBusy(BoardError):
    """Another process is writing to this board."""


class BoardUnreachable(BoardError):
    """The server that has the board does not answer."""


class BoardReadOnly(BoardError):
    """The board cannot be written."""


class BoardPartlyHidden(BoardReadOnly):
    """Not all of this board can be seen with these rights."""


class BoardFull(BoardError):
    """The disk is full; the last change was not made and nothing before it was lost."""


class BoardCorrupt(BoardError):
    """The board file is damaged."""


class BoardTooNew(BoardError):
    """This board was written by a newer version of Pegboard."""


class SourceError(PegboardError):
    """The source cannot be read."""


class ServerUnavailable(SourceError):
    """The MCP server cannot be reached."""


class EmbeddingError(PegboardError):
    """The text could not be embedded."""


class ModelUnavailable(EmbeddingError):
    """The embedding model cannot be loaded."""


class ItemNotFound(PegboardError):
    """There is no such item."""


class ItemAmbiguous(PegboardError):
    """Several items have this name."""


class CallError(PegboardError):
    """The tool was not called."""


class InvalidArguments(CallError):
    """The arguments do not fit the tool."""


class ItemHeld(CallError):
    """The tool changed since it was approved."""


class SecretMissing(CallError):
    """A secret is missing."""


class NotExecutable(CallError):
    """Nothing here can run this tool now."""


class NotTrusted(PegboardError):
    """The signature is not to be believed."""


class NotAllowed(PegboardError):
    """This is not allowed."""


class NotSignedIn(NotAllowed):
    """A token is needed."""


class ProviderUnavailable(PegboardError):
    """The identity provider cannot be asked."""


class ChangedMeanwhile(PegboardError):
    """Somebody has changed it meanwhile."""


class TooLarge(PegboardError):
    """The request is too large."""


class TooMany(PegboardError):
    """There were too many requests."""


class TookTooLong(PegboardError):
    """There was no answer in time."""


class InvariantBroken(PegboardError):
    """The board breaks one of its own rules."""


EXIT_NOTHING_FOUND = 1
EXIT_INTERRUPTED = 130

EXIT_CODES: dict[type[PegboardError], int] = {
    UsageError: 2,
    ConfigError: 3,
    BoardError: 4,
    SourceError: 5,
    EmbeddingError: 6,
    ItemNotFound: 7,
    ItemAmbiguous: 8,
    InvariantBroken: 9,
    CallError: 11,
    NotTrusted: 12,
    NotAllowed: 13,
    PegboardError: 10,
}


def exit_code(error: PegboardError) -> int:
    """The code of the nearest class in the table."""
    return next(EXIT_CODES[cls] for cls in type(error).__mro__ if cls in EXIT_CODES)
