"""A file's bytes as Python code that is parsed and never run."""

import ast

from pegboard.sources.python import syntax
from pegboard.sources.unfit import Unfit


def python_module(content: bytes) -> ast.Module:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8; save the file as UTF-8."
        raise Unfit("not_utf8", reason) from error
    if "\0" in text:
        raise Unfit("null_bytes", "the file holds null bytes; save it as plain text")
    try:
        return syntax.parse_quietly(text)
    except SyntaxError as error:
        reason = f"line {error.lineno or 1} is not valid Python ({error.msg}); correct it"
        raise Unfit("syntax_error", reason) from error
    except syntax.TOO_DEEP as error:
        reason = "the code is nested too deeply to be parsed; write it in smaller steps"
        raise Unfit("too_deep", reason) from error
