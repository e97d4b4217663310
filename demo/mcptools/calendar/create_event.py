import re
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path


def run(
    calendar_file: str,
    title: str,
    start: str,
    duration_minutes: int = 60,
    location: str | None = None,
    notes: str | None = None,
) -> dict[str, str]:
    """Put a new appointment into a calendar.

    Args:
        calendar_file: iCalendar (.ics) file; started afresh if it does not exist.
        title: What the appointment is about.
        start: Local date and time in ISO format, such as "2025-03-14T09:30".
        duration_minutes: Length in minutes.
        location: Room or address.
        notes: Longer description.

    Returns:
        The identifier of the appointment, its start and its end.
    """
    begin = datetime.fromisoformat(start)
    end, uid = begin + timedelta(minutes=duration_minutes), f"{uuid.uuid4()}@demo"
    lines = ["BEGIN:VEVENT", f"UID:{uid}", f"DTSTAMP:{datetime.now(UTC):%Y%m%dT%H%M%SZ}"]
    lines += [f"DTSTART:{begin:%Y%m%dT%H%M%S}", f"DTEND:{end:%Y%m%dT%H%M%S}"]
    for key, value in (("SUMMARY", title), ("LOCATION", location), ("DESCRIPTION", notes)):
        if value:
            lines.append(f"{key}:" + "\\n".join(re.sub(r"([\\;,])", r"\\\1", value).splitlines()))
    path, close = Path(calendar_file), "END:VCALENDAR\n"
    empty = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//demo//EN\n{close}"
    text = path.read_text("utf-8") if path.exists() else empty
    text = text.replace(close, "\n".join([*lines, "END:VEVENT", close]))
    path.write_text(text, "utf-8", newline="\r\n")
    return {"uid": uid, "start": begin.isoformat(), "end": end.isoformat()}
