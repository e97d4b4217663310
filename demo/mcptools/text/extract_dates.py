import re
from datetime import date

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO = r"\b(?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})\b"
_DAY_FIRST = r"\b(?P<d2>\d{1,2})(?:st|nd|rd|th)? (?P<m2>[A-Z][a-z]{2,8})\.?,? (?P<y2>\d{4})\b"
_MONTH_FIRST = r"\b(?P<m3>[A-Z][a-z]{2,8})\.? (?P<d3>\d{1,2})(?:st|nd|rd|th)?,? (?P<y3>\d{4})\b"


def run(text: str) -> list[dict[str, str]]:
    """Find calendar dates mentioned in English prose and normalise them to ISO 8601.

    Understands "2024-05-01", "1 May 2024", "1st May, 2024" and "May 1, 2024". All-numeric forms
    with slashes are skipped, being ambiguous.

    Args:
        text: Prose to scan.

    Returns:
        One entry per mention, with "written" as it stands in the text and "date".
    """
    found = []
    for match in re.finditer("|".join((_ISO, _DAY_FIRST, _MONTH_FIRST)), text):
        year, month, day = next(
            match.group(f"y{n}", f"m{n}", f"d{n}") for n in (1, 2, 3) if match.group(f"y{n}")
        )
        if not month.isdigit():
            short = month[:3].lower()
            month = _MONTHS.index(short) + 1 if short in _MONTHS else 0
        try:
            found.append({"written": match[0], "date": str(date(int(year), int(month), int(day)))})
        except ValueError:
            continue
    return found
