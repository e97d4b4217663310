import re
from datetime import datetime
from pathlib import Path


def run(
    calendar_file: str, since: str | None = None, until: str | None = None
) -> list[dict[str, str]]:
    """List appointments in chronological order, optionally only those of a period.

    Recurring appointments appear once, at their first date.

    Args:
        calendar_file: iCalendar (.ics) file to read.
        since: First day wanted, such as "2025-03-10".
        until: First day no longer wanted.

    Returns:
        Identifier, title, start, end and location of each appointment.
    """
    found = []
    for begin, end, event in sorted(_events(calendar_file), key=lambda e: e[:2]):
        start = begin.isoformat()
        if (since and start < since) or (until and start >= until):
            continue
        texts = (event.get(key, "") for key in ("SUMMARY", "LOCATION"))
        title, place = (re.sub(r"\\(.)", r"\1", text) for text in texts)
        entry = {"uid": event["UID"], "title": title, "start": start, "end": end.isoformat()}
        found.append(entry | ({"location": place} if place else {}))
    return found


def _events(calendar_file: str) -> list[tuple[datetime, datetime, dict[str, str]]]:
    text, events = Path(calendar_file).read_text("utf-8"), []
    text = re.sub(r"\n[ \t]|BEGIN:VALARM\n.*?END:VALARM\n", "", text, flags=re.S)
    for block in re.findall(r"BEGIN:VEVENT\n(.*?)END:VEVENT", text, re.S):
        fields = dict(re.findall(r"^([\w-]+)[^:\n]*:(.*)$", block, re.M))
        stamps = (fields.get(key, fields["DTSTART"]) for key in ("DTSTART", "DTEND"))
        start, end = (datetime.fromisoformat(stamp.rstrip("Z")) for stamp in stamps)
        events.append((start, end, fields))
    return events
