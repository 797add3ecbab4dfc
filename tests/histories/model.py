"""The one model of answers: what the history of each key may be, on every store. A case is a
sentence that holds for all keys, and a function that yields what breaks the sentence."""

import json

from scene import ANSWER_TIMEOUT, LEASE, STORES

# A gateway that the machine keeps waiting renews, stores and connects again a little late.
SLACK = 0.5
LAG = 1.0
# Who does not wait takes the word of a gateway's last poll for so long: docs/guide.md.
POLL = 0.2
# How long the front of a tiered store may take an attempt that has ended for one under way.
GATE_LIFE = 20.0

LAST = ("end", "last")


class KeyHistory:
    """All that happened to one key, in the order of time."""

    def __init__(self, name):
        self.name = name
        self.answers, self.attempts, self.effects, self.probes = [], {}, [], []

    def finish(self):
        self.answers.sort(key=lambda one: one["at"])
        self.good = [one for one in self.answers if one["status"] == 201]
        # Every request that is sent from here on comes after the first answer.
        self.done_at = min((one["until"] for one in self.good), default=float("inf"))
        self.contents = {one["content"] for one in self.answers}
        self.route = self.answers[0]["route"] if self.answers else ""

    def received_content(self, content):
        """From here on there is a record of that content: an attempt has been sent under it."""
        return min((one["at"] for one in self.attempts.values() if one["content"] == content),
                   default=float("inf"))

    def after_done(self):
        return [one for one in self.answers if one["at"] > self.done_at]

    def content(self):
        """Of its record, where anything has been sent under it."""
        first = min(self.attempts.values(), key=lambda one: one["at"], default=None)
        return first["content"] if first else None


class History:
    def __init__(self, store, events):
        self.store = store
        known = STORES[store]
        # Without its front a store is slower, and no more than that.
        self.truth = set(known["servers"][:1])
        told = known["steps"] == "all" or store == "sqlite"
        self.clock = {"clock"} if told else set()
        self.events = sorted(events, key=lambda one: one["at"])
        self.faults = [one for one in self.events if one["what"] == "fault"]
        self.gateway_ends = [one for one in self.events if one["what"] == "gateway ended"]
        self.keys = {}
        for one in self.events:
            if "key" in one:
                self.add(self.keys.setdefault(one["key"], KeyHistory(one["key"])), one)
        for one in self.keys.values():
            one.finish()

    @staticmethod
    def add(key, one):
        what = one["what"]
        if what == "answer":
            key.answers.append(one)
        elif what == "received":
            key.attempts[one["attempt"]] = dict(one, ended=float("inf"), how="running")
        elif what == "ended":
            key.attempts[one["attempt"]].update(ended=one["at"], how=one["how"])
        elif what == "effect":
            key.effects.append(one)
        elif what == "probe":
            key.probes.append(one)

    def is_hit(self, targets, kinds, start, end):
        """A fault of these was under way at some time between."""
        return any(one["target"] in targets and one["kind"] in kinds
                   and one["until"] >= start and one["at"] <= end for one in self.faults)

    # ---- why `retry` may have run a request again
    def excuse(self, first, second):
        """Of an attempt that took effect; None: nothing allows for the second one."""
        gap = second["at"] - first["at"]
        told = ANSWER_TIMEOUT - SLACK if first["step"] == "hang" else 0
        if first["how"] == "dropped" and gap >= told:
            return "upstream dropped"
        # From the claim, which comes before its first byte, until its answer is stored.
        claimed, stored = first["at"] - LEASE, first["ended"] + LAG
        own = {f"g{first['gateway']}"}
        stopped = self.is_hit(own | self.truth | {"machine"}, {"stop"}, claimed, stored)
        stepped = self.is_hit(self.clock, {"step forward"}, claimed, stored)
        away = self.is_hit(self.truth, {"kill", "cut"}, claimed, stored)
        killed = any(one["target"] in own and one["kind"] == "kill"
                     and first["at"] - SLACK <= one["at"] <= stored for one in self.faults)
        if not (stopped or stepped or away or killed):
            return None
        # Only a pause before the first byte, or another time of day, makes a lease seem shorter.
        paused = self.is_hit(own | self.truth | {"machine"}, {"stop"}, claimed, first["at"] + SLACK)
        return "lease lost" if gap >= LEASE - SLACK or paused or stepped else None

    # ---- the gate of a tiered store
    def is_stale_gate(self, key, told):
        """Nobody could take back what the front was told of the attempt: docs/promises.md."""
        if self.store != "tiered" or told["content"] != key.content():
            return False
        start = min(one["at"] for one in key.answers)
        return (told["at"] < key.done_at + GATE_LIFE + LAG
                and any(one["target"] != "postgres" and one["until"] >= start - LAG
                        and one["at"] <= key.done_at + LAG for one in self.faults))

    # ---- callers that do not wait cost no question: docs/guide.md
    def is_late_word(self, key, told):
        """Of the last poll, or of the lease of an own attempt that was taken over when the clock
        was set: the gateway hears of that with its next renewal."""
        if told["prefer"] != "wait=0":
            return False
        if told["until"] <= key.done_at + POLL + SLACK:
            return True
        own = any(one["gateway"] == told["gateway"] and one["content"] == told["content"]
                  and one["at"] <= told["at"] <= one["ended"] for one in key.attempts.values())
        since = told["at"] - LEASE / 3 - SLACK
        return own and self.is_hit(self.clock, {"step forward"}, since, told["at"])


