"""What the process of a Python tool brought back, as the result of a call."""

import json

from pegboard.execute.answered_json import as_object, cut_short, printed_object, read_json
from pegboard.execute.job import Job
from pegboard.execute.process.processes import Ran
from pegboard.execute.python.inside.runner import ERROR, INVALID, RESULT
from pegboard.model.calls import CallResult, Outcome

MOST_ERROR = 4_000
SILENT = (
    "note: it has no function run, so it was run as a script, and printed nothing; "
    "to have a function called, name it run, or name it in the manifest as function"
)


def python_result(ran: Ran, job: Job) -> CallResult:
    result = CallResult(
        ran.outcome,
        error=ran.error,
        logs="\n".join(each.rstrip("\n") for each in (ran.stdout, ran.stderr) if each.strip()),
        artifacts=ran.artifacts,
        sandbox=ran.sandbox,
    )
    try:
        answer = None if ran.answer is None else read_json(ran.answer.decode("utf-8-sig"))
    except ValueError as error:
        if ran.outcome is not Outcome.OK:
            return result
        wrong = f"what it wrote to the file that $PEGBOARD_ANSWER names is no JSON: {error}"
        return result._replace(outcome=Outcome.FAILED, error=wrong)
    said = answer if isinstance(answer, dict) and len(answer) == 1 else {}
    if ran.outcome is Outcome.FAILED:
        return _failed(result, said, job)
    if ran.outcome is not Outcome.OK:
        return result
    if ran.answer is None:
        return _printed(result, ran, job)
    return _with_value(result, said.get(RESULT, answer))


def _failed(result: CallResult, said: dict[str, object], job: Job) -> CallResult:
    for name, outcome in ((ERROR, Outcome.FAILED), (INVALID, Outcome.INVALID_ARGUMENTS)):
        if name in said:
            told = job.secrets.hide(str(said[name]))
            return result._replace(outcome=outcome, error=_cut(told, MOST_ERROR))
    return result


def _printed(result: CallResult, ran: Ran, job: Job) -> CallResult:
    """Of a script: its output is its result, and only what it says beside that is a log."""
    result = result._replace(logs=ran.stderr, content=({"type": "text", "text": ran.stdout},))
    if not (ran.stdout or ran.stderr or ran.artifacts):
        result = result._replace(logs=SILENT)
    promised = bool(job.item.output_schema)
    if ran.cut and promised:
        return result._replace(outcome=Outcome.FAILED, error=cut_short(job.limits.log_bytes))
    return result._replace(structured=printed_object(ran.stdout, promised=promised))


def _with_value(result: CallResult, value: object) -> CallResult:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return result._replace(
        content=({"type": "text", "text": text},),
        structured=as_object(value),
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."
