"""Call a tool: find it, judge it, check the arguments, run it, look at what it brings back.

Finding raises, for there is no tool to speak of. Everything after that is a result, whether or not
the tool was run, and is written down with how it ended.
"""

import asyncio
import hashlib
import json
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pegboard.board.describe.versions import found
from pegboard.board.run.following import followed
from pegboard.board.run.secrets import hidden, with_secrets
from pegboard.board.run.ways import Checking, Ways
from pegboard.board.run.withheld import taken_back, withheld
from pegboard.errors import BoardError, CallError, UsageError
from pegboard.execute.grants import grants_of
from pegboard.execute.hints import with_hint
from pegboard.execute.job import Executor, Job
from pegboard.execute.policy import PROCESSES, Decision, Verdict, is_service, judge
from pegboard.execute.secrets import Secrets, names_in
from pegboard.formats.addresses import without_addresses
from pegboard.gate.characters import visible
from pegboard.model.calls import Asker, Caller, CallResult, OnProgress, Outcome, Role
from pegboard.model.content import Json
from pegboard.model.items import CREATED, PUBLISHED, Entry, Filters, Item, Kind, ToolType
from pegboard.model.runs import Run
from pegboard.ports.store import Store

if TYPE_CHECKING:
    from pegboard.execute.loop import Loop

log = logging.getLogger(__name__)

NOBODY = "nobody was there to approve it"
REFUSED = "it was not approved"
UNFIT = "only the role author can approve it"
MOST_SHOWN = 600
"""Characters of the arguments that somebody is shown who has to approve a call."""


@dataclass(slots=True)
class Call:
    """A call that has been judged and not yet made."""

    running: "Running"
    item: Item
    arguments: Json
    asker: Asker
    verdict: Verdict | None = None
    end: CallResult | None = None
    """How it ended already, if it is not to be made at all."""
    seconds: float | None = None
    on_progress: OnProgress | None = None
    note: str = ""
    """What whoever called is told beside the result."""
    began: float = field(default_factory=time.monotonic)

    @property
    def question(self) -> str:
        """What a person has to say yes to before it is made; empty if nobody has to be asked."""
        if self.end or self.verdict is None or self.verdict.decision is not Decision.ASK:
            return ""
        said = json.dumps(dict(self.arguments), ensure_ascii=False, default=str)
        if (more := len(said) - MOST_SHOWN) > 0:
            said = f"{said[:MOST_SHOWN]} ... and {more:,} more characters"
        made = ", which an agent made" if self.item.source == CREATED else ""
        # What to consider comes first: arguments are written by whoever wants a yes.
        consider = f"Run {self.item.id}{made}? Consider: {self.verdict.doubts}."
        return visible(f"{consider} It would be given: {said}")

    @property
    def mark(self) -> str:
        """Another one for any other tool, version, content or argument: a yes counts for one."""
        item = self.item
        content = item.version.content_hash if item.version else ""
        said = (item.namespace, item.id, content, item.executor, item.permissions, self.arguments)
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()

    def start(self, *, approved: bool = False, refusal: str = NOBODY) -> "Future[CallResult]":
        """Cancelling the future cancels the call. `refusal` says why it is not approved."""
        may = self.running.may_approve
        if self.question and not (approved and may) and self.verdict is not None:
            why = refusal if may else UNFIT
            said = f"{self.item.id} was not run: {self.verdict.doubts}, and {why}"
            hint = f"a person can decide it otherwise with {self.verdict.settings}"
            self.end = CallResult(Outcome.DENIED, error=f"{said}\n  {hint}")
        return self.running.make(self)

    def result(self, approve: Callable[[str], bool] | None = None) -> CallResult:
        """Make the call, having asked if somebody must be, and wait for its end."""
        approved = bool(self.question and approve and approve(self.question))
        made = self.start(approved=approved, refusal=REFUSED if approve else NOBODY)
        try:
            return made.result()
        except KeyboardInterrupt:
            made.cancel()
            raise