def show(one):
    said = one["problem"] or one["body"][:60]
    return (f"at {one['at']:.3f} g{one['gateway']} content {one['content']} → {one['until']:.3f} "
            f"{one['status'] or 'no status'} {said}{' replayed' if one['replayed'] else ''}")


CASES = {}


def case(function):
    """By the name in the report: `one_body_per_key` is OneBodyPerKey."""
    words = function.__name__.split("_")
    CASES["".join(word[:1].upper() + word[1:] for word in words)] = function
    return function


def every_key(function):
    def all_keys(history):
        for key in history.keys.values():
            for complaint in function(history, key):
                yield key.name, complaint
    all_keys.__name__ = function.__name__
    return all_keys


@case
@every_key
def one_body_per_key(_, key):
    bodies = {one["body"] for one in key.good}
    if len(bodies) > 1:
        yield f"{len(bodies)} bodies: {sorted(bodies)[:3]}"


@case
@every_key
def every_body_was_made_for_that_content(_, key):
    made = {(one["body"], one["content"]) for one in key.effects}
    for one in key.good:
        if (one["body"], one["content"]) not in made:
            yield f"the service has not made it: {show(one)}"


@case
@every_key
def hold_takes_effect_at_most_once(_, key):
    if key.route == "hold" and len(key.effects) > 1:
        yield f"{len(key.effects)} effects"


@case
@every_key
def probe_takes_effect_once_and_after_not_executed(_, key):
    allowed = 1 + sum(one["said"] == "not_executed" for one in key.probes)
    if key.route == "probe" and len(key.effects) > allowed:
        yield f"{len(key.effects)} effects, {allowed} are allowed"


@case
@every_key
def retry_repeats_an_effect_only_after_a_loss(history, key):
    for first, second in repeats_of(key):
        if history.excuse(first, second) is None:
            yield f"attempt {first['attempt']} ({first['step']}) was not lost, {second['attempt']}"


def repeats_of(key):
    """Each two attempts on `retry` that follow each other and took effect."""
    if key.route != "retry":
        return []
    effective = {one["attempt"] for one in key.effects}
    attempts = sorted((one for number, one in key.attempts.items() if number in effective),
                      key=lambda one: one["at"])
    return list(zip(attempts, attempts[1:]))


@case
@every_key
def executed_is_said_once(_, key):
    first = [one for one in key.good if not one["replayed"]]
    if len(first) > 1:
        yield "; ".join(show(one) for one in first[:3])


@case
@every_key
def equal_content_is_never_refused(_, key):
    for one in key.answers:
        if one["status"] != 422:
            continue
        if one["at"] > key.received_content(one["content"]) or len(key.contents) == 1:
            yield show(one)


@case
@every_key
def other_content_is_never_answered(_, key):
    contents = ({one["content"] for one in key.good}
                | {one["content"] for one in key.attempts.values()})
    if len(contents) > 1 and key.good:
        yield f"answered or sent on for contents {sorted(contents)}"


@case
@every_key
def an_answer_stays(_, key):
    for one in key.after_done():
        if one["status"] == 201 and one["body"] != key.good[0]["body"]:
            yield show(one)
        if one["status"] == 201 and not one["replayed"]:
            yield f"executed after its end: {show(one)}"


@case
@every_key
def an_answer_leaves_no_doubt(_, key):
    for one in key.after_done():
        if one["problem"] in ("in-doubt", "outcome-unknown", "failed", "result-not-kept"):
            yield show(one)


@case
@every_key
def finished_work_is_never_in_progress(history, key):
    for one in key.after_done():
        if one["problem"] == "in-progress" and one["content"] == key.content():
            if not (history.is_stale_gate(key, one) or history.is_late_word(key, one)):
                yield show(one)


