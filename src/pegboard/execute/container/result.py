"""What a container that has ended means as the result of a call."""

import re
import signal

from pegboard.execute.answered_json import cut_short, printed_object
from pegboard.execute.container.wanted import Ended, Heard
from pegboard.execute.job import Job
from pegboard.execute.room import Left
from pegboard.execute.stopping import Stopped, signal_of
from pegboard.model.calls import CallResult, Confined, Outcome

LAST_WORDS = 500
_INSTEAD = "let it print less, or write files to the folder $PEGBOARD_OUTPUT"
_LOST_COMMAND = re.compile(
    r"executable file|exec format|failed to exec|workdir|working dir|chdir|not a directory",
    re.IGNORECASE,
)
"""In what engines say when the fault is in the manifest or the image."""

_NO_COMMAND = re.compile(r"(?:catatonit|tini|docker-init)\b.*\bexec\b")
"""What the first process in a container says when there is no second."""
_WHY = {
    getattr(signal, "SIGXFSZ", None): ": it wrote a file larger than it may write in all",
    getattr(signal, "SIGXCPU", None): ": it used more processor time than its time limit allows",
}


def result_of(job: Job, ended: Ended | Stopped, heard: Heard, left: Left) -> CallResult:
    text = heard.out.text(job.secrets.hide).removesuffix("\n")
    logs = heard.err.text(job.secrets.hide)
    outcome, error = _meaning(job, ended, logs)
    whole = outcome is Outcome.OK and not heard.out.cut
    if outcome is Outcome.OK and heard.out.cut and job.item.output_schema:
        outcome, error = Outcome.FAILED, cut_short(job.limits.log_bytes, _INSTEAD)
    return CallResult(
        outcome,
        content=({"type": "text", "text": text},) if text else (),
        structured=printed_object(text, promised=bool(job.item.output_schema)) if whole else None,
        error=error,
        logs=f"{logs}\n{left.complaint}".strip("\n") if left.complaint else logs,
        artifacts=left.artifacts,
        sandbox=Confined.CONTAINER if isinstance(ended, Stopped) or not ended.refusal else None,
    )


def _meaning(job: Job, ended: Ended | Stopped, logs: str) -> tuple[Outcome, str]:
    if isinstance(ended, Stopped):
        return ended.outcome, ended.error
    if ended.refusal:
        return _refused(job.secrets.hide(ended.refusal))
    if ended.code == 0:
        return Outcome.OK, ""
    if ended.out_of_memory or signal_of(ended.code) is signal.SIGKILL:
        most = job.limits.memory_bytes
        return Outcome.KILLED, (
            f"it was killed, most likely because it needed more than {most:,} bytes of memory: "
            "give it less to do, or raise the limit"
        )
    if number := signal_of(ended.code):
        why = _WHY.get(number, "")
        return Outcome.KILLED, f"it was ended by the signal {number.name}{why}"
    return Outcome.FAILED, _failure(ended.code, logs.strip().rpartition("\n")[2])


def _failure(code: int, words: str) -> str:
    if _NO_COMMAND.search(words):
        return f"its command cannot be run in its image: {words}"
    said = f"; its last words: {words[-LAST_WORDS:]}" if words else ""
    return f"it ended with exit code {code}{said}"


def _refused(said: str) -> tuple[Outcome, str]:
    if _LOST_COMMAND.search(said):
        return Outcome.FAILED, f"its command cannot be run in its image: {said}"
    return Outcome.UNAVAILABLE, f"the container engine could not run it: {said}"
