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
    favorite feed fetch file fill filter finalize find finish fit fix flag flatten flip flush fold
    follow force forecast forget fork format forward freeze fulfil fulfill gather generate
    geocode get give go grant grep group guess hand hash hide highlight identify ignore implement
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
    reduce reflow refresh refund register reject relay release reload remind remove rename render
    renew rent reopen reorder repair repeat replace replay replicate reply report repost request
    reschedule resend reserve reset resize resolve respond restart restore restrict resume
    retrieve retry return reverse revert review revoke rerun rewrite roll rotate round route run
    sample sanitize save say scale scan schedule score scrape scroll search see segment select
    sell send serialize serve set share sharpen shelve shift show shrink shuffle shut sign
    simulate skip slice snapshot solve sort specify split squash stage standardize star start
    stop store stream strip submit subscribe subtract suggest sum summarise summarize suspend
    swap switch sync synchronise synchronize synthesize tag tail take talk tell terminate test
    toggle tokenize touch track train transcribe transfer transform transition translate
    transpose trash traverse trigger trim truncate try turn type unarchive unassign unban
    unblock undelete undo unfollow unfreeze uninstall unlink unlock unmute unpack unpin
    unpublish unregister unschedule unstar unsubscribe untag unzip update upgrade upload upsert
    upvote
    use validate verify view visit visualise visualize vote wait wake warn watch wipe withdraw
    work wrap write zip zoom
    """
)
NOUNS = word_set(
    """
    access alert answer archive audit ban batch bill block book bookmark boost bundle call cast
    change charge chart chat check claim clone cluster comment commit control copy count cut
    design diff display draft drain draw drop dump duplicate edit email embed end estimate
    exchange export extract feed fetch file fill filter fit fix flag follow force forecast fork
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


