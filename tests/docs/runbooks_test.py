#!/usr/bin/env python3
"""docs/runbooks.md has a section for each alert, and its commands do what it says, against a semel
that is in the trouble which the page is about.

usage: runbooks_test.py SEMEL ROOT
"""

import os
import re
import subprocess
import sys
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlparse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "operations"))
from page import Run, blocks_of
from trial_support import Bank, call, eventually

SEMEL = ROOT = ""

CONFIGURATION = """
[server]
listen = "127.0.0.1:7070"
admin_listen = "127.0.0.1:7071"
[store]
url = "{store}"
[tenants]
source = "single"
name = "acme"
tokens = "tokens.txt"
[gateway]
upstream = "{bank}"
[log]
format = "json"
level = "debug"
[reconcile]
every = "200ms"
alert_after = "500ms"
[[route]]
operation = "PAY"
path = "/payments"
key = "required"
principal = "shared"
lease = "1s"
wait = "0s"
on_lease_expiry = "hold"
[[route]]
operation = "ORDER_CREATE"
path = "/orders"
key = "required"
principal = "shared"
lease = "1s"
[[relay]]
sink = "{sink}"
attempts_max = 4
retry_first = "10ms"
"""

def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def alerts():
    """The text of each alert in the rules, by its name."""
    found = {}
    for text in re.split(r"^\s+- alert: ", read("deploy/prometheus/semel.rules.yml"),
                         flags=re.MULTILINE)[1:]:
        found[text.split("\n", 1)[0].strip()] = text
    return found


class Page(unittest.TestCase):
    def test_each_alert_has_a_section_that_the_rule_names(self):
        self.assertGreater(len(alerts()), 8)
        for name, rule in alerts().items():
            self.assertIn(f"\n## {name}\n", read("docs/runbooks.md"))
            self.assertIn(f'runbook_url: "docs/runbooks.md#{name.lower()}"', rule)

    def test_each_section_of_an_alert_says_what_to_do_and_when_it_is_over(self):
        sections = re.split(r"^## ", read("docs/runbooks.md"), flags=re.MULTILINE)
        for section in sections:
            if section.startswith("Semel"):
                for part in ("**It means.**", "**See it.**", "**Do.**", "**It is over**"):
                    self.assertIn(part, section, section[:40])


class Sink(ThreadingHTTPServer):
    """An endpoint that takes no event."""

    daemon_threads = True

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_error(503)

        def log_message(self, *args):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Sink.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Stage:
    """A semel on PostgreSQL, with work whose owner has gone and an event that no sink takes."""

    def __init__(self):
        self.bank, self.sink = Bank(), Sink()
        self.server = urlparse(os.environ["SEMEL_TEST_POSTGRES"])
        self.database = f"runbooks_{os.getpid()}"
        self.sql(self.server, f"CREATE DATABASE {self.database}")
        self.shop = self.server._replace(path="/" + self.database)
        self.run = Run(SEMEL, {"POSTGRES": self.shop.geturl(), "MYSQL_OPTIONS": mysql_options(),
                               "REDIS": os.environ["SEMEL_TEST_REDIS"]})
        self.process = self.log = None
        text = self.run.ports.put_into(CONFIGURATION)
        with open(self.run.path("semel.toml"), "w", encoding="utf-8") as file:
            file.write(text.format(store=self.shop.geturl(),
                                   bank=f"http://127.0.0.1:{self.bank.port}",
                                   sink=f"http://127.0.0.1:{self.sink.server_address[1]}/events"))

    def close(self):
        if self.process:
            self.kill()
        self.run.close()
        self.sql(self.server, f"DROP DATABASE {self.database} WITH (FORCE)")
        self.bank.close()
        self.sink.shutdown()
        self.sink.server_close()

    def sql(self, where, text):
        subprocess.run(["psql", "-q", where.geturl(), "-c", text], check=True)

    def tool(self, *arguments):
        done = subprocess.run([SEMEL, *arguments], cwd=self.run.folder, env=self.run.env,
                              check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self):
        self.log = open(self.run.path("semel.log"), "a", encoding="utf-8")
        self.process = subprocess.Popen([SEMEL, "serve"], cwd=self.run.folder, stderr=self.log,
                                        stdout=subprocess.DEVNULL)
        assert eventually(self.is_ready), self.run.read("semel.log")

    def is_ready(self):
        try:
            return call(f"http://127.0.0.1:{self.run.ports.of('7071')}/ready").status == 200
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.process = None

    def pay(self, key, amount=3):
        return call(f"http://127.0.0.1:{self.run.ports.of('7070')}/payments", {"amount": amount},
                    headers={"Idempotency-Key": key})

    def pay_until_killed(self, key):
        try:
            self.pay(key)
        except OSError:
            pass

    def lose_the_owners(self, *keys):
        """The payments take place, and nothing is left that knows."""
        self.bank.hang = True
        for key in keys:
            threading.Thread(target=self.pay_until_killed, args=(key,), daemon=True).start()
        assert eventually(lambda: self.bank.count == len(keys))
        self.kill()
        self.bank.hang = False

    def make_tokens(self):
        def make(tenant, scope):
            return self.tool("token", "new", "--tenant", tenant, "--scope", scope).strip()

        self.run.env["TOKEN"] = make("acme", "read")
        make("old", "use")
        self.run.env["OLD_TOKEN_ID"] = next(
            line.split()[0] for line in self.tool("token", "list").splitlines() if " old " in line)

    def add_event(self):
        self.sql(self.shop, "INSERT INTO semel_outbox (shard_id, event_id, topic, message_key, "
                 "payload, created_at, updated_at) "
                 "VALUES (0, '01J9Z3K8V6N5W4X3Y2Z1A0B9C8', 'orders', 'k', 'x', 1, 1)")


def mysql_options():
    at = urlparse(os.environ["SEMEL_TEST_MARIADB"])
    return f"-h {at.hostname} -P {at.port} -u {at.username} -p{at.password}"


class Commands(unittest.TestCase):
    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)
        self.stage.tool("migrate")
        self.stage.make_tokens()
        self.stage.start()

    def test_all_of_them_in_the_trouble_that_they_are_for(self):
        stage = self.stage
        stage.lose_the_owners("order-4711", "order-4712", "order-4713")
        stage.add_event()
        stage.start()
        self.assertTrue(eventually(lambda: "in doubt" in stage.tool(
            "records", "list", "--key", "order-4713", "--state", "in-doubt")))
        stage.tool("records", "resolve", "acme", "PAY", "order-4713", "--as", "not-executed",
                   "--reason", "not on the statement", "--yes")
        for amount in (3, 3, 4):
            stage.pay("order-4714", amount)
        self.assertTrue(eventually(lambda: "503" in stage.tool("outbox", "list",
                                                               "--status", "dead")))

        wrong = stage.run.run(blocks_of(os.path.join(ROOT, "docs/runbooks.md")))
        self.assertEqual(wrong, "", wrong)

        self.assertEqual(stage.pay("order-4711").body, b'{"payment": "tx_9"}')
        self.assertEqual(stage.pay("order-4713").body, b'{"payment": "tx_8"}')
        before = stage.bank.count
        self.assertEqual(stage.pay("order-4712").status, 201)
        self.assertEqual(stage.pay("order-4714", 5).status, 201)
        self.assertEqual(stage.bank.count, before + 2)
        self.assertNotIn(" old ", stage.tool("token", "list"))
        shown = stage.run.read(".out.0")
        self.assertIn("in doubt", shown)


if __name__ == "__main__":
    SEMEL, ROOT = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
