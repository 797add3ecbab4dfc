#!/usr/bin/env python3
"""A payment whose owner is killed after the effect, settled by the reconciler or by an operator,
with real processes: semel, a bank behind it, a webhook.

usage: operations_trial.py SEMEL
"""

import hashlib
import hmac
import json
import sys
import tempfile
import threading
import time
import unittest

from trial_support import Bank, Serve, Webhook, eventually

SEMEL = ""
SIGNED = ("Semel-Timestamp", "Idempotency-Key", "Semel-Topic", "Semel-Key", "Content-Type")


# As docs/messaging.md has it for receivers.
def genuine(headers, body, secret):
    text = "\n".join(["v2", *(headers.get(name, "") for name in SIGNED)]).encode("latin-1")
    digest = hmac.new(secret, text + b"\n" + body, hashlib.sha256).hexdigest()
    given = headers.get("Semel-Signature-V2", "").split(",")
    fresh = abs(time.time() - int(headers.get("Semel-Timestamp", "0"))) < 300
    return fresh and any([hmac.compare_digest(one, "v2=" + digest) for one in given])


class Trial(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="semel-operations-")
        self.bank, self.webhook = Bank(), Webhook()
        self.semel = None

    def tearDown(self):
        if self.semel:
            self.semel.close()
        self.bank.close()
        self.webhook.close()
        self.folder.cleanup()

    def serve(self, policy, **more):
        self.semel = Serve(SEMEL, self.folder.name, self.bank, policy, self.webhook, **more)

    def kill_the_owner_after_the_effect(self, key):
        self.bank.hang = True
        client = threading.Thread(target=self.pay_in_vain, args=(key,), daemon=True)
        client.start()
        self.assertTrue(self.bank.effect.wait(60))
        self.semel.kill()
        client.join(60)
        self.bank.hang = False
        self.semel.start()

    def pay_in_vain(self, key):
        try:
            self.semel.pay(key)
        except OSError:  # its gateway was killed
            pass

    def audit(self, key):
        return json.loads(self.semel.tool("records", "show", "acme", "PAY", key, "--json").stdout)

    def test_the_reconciler_asks_the_bank_and_the_retry_replays_its_answer(self):
        self.serve("probe")
        self.kill_the_owner_after_the_effect("p-1")

        self.assertTrue(eventually(
            lambda: 'semel_reconciler_verdicts_total{verdict="committed"} 1' in
            self.semel.metrics()), self.semel.log())
        retry = self.semel.pay("p-1")

        self.assertEqual(retry.status, 201)
        self.assertEqual(retry.headers["Idempotent-Replayed"], "true")
        self.assertEqual(json.loads(retry.body), {"payment": "tx_1"})
        self.assertEqual(self.bank.paid, {"p-1": ["tx_1"]})
        self.assertEqual(self.bank.probes, ["p-1"])
        shown = self.audit("p-1")
        self.assertEqual([(one["act"], one["actor"], one["from"], one["to"])
                          for one in shown["audit"]],
                         [("resolve: committed", "reconciler", "processing", "succeeded")])
        self.assertEqual(shown["result"]["status"], 201)

    def test_one_look_of_the_tool_settles_as_well(self):
        self.serve("probe")
        with open(self.semel.file, encoding="utf-8") as file:
            text = file.read().replace("[reconcile]\n", "[reconcile]\nenabled = false\n")
        with open(self.semel.file, "w", encoding="utf-8") as file:
            file.write(text)
        self.kill_the_owner_after_the_effect("p-2")

        def committed():
            did = json.loads(self.semel.tool("reconcile", "--once", "--json").stdout)
            return did["committed"]
        self.assertEqual(eventually(committed), 1)

        self.assertEqual(self.semel.pay("p-2").headers["Idempotent-Replayed"], "true")
        self.assertEqual(self.bank.paid, {"p-2": ["tx_1"]})

    def test_a_held_payment_waits_for_an_operator(self):
        self.serve("hold")
        self.kill_the_owner_after_the_effect("p-3")

        self.assertTrue(eventually(lambda: self.webhook.got))
        alert = json.loads(self.webhook.got[0])
        self.assertEqual((alert["alert"], alert["operation"], alert["count"]), ("stuck", "PAY", 1))
        self.assertNotIn("p-3", self.webhook.got[0])
        self.assertEqual(alert["tenant"], "acme")
        self.assertRegex(alert["key"], "^[0-9a-f]{8,}$")
        self.assertEqual(alert["link"], "https://semel.internal/ops/#/lapsed")
        self.assertRegex(alert["summary"], r"^1 record of PAY is stuck, for \d+ s$")
        headers = self.webhook.headers[0]
        self.assertTrue(genuine(headers, self.webhook.got[0].encode(), b"known to both sides"))
        self.assertFalse(genuine(headers, self.webhook.got[0].encode(), b"another secret"))
        self.assertEqual(headers["Semel-Topic"], "semel.alert")
        self.assertEqual(self.semel.pay("p-3").status, 409)
        listed = self.semel.tool("records", "list", "--state", "in-doubt")
        self.assertRegex(listed.stdout, r"acme +PAY +p-3 +processing .* in doubt")

        refused = self.semel.tool("records", "resolve", "acme", "PAY", "p-3", "--as", "committed",
                                  "--reason", "r", check=False)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""), "nobody said yes")
        done = self.semel.tool("records", "resolve", "acme", "PAY", "p-3", "--as", "committed",
                               "--status", "201", "--body", '{"payment": "tx_1"}',
                               "--reason", "the bank's statement", "--actor", "olga", "--yes")
        self.assertEqual(done.stdout, "settled: committed\n")
        retry = self.semel.pay("p-3")

        self.assertEqual((retry.status, retry.headers["Idempotent-Replayed"]), (201, "true"))
        self.assertEqual(json.loads(retry.body), {"payment": "tx_1"})
        self.assertEqual(self.bank.paid, {"p-3": ["tx_1"]})
        trail = self.audit("p-3")["audit"]
        self.assertEqual([(one["actor"], one["reason"]) for one in trail],
                         [("olga", "the bank's statement")])

    def test_a_retry_storm_is_told_and_its_end_too(self):
        self.serve("hold")
        for _ in range(60):
            self.semel.pay("again")
        self.assertTrue(eventually(
            lambda: any('"retry_storm","state":"firing"' in one for one in self.webhook.got)))

        for i in range(60):
            self.semel.pay(f"new-{i}")
        self.assertTrue(eventually(
            lambda: any('"retry_storm","state":"resolved"' in one for one in self.webhook.got)))
        self.assertIn("semel_alerts_sent_total", self.semel.metrics())

    def test_logs_have_the_trace_and_no_key(self):
        self.serve("hold")
        trace = "0af7651916cd43dd8448eb211c80319c"
        self.semel.pay("a-secret-key", headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"})

        self.assertTrue(eventually(lambda: trace in self.semel.log()))
        self.assertNotIn("a-secret-key", self.semel.log())
        line = next(json.loads(one) for one in self.semel.log().splitlines() if trace in one)
        self.assertEqual((line["fields"]["operation"], line["fields"]["status"]), ("PAY", 201))


if __name__ == "__main__":
    SEMEL = sys.argv.pop(1)
    unittest.main(verbosity=2)
