import re
from datetime import datetime
from pathlib import Path


def run(calendar_file: str, uid: str, new_start: str) -> dict[str, str]:
    """Shift an appointment to another date or time while keeping its length.

    Args:
        calendar_file: iCalendar (.ics) file to change.
        uid: Identifier of the appointment.
        new_start: Local date and time in ISO format.

    Returns:
        The new start and end.
    """
    path = Path(calendar_file)
    text = path.read_text("utf-8")
    blocks = re.findall(r"BEGIN:VEVENT\n.*?END:VEVENT\n", text, re.S)
    block = next((block for block in blocks if f"\nUID:{uid}\n" in block), None)
    if block is None:
        raise LookupError(f"no event with the identifier {uid}")
    times = dict(re.findall(r"^(DTSTART|DTEND)[^:\n]*:(\w+)$", block, re.M))
    begin = datetime.fromisoformat(times["DTSTART"].rstrip("Z"))
    length = datetime.fromisoformat(times.get("DTEND", times["DTSTART"]).rstrip("Z")) - begin
    start = datetime.fromisoformat(new_start)
    end = start + length
    moved = re.sub(r"(?m)^DTSTART.*$", f"DTSTART:{start:%Y%m%dT%H%M%S}", block)
    moved = re.sub(r"(?m)^DTEND.*$", f"DTEND:{end:%Y%m%dT%H%M%S}", moved)
    path.write_text(text.replace(block, moved), "utf-8", newline="\r\n")
    return {"start": start.isoformat(), "end": end.isoformat()}
