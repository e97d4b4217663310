"""What the secrets of a source are called."""

import re


def secret_name(source: str, name: str, ending: str = "") -> str:
    """In upper case, with `_` for whatever is no letter or digit: `PETSTORE_API_KEY`.

    No shell sets a variable that begins with a digit.
    """
    found = re.sub(r"[^A-Z0-9]", "_", f"{source}_{name}{ending}".upper())
    return f"_{found}" if found[0].isdigit() else found