BEHIND_THINGS = word_set(
    """
    about and are as at behind by for from i in into is of on or that to under was were which who
    with within without
    """
)
"""Words that end the first noun phrase of a request, a title or a name."""
NO_THINGS = word_set(
    """
    a an the all any each every some this that these those my our your their his her its me us
    it new current specific given single one using based v1 v2 v3 api get post put http
    """
)
"""Words that are no head of a noun phrase."""
FAMILIES = {
    "create": "add create file insert make open register",
    "get": "describe display fetch get give lookup obtain read retrieve see show tell view",
    "list": "browse enumerate list",
    "search": "discover explore find locate query search",
    "delete": "cancel clear delete destroy discard drop erase purge remove trash wipe",
    "update": "adjust alter change configure edit modify patch rename replace revise set update",
    "send": "deliver email forward mail message post send share submit",
    "run": "call execute invoke launch perform run start trigger",
    "stop": "abort end halt kill quit stop terminate",
    "calculate": "calculate compute count determine estimate evaluate measure",
    "convert": "convert transform translate",
    "check": "check confirm test validate verify",
    "enable": "activate enable",
    "disable": "deactivate disable",
    "pause": "freeze pause suspend",
    "resume": "resume unfreeze unpause",
    "approve": "accept allow approve authorize",
    "reject": "decline deny dismiss reject",
    "restore": "recover restore unarchive undelete",
    "assign": "allocate assign",
    "move": "move relocate transfer",
    "copy": "clone copy duplicate",
    "upload": "attach upload",
    "download": "download export",
    "grant": "grant invite",
    "follow": "follow subscribe watch",
    "unfollow": "unfollow unsubscribe unwatch",
    "close": "close complete finalize finish resolve",
    "reply": "answer comment reply respond",
    "schedule": "book plan reserve schedule",
    "buy": "buy order place purchase",
    "pay": "charge pay",
    "rate": "rate upvote vote",
    "block": "ban block restrict",
    "unblock": "unban unblock",
    "deploy": "deploy publish release",
    "generate": "draw generate produce render",
    "rerun": "redo repeat rerun retry",
    "restart": "reboot restart",
}
"""Verbs that people use for one another."""
OPPOSITES = word_set(
    """
    accept-decline activate-deactivate add-delete add-remove approve-reject archive-restore
    attach-detach ban-unban close-open close-reopen connect-disconnect create-delete create-remove
    decrease-increase decrypt-encrypt disable-enable download-upload export-import grant-revoke
    hide-show install-uninstall join-leave lock-unlock login-logout merge-split pause-resume
    pull-push read-write receive-send start-stop
    """
)
"""Pairs of verbs, in the order of the alphabet. Pairs with "un", "de" or "dis" need no entry."""
EFFECTS = {
    "read": """
        access ask assess audit browse chart check collect compare count crawl debug describe diff
        discover display download enumerate examine explain explore export extract fetch filter
        find get give grep identify inspect list listen locate look lookup monitor obtain outline
        ping poll preview print query read recall retrieve return review sample scan search see
        select show stream tail tell test trace track traverse verify view visualise visualize watch
    """,
    "compute": """
        aggregate analyse analyze calculate categorize classify cluster compute convert decode
        decrypt derive detect determine diagnose encode estimate evaluate forecast format geocode
        guess hash infer interpret match measure parse predict rank recognise recognize recommend
        score segment simulate solve sort suggest sum summarise summarize transcribe transform
        translate validate
    """,
    "create": """
        add append attach book build buy clone comment compose construct copy create donate draft
        draw duplicate email establish file fork generate import insert introduce invite issue mail
        make message open order place post produce provision publish purchase register reply
        reserve respond schedule send submit upload upsert write
    """,
    "update": """
        adjust alter annotate assign change configure correct customise customize edit extend fix
        label map mark modify move overwrite patch redact rename reorder replace reschedule reset
        resize revise rewrite set specify switch tag toggle transfer turn update upgrade upsert
    """,
    "delete": """
        cancel clear delete deregister destroy detach disassociate discard disconnect dismiss
        dissociate drop erase forget kick kill prune purge remove revoke trash unassign unfollow
        uninstall unlink unpin unpublish unregister unschedule unstar unsubscribe untag wipe
        withdraw
    """,
    "act": """
        abort accept activate approve archive authorize ban block close complete confirm deactivate
        decline deploy disable enable end execute finish follow freeze grant hide join launch leave
        lock login logout merge mute pause pin promote reboot rebuild reject release reopen
        rerun resolve restart restore resume retry rollback rotate run share shut silence skip star
        start stop subscribe suspend sync terminate trigger unarchive unblock undelete undo unfreeze
        unhide unlock unmute unpause vote upvote
    """,
}
"""Verbs by what they do to data; "act" changes a state. Others say nothing about it."""


@cache
def family_of(verb: str) -> str:
    """Return the name of a verb's family; a verb without one is its own."""
    return _families().get(verb, verb)


@cache
def _families() -> dict[str, str]:
    return {verb: name for name, text in FAMILIES.items() for verb in text.split()}


@cache
def effect_of(verb: str) -> str:
    """Return what a verb does to data; empty if it does not say."""
    return next((name for name, text in EFFECTS.items() if verb in text.split()), "")


def are_opposite(verb: str, other: str) -> bool:
    """Whether one verb undoes the other: `pin` and `unpin`, `grant` and `revoke`."""
    first, second = sorted((verb, other), key=lambda each: (len(each), each))
    undone = second in (f"un{first}", f"de{first}", f"dis{first}")
    return undone or "-".join(sorted((verb, other))) in OPPOSITES


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


def verb_form(word: str) -> str:
    """`creates`, `creating` and `created` as `create`; empty if the word is no known verb."""
    if word in VERBS:
        return word
    found = third_person(word) or base_of_gerund(word)
    if not found and word.endswith("d"):
        found = next((each for each in (word[:-1], word[:-2]) if each in VERBS), "")
    return found


def named_verb(said: Sequence[str]) -> str:
    """Return the verb in the words of a tool's name; empty if there is none.

    It is the first that is no noun as well (`write` in `issue_write`), or else the first verb.
    """
    verbs = [word for word in said if word in VERBS]
    found = next((word for word in verbs if word not in NOUNS), next(iter(verbs), ""))
    return found or (verb_form(said[0]) if said else "")


def leading_verb(said: Sequence[str]) -> str:
    """The verb that a title begins with, among its first two words."""
    return next(filter(None, (verb_form(word) for word in said[:2])), "")
