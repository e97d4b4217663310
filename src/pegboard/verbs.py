"""The verbs that descriptions of tools begin with, in the forms that they come in."""

from collections.abc import Iterator, Sequence
from functools import cache


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS = word_set(
    """
    abort accept access acknowledge acquire activate adapt add adjust adopt advance advertise
    aggregate alert allocate allow alter analyse analyze annotate announce answer append apply
    approve archive arrange ask assemble assert assess assign associate attach audit
    authenticate authorize autocomplete await backfill backup ban batch begin bill bind block
    blur book bookmark boost bring browse build bundle buy calculate calibrate call cancel
    capture cast categorize change charge chart chat check choose chunk claim classify clean
    clear click clone close cluster collect combine comment commit compact compare compile
    complete compose compress compute concatenate conduct configure confirm connect consolidate
    construct control convert copy correct count crawl create crop cut deactivate debug decline
    decode decompress decrease decrypt deduplicate define delete deliver denoise deny deploy
    deprecate deregister derive describe design destroy detach detect determine diagnose diff
    disable disassociate disconnect discover dismiss display dissociate divide donate download
    draft drain draw drop dump duplicate edit email embed emit enable encode encrypt end
    enforce enhance enlarge enqueue enrich enrol enroll ensure enter erase establish estimate
    evaluate examine exchange execute expand explain explore export extend extract fade fail
    favorite feed fetch fill filter finalize find finish fit fix flag flatten flip flush fold
    follow force forecast forget fork format forward freeze fulfil fulfill gather generate
    geocode get give go grant grep group guess hash hide highlight identify ignore implement
    import improve increase index infer inform ingest initialise initialize initiate insert
    inspect install instantiate instruct integrate interact interpolate interpret invalidate
    invert invite invoke issue join keep kick kill label launch learn leave limit link list
    listen load locate lock log login logout look lookup mail maintain make manage map mark
    mask match measure merge message migrate minify mirror modify monitor mount move multiply
    mute navigate normalise normalize notify obtain offer open optimise optimize order organise
    organize outline overwrite pack paginate parse partition pass patch pause pay perform pin
    ping place plan play plot poll populate post predict prepare preview print process produce
    promote prompt propose protect provide provision prune publish pull purchase purge push put
    query queue quit quote raise randomize rank rate react read rebase reboot rebuild recall
    receive recognise recognize recommend reconcile record recover rectify redact redirect
    reduce reflow refresh refund register reject release reload remind remove rename render
    renew rent reopen reorder repair repeat replace replay replicate reply report request
    reschedule resend reserve reset resize resolve respond restart restore restrict resume
    retrieve retry return reverse revert review revoke rewrite roll rotate round route run
    sample sanitize save say scale scan schedule score scrape scroll search see segment select
    sell send serialize serve set share sharpen shelve shift show shrink shuffle shut sign
    simulate skip slice snapshot solve sort specify split squash stage standardize star start
    stop store stream strip submit subscribe subtract suggest sum summarise summarize suspend
    swap switch sync synchronise synchronize synthesize tag tail take talk tell terminate test
    toggle tokenize touch track train transcribe transfer transform transition translate
    transpose trash traverse trigger trim truncate try turn type unarchive unassign unban
    unblock undelete undo unfollow unfreeze uninstall unlink unlock unmute unpack unpin
    unpublish unregister unschedule unstar unsubscribe untag unzip update upgrade upload upsert
    use validate verify view visit visualise visualize vote wait wake warn watch wipe withdraw
    work wrap write zip zoom
    """
)
NOUNS = word_set(
    """
    access alert answer archive audit ban batch bill block book bookmark boost bundle call cast
    change charge chart chat check claim clone cluster comment commit control copy count cut
    design diff display draft drain draw drop dump duplicate edit email embed end estimate
    exchange export extract feed fetch fill filter fit fix flag follow force forecast fork
    format group guess hash highlight import increase index insert install issue join label
    launch limit link list load lock log login logout lookup mail map mark mask match measure
    merge message mirror move offer open order outline pack pass patch pause pay pin ping place
    plan play plot poll post preview print process prompt provision pull purchase push query
    queue quote raise rank rate read record refund register release reload render rent repeat
    replay reply report request reserve reset return reverse review roll round route run sample
    scale scan schedule score scroll search segment share shift show sign skip slice snapshot
    sort split stage star start stop store stream sum swap switch sync tag tail talk test touch
    track train transfer transition trash trigger trim turn type update upgrade upload use view
    visit vote wait watch work wrap zoom
    """
)
"""Those that name a thing as well: `Reports of the week` are none that somebody reports."""
DETERMINERS = word_set(
    """
    a an all any both each either every it its new one some that the their them these this those
    two your
    """
)
"""After one of these, a word that could be both was a verb."""
_OF = "of"
"""Before it stands a noun: `list of users`."""


READING = word_set(
    """
    browse check compare count download export fetch find get list lookup preview query read
    search test validate verify view
    """
)
"""Verbs that paths of GET requests end with."""


@cache
def _with_endings() -> dict[str, str]:
    return {form: verb for verb in sorted(VERBS) for form in _with_s(verb)}