@case
@every_key
def another_body_is_never_in_progress(_, key):
    for one in key.answers:
        others = [content for content in key.contents if content != one["content"]]
        if one["problem"] == "in-progress" and one["content"] != key.content() and others:
            if one["at"] > key.received_content(others[0]):
                yield show(one)


@case
@every_key
def every_key_ends(_, key):
    ended = [one for one in key.answers if one["phase"] == "last"]
    if len(ended) < 2:
        late = [one for one in key.answers if one["phase"] == "end"]
        yield f"still without an end: {show(late[-1]) if late else 'never asked'}"


@case
@every_key
def both_gateways_replay_in_the_end(_, key):
    last = [one for one in key.answers if one["phase"] == "last"][-2:]
    for one in last:
        doubt = one["problem"] == "in-doubt" and key.route == "hold"
        if not doubt and not (one["status"] == 201 and one["replayed"]):
            yield show(one)
    if len({(one["status"], one["body"] if one["status"] == 201 else "") for one in last}) > 1:
        yield "the gateways do not agree: " + "; ".join(show(one) for one in last)


KNOWN = {"", "in-progress", "mismatch", "in-doubt", "unavailable", "unconfirmed",
         "outcome-unknown", "left", "broken"}


@case
@every_key
def every_answer_is_in_the_documents(_, key):
    for one in key.answers:
        ours = one["status"] in (None, 201, 409, 422, 503, 504)
        gone = one["problem"] == "in-doubt" and key.route == "retry"
        if not ours or gone or one["problem"] not in KNOWN:
            yield show(one)


@case
def gateways_end_only_when_asked(history):
    for one in history.gateway_ends:
        yield f"g{one['gateway']}", f"exit code {one['code']}"


@case
def the_run_has_seen_what_it_is_for(history):
    """Otherwise the other cases hold of nothing."""
    answers = [one for one in history.events if one["what"] == "answer"]
    seen = {"executions": [one for one in answers if one["status"] == 201 and not one["replayed"]],
            "replays": [one for one in answers if one["replayed"]],
            "mismatches": [one for one in answers if one["status"] == 422],
            "keys on every route": {one["route"] for one in answers if one["status"] == 201},
            "kills and stops of gateways": {one["kind"] for one in history.faults
                                            if one["target"] in ("g0", "g1")}}
    # A short run on a busy machine comes to a tenth of what it comes to otherwise.
    least = {"executions": 10, "replays": 20, "mismatches": 1, "keys on every route": 3,
             "kills and stops of gateways": 1}
    for name, of in seen.items():
        if len(of) < least[name]:
            yield "run", f"{len(of)} {name}, {least[name]} are expected"


def judge(history):
    """Violations by case: {name: [(key, complaint)]}."""
    return {name: list(function(history)) for name, function in CASES.items()}


def figures(history):
    """A row of the table in docs/measurements/histories.md."""
    keys = history.keys.values()
    answers = [one for one in history.events if one["what"] == "answer"]
    faults = {}
    for one in history.faults:
        who = "gateways" if one["target"] in ("g0", "g1") else one["target"]
        name = f"{who} {one['kind']}"
        faults[name] = faults.get(name, 0) + 1
    excuses = [history.excuse(*pair) for key in keys for pair in repeats_of(key)]
    return {
        "requests": len(answers), "keys": len(keys),
        "answered 201": sum(one["status"] == 201 for one in answers),
        "replayed": sum(one["replayed"] for one in answers),
        "refused 422": sum(one["status"] == 422 for one in answers),
        "effects": sum(len(key.effects) for key in keys),
        "repeats excused": sum(one is not None for one in excuses),
        "of them after a lost lease": excuses.count("lease lost"),
        "in doubt at the end": sum(bool(key.answers) and
                                   key.answers[-1]["problem"] == "in-doubt" for key in keys),
        "stale gates": sum(history.is_stale_gate(key, one) for key in keys
                           for one in key.after_done() if one["problem"] == "in-progress"),
        "faults": faults,
    }


def lines_of(history, name):
    """The history of one key for a reader: JSON lines, with the faults around it."""
    events = [one for one in history.events if one.get("key") == name]
    if not events:
        return []
    start, end = events[0]["at"] - LEASE, max(one.get("until", one["at"]) for one in events)
    around = [one for one in history.faults if one["until"] >= start and one["at"] <= end]
    return [json.dumps(one) for one in sorted(events + around, key=lambda one: one["at"])]
