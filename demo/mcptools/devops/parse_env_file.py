import re
from pathlib import Path


def run(path: str, required: list[str] | None = None) -> dict[str, list[str]]:
    """Validate a .env configuration file without exposing its secrets.

    Reports which variables are defined, defined twice, left empty or absent. Values never
    appear in the result.

    Args:
        path: The .env file.
        required: Variables that have to be defined.

    Returns:
        Lists of names under "defined", "empty", "duplicate" and "absent".
    """
    pattern = r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*?)[ \t]*$"
    pairs = re.findall(pattern, Path(path).read_text("utf-8"), re.M)
    names = [name for name, _ in pairs]
    return {
        "defined": sorted(set(names)),
        "empty": sorted({name for name, value in pairs if value in ("", '""', "''")}),
        "duplicate": sorted({name for name in names if names.count(name) > 1}),
        "absent": sorted(set(required or []) - set(names)),
    }