@cache
def _gerunds() -> dict[str, str]:
    return {form: verb for verb in sorted(VERBS) for form in _with_ing(verb)}


def _with_s(verb: str) -> Iterator[str]:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        yield f"{verb[:-1]}ies"
    elif verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield f"{verb}es"
    else:
        yield f"{verb}s"


def _with_ing(verb: str) -> Iterator[str]:
    if verb.endswith("e") and not verb.endswith("ee"):
        yield f"{verb[:-1]}ing"
        return
    yield f"{verb}ing"
    if verb[-1] not in "aeiouwxy" and verb[-2] in "aeiou" and verb[-3:-2] not in "aeiou":
        yield f"{verb}{verb[-1]}ing"


def is_verb(word: str, after: str = "") -> bool:
    """Whether it can stand at the beginning of a request, before the word `after`."""
    known = word.lower()
    return known in VERBS and after.lower() != _OF


def third_person(word: str) -> str:
    """`Creates` as `create`, even if it could be a noun; empty for what is no such verb."""
    return _with_endings().get(word.lower(), "")


def base(word: str, after: str = "") -> str:
    """`Creates` as `create`; empty for what may be a noun, as far as the next word tells."""
    verb, next_word = third_person(word), after.lower()
    if next_word == _OF or (verb in NOUNS and next_word not in DETERMINERS):
        return ""
    return verb


def base_of_gerund(word: str) -> str:
    """`creating` as `create`; empty for what is no verb in this form."""
    return _gerunds().get(word.lower(), "")


_POLITE = word_set(
    """
    be can have help know let like look need order please try use want work
    """
)
"""Verbs that introduce a request instead of saying what to do."""
_REACH = 16
"""Words of a request among which its verb is looked for."""


def verb_form(word: str) -> str:
    """`creates`, `creating` and `created` as `create`; empty if the word is no known verb."""
    if word in VERBS:
        return word
    found = third_person(word) or base_of_gerund(word)
    if not found and word.endswith("d"):
        found = next((each for each in (word[:-1], word[:-2]) if each in VERBS), "")
    return found


_PARTICLES = {
    "bring": {"back": "restore"},
    "call": {"off": "cancel"},
    "get": {"rid": "remove"},
    "give": {"back": "return"},
    "hand": {"over": "transfer"},
    "kick": {"out": "remove"},
    "log": {"in": "login", "off": "logout", "out": "logout"},
    "look": {"up": "lookup"},
    "pick": {"out": "select"},
    "put": {"in": "add", "into": "add", "on": "add", "onto": "add", "back": "restore"},
    "set": {"up": "create"},
    "shut": {"down": "stop"},
    "sign": {"in": "login", "out": "logout", "up": "register"},
    "switch": {"off": "disable", "on": "enable"},
    "take": {"away": "remove", "down": "remove", "off": "remove", "out": "remove"},
    "throw": {"away": "remove", "out": "remove"},
    "turn": {"off": "disable", "on": "enable"},
}
"""Verbs that a particle gives another meaning, by the one verb that tools are named by."""
_ADJACENT = {("look", "for"): "find", ("looking", "for"): "find", ("looking", "up"): "lookup"}
_PARTICLE_REACH = 8
"""Words behind a verb among which its particle is looked for."""
_ALSO_PREPOSITIONS = {"turn": ("on",), "switch": ("on",), "log": ("in",), "sign": ("in",)}
"""Particles that, apart from the verb, belong to it at the end of a request only."""
_NEW = "new"
"""A request without a verb that names a new thing asks to create it."""

_QUESTIONS = frozenset(("what", "when", "where", "which", "who", "whose"))
"""A question without another verb asks for information."""


def requested_verb(said: Sequence[str]) -> str:
    """The verb of a request in lower-case words: `list` for "could you list my boards"."""
    reach = said[:_REACH]
    for place, word in enumerate(reach):
        if phrase := _phrase(word, said[place + 1 : place + 1 + _PARTICLE_REACH]):
            return phrase
        found = verb_form(word)
        if found and found not in _POLITE:
            return found
    if _NEW in reach:
        return "create"
    return "get" if said and said[0] in _QUESTIONS else ""


def _phrase(verb: str, behind: Sequence[str]) -> str:
    """Return the meaning of a verb with its particle: `remove` for "take the label off"."""
    if behind and (found := _ADJACENT.get((verb, behind[0]))):
        return found
    particles = _PARTICLES.get(verb, {})
    for place, word in enumerate(behind):
        is_apart = place and word in _ALSO_PREPOSITIONS.get(verb, ())
        if word in particles and not (is_apart and place + 1 < len(behind)):
            return particles[word]
    return ""


def named_verb(said: Sequence[str]) -> str:
    """The verb in the words of a tool's name: the first base form, or else the first word."""
    found = next((word for word in said if word in VERBS), "")
    return found or (verb_form(said[0]) if said else "")


def leading_verb(said: Sequence[str]) -> str:
    """The verb that a title begins with, among its first two words."""
    return next(filter(None, (verb_form(word) for word in said[:2])), "")
