import re
from pathlib import Path


def run(calendar_file: str, uid: str) -> dict[str, str | int]:
    """Cancel an appointment and take it off the calendar.

    Args:
        calendar_file: iCalendar (.ics) file to change.
        uid: Identifier of the appointment.

    Returns:
        The identifier and how many appointments remain.
    """
    path = Path(calendar_file)
    text = path.read_text("utf-8")
    blocks = re.findall(r"BEGIN:VEVENT\n.*?END:VEVENT\n", text, re.S)
    doomed = [block for block in blocks if f"\nUID:{uid}\n" in block]
    if not doomed:
        raise LookupError(f"no event with the identifier {uid}")
    for block in doomed:
        text = text.replace(block, "")
    path.write_text(text, "utf-8", newline="\r\n")
    return {"deleted": uid, "remaining": len(blocks) - len(doomed)}
