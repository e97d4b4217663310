import re
from pathlib import Path


def run(
    calendar_file: str, uid: str, email: str, name: str | None = None, optional: bool = False
) -> str:
    """Add a participant to a meeting.

    The invitation is recorded in the calendar; no mail goes out.

    Args:
        calendar_file: iCalendar (.ics) file to change.
        uid: Identifier of the meeting.
        email: Address of the participant.
        name: Display name of the participant.
        optional: Whether attendance is optional.

    Returns:
        The attendee line that was added.
    """
    if not re.fullmatch(r"[^\s@:;,\"]+@[^\s@:;,\"]+", email):
        raise ValueError(f"{email} is not an e-mail address")
    role = "OPT-PARTICIPANT" if optional else "REQ-PARTICIPANT"
    label = ';CN="' + re.sub(r'[\x00-\x1f"]', "", name) + '"' if name else ""
    line = f"ATTENDEE{label};ROLE={role};RSVP=TRUE:mailto:{email}"
    path = Path(calendar_file)
    text = path.read_text("utf-8")
    if f"\nUID:{uid}\n" not in text:
        raise LookupError(f"no event with the identifier {uid}")
    text = text.replace(f"\nUID:{uid}\n", f"\nUID:{uid}\n{line}\n", 1)
    path.write_text(text, "utf-8", newline="\r\n")
    return line
