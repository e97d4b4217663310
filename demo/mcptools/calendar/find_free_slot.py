import re
from datetime import datetime, timedelta
from pathlib import Path


def run(
    calendar_files: list[str],
    day: str,
    duration_minutes: int = 30,
    office_hours: str = "09:00-17:00",
) -> list[dict[str, str]]:
    """Find the gaps in which everybody is available for a meeting on a given day.

    Args:
        calendar_files: One iCalendar (.ics) file per participant.
        day: Date to examine, such as "2025-03-14".
        duration_minutes: Shortest gap worth reporting.
        office_hours: Times of day between which to look.

    Returns:
        Start and end of each gap; empty if nobody has room that day.
    """
    free, close = (datetime.fromisoformat(f"{day}T{hour}") for hour in office_hours.split("-"))
    busy = sorted(event[:2] for path in calendar_files for event in _events(path))
    slots = []
    for start, end in [*((s, e) for s, e in busy if s < close), (close, close)]:
        if start - free >= timedelta(minutes=duration_minutes):
            slots.append({"start": free.isoformat(), "end": start.isoformat()})
        free = max(free, end)
    return slots


def _events(calendar_file: str) -> list[tuple[datetime, datetime, dict[str, str]]]:
    text, events = Path(calendar_file).read_text("utf-8"), []
    text = re.sub(r"\n[ \t]|BEGIN:VALARM\n.*?END:VALARM\n", "", text, flags=re.S)
    for block in re.findall(r"BEGIN:VEVENT\n(.*?)END:VEVENT", text, re.S):
        fields = dict(re.findall(r"^([\w-]+)[^:\n]*:(.*)$", block, re.M))
        stamps = (fields.get(key, fields["DTSTART"]) for key in ("DTSTART", "DTEND"))
        start, end = (datetime.fromisoformat(stamp.rstrip("Z")) for stamp in stamps)
        events.append((start, end, fields))
    return events
