from pathlib import Path


def run(calendar_file: str, uid: str, minutes_before: int = 15, text: str = "Reminder") -> str:
    """Attach an alarm that pops up some minutes ahead of an appointment.

    Args:
        calendar_file: iCalendar (.ics) file to change.
        uid: Identifier of the appointment.
        minutes_before: Lead time of the alarm.
        text: Wording of the alarm.

    Returns:
        The alarm's trigger in iCalendar notation.
    """
    path, trigger = Path(calendar_file), f"-PT{int(minutes_before)}M"
    head, mark, tail = path.read_text("utf-8").partition(f"\nUID:{uid}\n")
    if not mark:
        raise LookupError(f"no event with the identifier {uid}")
    wording = " ".join(text.split()).replace(",", "\\,").replace(";", "\\;")
    alarm = ["BEGIN:VALARM", "ACTION:DISPLAY", f"TRIGGER:{trigger}", f"DESCRIPTION:{wording}"]
    tail = tail.replace("END:VEVENT\n", "\n".join([*alarm, "END:VALARM", "END:VEVENT\n"]), 1)
    path.write_text(head + mark + tail, "utf-8", newline="\r\n")
    return trigger
