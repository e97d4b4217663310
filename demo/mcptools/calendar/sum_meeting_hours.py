import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Literal


def run(
    calendar_file: str, period: Literal["day", "week", "month"] = "week", keyword: str = ""
) -> dict[str, float]:
    """Add up how many hours were spent in meetings per day, week or month.

    Args:
        calendar_file: iCalendar (.ics) file to evaluate.
        period: Unit of time to group by.
        keyword: Count only meetings whose title contains this word.

    Returns:
        Hours per period, such as {"2025-W11": 6.5}.
    """
    layout = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}[period]
    hours: dict[str, float] = defaultdict(float)
    for start, end, event in _events(calendar_file):
        if keyword.lower() in event.get("SUMMARY", "").lower():
            hours[start.strftime(layout)] += (end - start).total_seconds() / 3600
    return {key: round(hours[key], 2) for key in sorted(hours)}


def _events(calendar_file: str) -> list[tuple[datetime, datetime, dict[str, str]]]:
    text, events = Path(calendar_file).read_text("utf-8"), []
    text = re.sub(r"\n[ \t]|BEGIN:VALARM\n.*?END:VALARM\n", "", text, flags=re.S)
    for block in re.findall(r"BEGIN:VEVENT\n(.*?)END:VEVENT", text, re.S):
        fields = dict(re.findall(r"^([\w-]+)[^:\n]*:(.*)$", block, re.M))
        stamps = (fields.get(key, fields["DTSTART"]) for key in ("DTSTART", "DTEND"))
        start, end = (datetime.fromisoformat(stamp.rstrip("Z")) for stamp in stamps)
        events.append((start, end, fields))
    return events
