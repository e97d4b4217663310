import re
from datetime import datetime
from itertools import combinations
from pathlib import Path


def run(calendar_file: str) -> list[dict[str, list[str] | str | int]]:
    """Point out double bookings, that is appointments that overlap in time.

    Args:
        calendar_file: iCalendar (.ics) file to check.

    Returns:
        Both titles, when the overlap begins and how many minutes it lasts.
    """
    clashes = []
    events = sorted(_events(calendar_file), key=lambda event: event[:2])
    for first, second in combinations(events, 2):
        start, end = max(first[0], second[0]), min(first[1], second[1])
        if start < end:
            texts = (event[2].get("SUMMARY", "") for event in (first, second))
            titles = [re.sub(r"\\(.)", r"\1", text) for text in texts]
            minutes = int((end - start).total_seconds() // 60)
            clashes.append({"titles": titles, "start": start.isoformat(), "minutes": minutes})
    return clashes


def _events(calendar_file: str) -> list[tuple[datetime, datetime, dict[str, str]]]:
    text, events = Path(calendar_file).read_text("utf-8"), []
    text = re.sub(r"\n[ \t]|BEGIN:VALARM\n.*?END:VALARM\n", "", text, flags=re.S)
    for block in re.findall(r"BEGIN:VEVENT\n(.*?)END:VEVENT", text, re.S):
        fields = dict(re.findall(r"^([\w-]+)[^:\n]*:(.*)$", block, re.M))
        stamps = (fields.get(key, fields["DTSTART"]) for key in ("DTSTART", "DTEND"))
        start, end = (datetime.fromisoformat(stamp.rstrip("Z")) for stamp in stamps)
        events.append((start, end, fields))
    return events
