#!/usr/bin/env python3
"""Each case of the model holds for a history that is as it should be, and breaks for one that is
not."""

import sys
import unittest

sys.dont_write_bytecode = True  # nothing is left beside the sources
import model

BODY = '{"effect": 1}'


def answer(at, status=201, **more):
    told = {201: "", 422: "mismatch", 504: "outcome-unknown", 409: "in-progress", None: "broken"}
    return {"what": "answer", "key": "k", "route": "retry", "gateway": 0, "content": 0,
            "prefer": None, "phase": "faults", "at": at, "until": at + 0.1, "status": status,
            "problem": told[status], "replayed": status == 201,
            "body": BODY if status == 201 else "", **more}


def attempt(number, at, *, how="answered", effect=True, gateway=0, content=0, body=BODY):
    order = {"attempt": number, "key": "k"}
    return ([{"what": "received", "at": at, "content": content, "gateway": gateway, "step": "ok",
              **order}]
            + [{"what": "effect", "at": at, "content": content, "effect": number, "body": body,
                **order}] * effect
            + [{"what": "ended", "at": at + 0.05, "how": how, **order}])


def fault(kind, target, at, until=None):
    return {"what": "fault", "kind": kind, "target": target, "at": at, "until": until or at}


def last(**more):
    return [answer(at, phase="last", gateway=gateway, **more) for gateway, at in
            ((1, 100), (0, 101))]


def first(**more):
    return answer(10, replayed=False, **more)


GOOD = [first(), *attempt(1, 10.02), answer(11), answer(12, 422, content=1), *last()]


def on_route(route, events):
    return [dict(one, route=route) if one["what"] == "answer" else one for one in events]


OTHER = '{"effect": 2}'
TWICE = [*GOOD, *attempt(2, 20, body=OTHER)]

# By case: a history that breaks it.
BAD = {
    "OneBodyPerKey": [*TWICE, answer(20, body=OTHER)],
    "EveryBodyWasMadeForThatContent": [*GOOD, answer(9, body="made by no attempt")],
    "HoldTakesEffectAtMostOnce": on_route("hold", TWICE),
    "ProbeTakesEffectOnceAndAfterNotExecuted": on_route("probe", TWICE),
    "RetryRepeatsAnEffectOnlyAfterALoss": TWICE,
    "ExecutedIsSaidOnce": [*GOOD, answer(10.01, replayed=False)],
    "EqualContentIsNeverRefused": [*GOOD, answer(13, 422)],
    "OtherContentIsNeverAnswered": [*GOOD, answer(13, content=1)],
    "AnAnswerStays": [*TWICE, answer(20, body=OTHER)],
    "AnAnswerLeavesNoDoubt": [*GOOD, answer(13, 504)],
    "FinishedWorkIsNeverInProgress": [*GOOD, answer(13, 409)],
    "AnotherBodyIsNeverInProgress": [*GOOD, answer(10.05, 409, content=1)],
    "EveryKeyEnds": [first(), *attempt(1, 10.02), answer(90, None, phase="end")],
    "BothGatewaysReplayInTheEnd": [first(), *attempt(1, 10.02), *last(replayed=False)],
    "EveryAnswerIsInTheDocuments": [*GOOD, answer(9, None, problem="no-answer")],
    "GatewaysEndOnlyWhenAsked": [
        *GOOD, {"what": "gateway ended", "at": 30, "gateway": 1, "code": -6}],
    "TheRunHasSeenWhatItIsFor": GOOD,
}


def broken(events, store="postgres"):
    found = model.judge(model.History(store, events))
    return {name for name, violations in found.items() if violations}


class Model(unittest.TestCase):
    def test_what_is_right_holds(self):
        self.assertEqual(broken(GOOD), {"TheRunHasSeenWhatItIsFor"})

    def test_every_case_can_break(self):
        self.assertEqual(set(BAD), set(model.CASES))
        for name, events in BAD.items():
            self.assertIn(name, broken(events), name)

    def excused(self, faults, *, start=10.02, again=12.5, how="answered", store="postgres"):
        found = broken([first(), *attempt(1, start, how=how), *attempt(2, again, body=OTHER),
                        *faults, *last()], store)
        return "RetryRepeatsAnEffectOnlyAfterALoss" not in found

    def test_a_dropped_answer_excuses_a_repeat(self):
        self.assertTrue(self.excused([], how="dropped"))
        self.assertFalse(self.excused([]))

    def test_a_lost_lease_excuses_a_repeat_after_its_time(self):
        killed = [fault("kill", "g0", 10.03, 11)]
        self.assertTrue(self.excused(killed))
        self.assertFalse(self.excused(killed, again=11))
        self.assertFalse(self.excused([fault("kill", "g1", 10.03, 11)]))
        self.assertFalse(self.excused([fault("kill", "g0", 8, 9.5)]))

    def test_a_pause_before_the_first_byte_is_a_part_of_the_lease(self):
        self.assertTrue(self.excused([fault("stop", "g0", 8.5, 10)], again=11))
        self.assertFalse(self.excused([fault("stop", "g0", 10.6, 13)], again=11))

    def test_a_store_that_is_away_excuses_and_its_front_does_not(self):
        self.assertTrue(self.excused([fault("cut", "postgres", 10.03, 10.4)]))
        self.assertFalse(self.excused([fault("kill", "redis", 10.03, 10.4)], store="tiered"))

    def test_only_the_clock_of_the_store_ends_a_lease(self):
        step = [fault("step forward", "clock", 10.04)]
        self.assertTrue(self.excused(step, again=10.2))
        self.assertFalse(self.excused(step, store="mariadb"))

    def test_only_the_gate_of_a_tiered_store_may_be_behind(self):
        killed = [*GOOD, fault("kill", "g0", 10.03, 11), answer(13, 409)]
        self.assertIn("FinishedWorkIsNeverInProgress", broken(killed))
        self.assertNotIn("FinishedWorkIsNeverInProgress", broken(killed, "tiered"))
        self.assertIn("FinishedWorkIsNeverInProgress",
                      broken([*killed, answer(35, 409)], "tiered"))

    def test_only_who_does_not_wait_takes_a_late_word(self):
        late = attempt(1, 9)[:2] + [dict(attempt(1, 9)[2], at=12)]
        stepped = [*GOOD, *late, fault("step forward", "clock", 10.4)]
        word = dict(answer(11, 409), prefer="wait=0")
        name = "FinishedWorkIsNeverInProgress"
        self.assertNotIn(name, broken([*stepped, word]))
        self.assertIn(name, broken([*GOOD, word]))
        self.assertNotIn(name, broken([*GOOD, dict(word, at=10.3, until=10.31)]))
        self.assertIn(name, broken([*stepped, answer(11, 409)]))
        self.assertIn(name, broken([*stepped, dict(word, gateway=1)]))
        self.assertIn(name, broken([*stepped, dict(word, at=11.8)]))


if __name__ == "__main__":
    unittest.main()