class Running:
    def __init__(self, store: Store, ways: Ways, checking: Checking, loop: "Loop") -> None:
        self.store = store
        self.ways = ways
        self.checking = checking
        self._loop = loop
        self.caller = Caller()
        """Who calls; without a name, whatever face it is."""
        self.may_approve = True
        self.shared = False
        """Whether whoever calls is not the owner of all that tools could be given here."""
        self._made: dict[ToolType, Executor] = {}
        self._making = threading.Lock()
        self._slots = asyncio.Semaphore(ways.parallel)
        self.on_end: Callable[[Item, CallResult], None] = lambda item, result: None
        """Is told of each call that ended, in any thread."""

    def seen_by(self, store: Store, caller: Caller) -> "Running":
        """For a caller, who finds what he may see, and shares what runs it with all others."""
        view = copy(self)
        view.store, view.caller = store, caller
        view.may_approve = caller.role.covers(Role.AUTHOR)
        view.shared = not caller.everywhere
        return view

    def prepare(
        self,
        name: str,
        arguments: Json,
        within: Filters,
        asker: Asker,
        *,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Call:
        """Raises if there is no such item, several, or one that is held back."""
        entry, item = found(self.store, name, within)
        call = Call(
            self, item, arguments, asker, seconds=_seconds(item, seconds), on_progress=on_progress
        )
        if item.kind is not Kind.TOOL:
            call.arguments = self.checking.filled(arguments, item.input_schema)
            call.end = followed(item, call.arguments, self.checking.complaints)
            return call
        as_asked = item is entry.item or bool(item.version and item.version.release)
        signed = as_asked and self.ways.is_signed(entry._replace(item=item))
        granted = signed and not (self.shared and item.source == PUBLISHED)
        call.verdict = judge(
            item, self.ways.rules, signed=signed, agent=asker.agent, granted=granted
        )
        call.end = self._withheld(entry._replace(item=item)) or self._refused(call, call.verdict)
        call.note = taken_back(self.store, item) if item is not entry.item else ""
        return call

    def _withheld(self, entry: Entry) -> CallResult | None:
        """Why a published tool is not run here, whoever is asked and whoever signed it."""
        if entry.item.source != PUBLISHED:
            return None
        rules, lent = self.ways.rules, self.ways.lent
        why = self.ways.disowned(entry)
        if not why and self.shared:
            why = withheld(entry.item, lent, in_project=rules.in_project)
        said = f"{entry.item.id} was not run: {why}"
        return CallResult(Outcome.DENIED, error=said) if why else None

    def _refused(self, call: Call, verdict: Verdict) -> CallResult | None:
        """Why a call is not made, whoever is asked."""
        item = call.item
        if item.tool_type is None or item.tool_type not in self.ways.executors:
            what = f"a {item.tool_type} tool" if item.tool_type else "a tool of no type"
            here = ", ".join(self.ways.executors)
            said = f"{item.id} is {what}, and this Pegboard runs only: {here}"
            return CallResult(Outcome.UNAVAILABLE, error=said)
        if verdict.decision is Decision.DENY:
            hint = f"it is decided by {verdict.settings} in your settings"
            said = f"{item.id} was not run: {verdict.denial}\n  {hint}"
            return CallResult(Outcome.DENIED, error=said)
        if not is_service(item):  # a service knows its own defaults
            call.arguments = self.checking.filled(call.arguments, item.input_schema)
        if wrong := self.checking.complaints(call.arguments, item.input_schema):
            said = f"{item.id} was not called. {wrong}"
            return CallResult(Outcome.INVALID_ARGUMENTS, error=said)
        return None

    def trial(self, item: Item, arguments: Json) -> CallResult:
        """Run a tool that is not on the board: in a sandbox, without any permission."""
        verdict = judge(item._replace(permissions=()), self.ways.rules, signed=False, agent=True)
        call = Call(self, item._replace(permissions=()), arguments, Asker(), verdict)
        if item.tool_type not in (ToolType.PYTHON, ToolType.BASH):
            said = f"only python and bash tools can be tried, and this is {item.tool_type}"
            return CallResult(Outcome.UNAVAILABLE, error=said)
        if verdict.decision is not Decision.ALLOW:
            return CallResult(Outcome.DENIED, error=f"it was not tried: {verdict.doubts}")
        call.end = self._refused(call, verdict)
        call.seconds = min(_seconds(item, None) or math.inf, self.ways.limits.seconds)
        result = call.end or self._loop.submit(self._run(call)).result()
        return result._replace(seconds=time.monotonic() - call.began)

    def make(self, call: Call) -> "Future[CallResult]":
        return self._loop.submit(self._whole(call))

    async def _whole(self, call: Call) -> CallResult:
        if call.item.kind is not Kind.TOOL and call.end is not None:
            return call.end
        try:
            result = call.end or await self._run(call)
        except asyncio.CancelledError:
            await self._written_down(call, CallResult(Outcome.KILLED))
            raise
        version = call.item.version.version if call.item.version else ""
        if call.note:
            result = result._replace(logs=_with_note(result.logs, call.note))
        result = result._replace(seconds=time.monotonic() - call.began, version=version)
        await self._written_down(call, result)
        if self.shared and result.outcome is Outcome.UNAVAILABLE:
            result = result._replace(error=without_addresses(result.error))
        return result

    async def _written_down(self, call: Call, result: CallResult) -> None:
        """In a thread: a board that is locked must not hold up the calls of others.

        And to its end, even if the call is called off now, or again.
        """
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(None, self._record, call, result))

    async def _run(self, call: Call) -> CallResult:
        item, secrets = call.item, Secrets()
        try:
            job, executor = await asyncio.to_thread(self._ready, call)
            secrets = job.secrets
            if item.tool_type in PROCESSES:
                async with self._slots:
                    result = with_hint(await executor.run(job), job.grants)
            else:
                result = await executor.run(job)
        except (CallError, UsageError) as error:
            said = secrets.hide(f"{item.id} was not run: {error}")
            return CallResult(Outcome.UNAVAILABLE, error=said)
        return hidden(self._checked(item, result, secrets), secrets)

    def _ready(self, call: Call) -> tuple[Job, Executor]:
        """In a thread: patterns are held against files, and executors may take long to load."""
        kind = ToolType(str(call.item.tool_type))
        with self._making:
            if kind not in self._made:
                self._made[kind] = self.ways.executors[kind]()
        return self._job(call), self._made[kind]

    def _job(self, call: Call) -> Job:
        item, ways = with_secrets(call.item), self.ways
        # Of a service nobody was asked: what its document says is no reference to a secret.
        named = [] if is_service(item) else names_in(dict(item.executor))
        names = {*named, *ways.api_secrets(item)}
        default = math.inf if item.tool_type is ToolType.MCP else ways.limits.seconds
        return Job(
            item,
            call.arguments,
            Secrets(lambda name: ways.look_up(name) if name in names else None),
            ways.limits._replace(seconds=call.seconds or default),
            grants_of(item, ways.ground),
            call.verdict.sandboxing if call.verdict else ways.rules.sandboxing,
            call.on_progress,
        )

    def _checked(self, item: Item, result: CallResult, secrets: Secrets) -> CallResult:
        """What a tool gives back must be what it promises; of a service that is only noted."""
        if result.outcome is not Outcome.OK or not item.output_schema or result.structured is None:
            return result
        schema, answer = item.output_schema, result.structured
        inside = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
        ways = (schema, inside)
        if not all(self.checking.complaints(answer, each) for each in ways):
            return result
        # Long values are cut in what is said, and half a secret would not be recognised.
        shown = secrets.hidden_in(answer)
        way = ways[answer.keys() == {"result"}]
        wrong = self.checking.complaints(shown, way) if isinstance(shown, Mapping) else ""
        said = "the answer does not fit the tool's output schema:"
        said += wrong.partition(":")[2].replace("\n- the arguments: ", "\n- the answer: ")
        if is_service(item):
            return result._replace(logs=_with_note(result.logs, said))
        return result._replace(outcome=Outcome.FAILED, error=said)

    def _record(self, call: Call, result: CallResult) -> None:
        item = call.item
        self.on_end(item, result)
        try:
            run = Run(
                namespace=item.namespace,
                id=item.id,
                version=item.version.version if item.version else "",
                at=self.store.now(),
                outcome=result.outcome,
                seconds=time.monotonic() - call.began,
                caller=self.caller.subject or call.asker.name,
            )
            self.store.runs.record(run)
        except BoardError as error:
            log.warning("that %s was run is not written down: %s", item.id, error.message)

    def close(self) -> None:
        """End what runs, and let go of what executors keep."""
        self._loop.close(self._let_go)

    async def _let_go(self) -> None:
        for executor in self._made.values():
            await executor.close()


def _with_note(logs: str, note: str) -> str:
    return "\n".join(filter(None, (logs, f"note: {note}")))


def _seconds(item: Item, asked: float | None) -> float | None:
    said = item.executor.get("timeout")
    own = float(said) if isinstance(said, int | float) and said > 0 else None
    return own if asked is None else asked
