#!/usr/bin/env python3
"""What is shipped for Prometheus and Grafana fits what a running semel says of itself.

usage: monitoring_trial.py SEMEL DEPLOY
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from trial_support import Bank, Serve

SEMEL = DEPLOY = ""


def promtool(*arguments, **more):
    return subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False,
                          **more)


def metric_names(expression):
    """Names of semel's metrics in a PromQL expression."""
    without_strings = re.sub(r'"[^"]*"', '""', expression)
    return set(re.findall(r"\bsemel_\w+", without_strings))


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed: tools/setup test")
class Rules(unittest.TestCase):
    folder = property(lambda self: os.path.join(DEPLOY, "prometheus"))

    def test_the_rules_are_well_formed(self):
        done = promtool("check", "rules", "semel.rules.yml", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_rules_do_what_their_tests_say(self):
        done = promtool("test", "rules", "semel.rules.test.yml", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="semel-monitoring-")
        cls.bank = Bank()
        tokens = os.path.join(cls.folder.name, "tokens.txt")
        subprocess.run([SEMEL, "token", "new", "--tenant", "acme", "--tokens", tokens], check=True,
                       capture_output=True)
        cls.semel = Serve(SEMEL, cls.folder.name, cls.bank, "probe", extra=f"""
[center]
enabled = true
listen = "127.0.0.1:0"

[[relay]]
sink = "file:{cls.folder.name}/events.jsonl"
""", store_extra='cache_bytes = "8MiB"', tenants_extra=f'tokens = "{tokens}"')
        for i in range(3):
            cls.semel.pay("same")
            cls.semel.pay(f"other-{i}")
        cls.semel.pay("same", amount=4)
        cls.page = cls.semel.metrics()

    @classmethod
    def tearDownClass(cls):
        cls.semel.close()
        cls.bank.close()
        cls.folder.cleanup()

    def names(self):
        families = re.findall(r"^# TYPE (\w+) (\w+)$", self.page, re.MULTILINE)
        made = {name for name, _ in families}
        for name, kind in families:
            if kind == "histogram":
                made |= {name + "_bucket", name + "_sum", name + "_count"}
        return made

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed: tools/setup test")
    def test_the_page_is_as_prometheus_wants_it(self):
        done = promtool("check", "metrics", input=self.page)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), self.page)

    def test_there_is_all_that_operators_ask_for(self):
        for line in ('semel_engine_outcomes_total{outcome="executed"} 4',
                     'semel_engine_outcomes_total{outcome="replayed"} 2',
                     'semel_engine_outcomes_total{outcome="mismatch"} 1',
                     "semel_engine_running 0", "semel_engine_waiting 0", "semel_reconciler_stuck 0",
                     "semel_engine_fenced_completions_total 0", "semel_engine_lost_leases_total 0",
                     "semel_store_queued 0", "semel_store_refused_total 0",
                     'semel_reconciler_verdicts_total{verdict="committed"} 0'):
            self.assertIn(line + "\n", self.page)
        self.assertRegex(self.page, r'semel_store_latency_seconds_bucket\{command="begin",le="')

    def test_no_label_names_a_key_or_a_tenant(self):
        labels = set(re.findall(r'[{,](\w+)="', self.page))
        self.assertEqual(labels - {"outcome", "command", "answer", "code", "kind", "listener",
                                   "relay", "verdict", "event", "le"}, set())
        self.assertNotIn("acme", self.page)

    def test_every_metric_of_the_rules_is_there(self):
        with open(os.path.join(DEPLOY, "prometheus", "semel.rules.yml"), encoding="utf-8") as file:
            used = metric_names(re.sub(r"\w+\.rules\S*|name: \w+", "", file.read()))
        self.assertGreater(len(used), 5)
        self.assertEqual(used - self.names(), set())

    def test_every_metric_of_the_dashboard_is_there(self):
        with open(os.path.join(DEPLOY, "grafana", "semel.json"), encoding="utf-8") as file:
            board = json.load(file)
        used = set()
        for panel in board["panels"]:
            for target in panel.get("targets", []):
                names = metric_names(target["expr"])
                self.assertTrue(names, panel["title"])
                used |= names
        for variable in board["templating"]["list"]:
            used |= metric_names(variable["query"])
        self.assertGreater(len(used), 20)
        self.assertEqual(used - self.names(), set())


if __name__ == "__main__":
    SEMEL, DEPLOY = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
