#!/usr/bin/env python3
"""The commands of docs/backup.md, on real servers: what was answered before the backup is replayed
after the restore, and what came after the backup runs again, as the page says.

usage: backup_test.py SEMEL ROOT
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from urllib.parse import urlparse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "operations"))
from page import Run, blocks_of, free_port
from trial_support import Bank, call

SEMEL = ROOT = ""

SECRETIVE = """
[store]
url = "sqlite:orders.db"
encryption_keys = ["2026 file:2026.key"]
[tenants]
source = "tokens"
tokens = "tokens.txt"
[gateway]
upstream = "http://127.0.0.1:3000"
principal_secret = "file:principal.key"
[[route]]
operation = "PAY"
principal = ["Authorization"]
"""


def section(name):
    """The commands of one section of the page."""
    found = [block for block in blocks_of(os.path.join(ROOT, "docs/backup.md"))
             if block.section == name]
    assert found, f"no commands below {name}"
    return found


class Gateway:
    """`semel gateway` on a store, as it runs before and after a restore."""

    def __init__(self, store, bank, folder):
        subprocess.run([SEMEL, "migrate", "--store", store], check=False, capture_output=True)
        self.errors = open(os.path.join(folder, "gateway.log"), "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [SEMEL, "gateway", "--listen", "127.0.0.1:0", "--store", store, "--upstream",
             f"http://127.0.0.1:{bank.port}", "--single-tenant", "--principal", "shared",
             "--route", "PAY=POST:/payments", "--forward-key", "child"],
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        self.url = re.search(r"listening on (http://[^,\s]+)", line).group(1)

    def pay(self, key):
        return call(self.url + "/payments", {"amount": 3},
                    headers={"Idempotency-Key": key, "Host": "shop"})

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
            self.errors.close()


class Backup(unittest.TestCase):
    def setUp(self):
        self.bank = Bank()
        self.addCleanup(self.bank.close)
        self.run = Run(SEMEL)
        self.addCleanup(self.run.close)

    def commands(self, blocks, **variables):
        self.run.env.update(variables)
        wrong = self.run.run(blocks)
        self.assertEqual(wrong, "", wrong)

    def gateway(self, store):
        gateway = Gateway(store, self.bank, self.run.folder)
        self.addCleanup(gateway.close)
        return gateway

    def fence_of(self, store, key):
        shown = subprocess.run([SEMEL, "records", "show", "main", "PAY", key, "--store", store,
                                "--json"], check=True, capture_output=True, text=True).stdout
        return json.loads(shown)["fence"]

    def check_round(self, store, restored, backup, restore, **variables):
        """Pays twice, once before the backup and once after it. Restores, and pays both again."""
        before = self.gateway(store)
        first = before.pay("before")
        self.commands(backup, **variables)
        lost = before.pay("after")
        newest = self.fence_of(store, "after")
        before.close()

        self.commands(restore, **variables)
        after = self.gateway(restored)
        replay, again = after.pay("before"), after.pay("after")

        self.assertEqual((first.status, lost.status), (201, 201))
        self.assertEqual((replay.status, replay.body), (201, first.body))
        self.assertEqual(replay.headers["Idempotent-Replayed"], "true")
        # The page's warning: the effect takes place again, under the same child key.
        self.assertEqual(again.status, 201)
        self.assertNotIn("Idempotent-Replayed", again.headers)
        self.assertEqual(self.bank.count, 3)
        self.assertEqual(sorted(len(paid) for paid in self.bank.paid.values()), [1, 2])
        self.assertGreater(self.fence_of(restored, "after"), newest)

    def test_sqlite(self):
        file = self.run.path("orders.db")
        backup, restore = section("SQLite")
        self.check_round(f"sqlite:{file}", f"sqlite:{file}", [backup], [restore], FILE=file)

    def test_postgres(self):
        server = urlparse(os.environ["SEMEL_TEST_POSTGRES"])
        name = f"backup_{os.getpid()}"
        at = {database: server._replace(path="/" + database).geturl()
              for database in (name, name + "_restored")}

        def sql(text):
            subprocess.run(["psql", "-q", server.geturl(), "-c", text], check=True)

        sql(f"CREATE DATABASE {name}")
        for database in at:
            self.addCleanup(sql, f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
        backup, restore = section("PostgreSQL")
        restore.text = restore.text.replace("shop_restored", name + "_restored")
        self.check_round(at[name], at[name + "_restored"], [backup], [restore], STORE=at[name],
                         SERVER=server.geturl(), EMPTY=at[name + "_restored"])

    def check_mysql(self, url):
        server = urlparse(url)
        name = f"backup_{os.getpid()}"
        options = f"-h {server.hostname} -P {server.port} -u {server.username} -p{server.password}"
        at = {database: server._replace(path="/" + database).geturl()
              for database in (name, name + "_restored")}

        def sql(text):
            subprocess.run(["mariadb", *options.split(), "-e", text], check=True)

        sql(f"CREATE DATABASE {name}")
        for database in at:
            self.addCleanup(sql, f"DROP DATABASE IF EXISTS {database}")
        backup, restore = section("MariaDB and MySQL")
        restore.text = restore.text.replace("shop_restored", name + "_restored")
        self.check_round(at[name], at[name + "_restored"], [backup], [restore], OPTIONS=options,
                         DATABASE=name, EMPTY=at[name + "_restored"])

    def test_mariadb(self):
        self.check_mysql(os.environ["SEMEL_TEST_MARIADB"])

    @unittest.skipUnless("SEMEL_TEST_MYSQL" in os.environ, "no MySQL: tools/setup servers")
    def test_mysql(self):
        self.check_mysql(os.environ["SEMEL_TEST_MYSQL"])

    def redis(self):
        """A server of this test's own: a backup is of all that a server holds."""
        port, folder = str(free_port()), self.run.path("redis")
        os.mkdir(folder)
        server = subprocess.Popen(
            ["redis-server", "--dir", folder, "--port", port, "--bind", "127.0.0.1", "--save", "",
             "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"],
            stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        subprocess.run(f"until redis-cli -p {port} ping; do sleep 0.1; done", shell=True,
                       check=True, timeout=60, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return f"redis://127.0.0.1:{port}"

    def test_redis(self):
        store, port, folder = self.redis(), str(free_port()), self.run.path("restored")
        os.mkdir(folder)
        backup, restore = section("Redis")
        restore.text = restore.text.replace("redis-server", "redis-server --bind 127.0.0.1")
        self.check_round(store, f"redis://127.0.0.1:{port}", [backup], [restore], STORE=store,
                         FOLDER=folder, PORT=port)

    def test_redis_in_front(self):
        front, file = self.redis(), self.run.path("orders.db")
        tiered = f"tiered:?front={front}&truth=sqlite:{file}"
        backup, restore = section("SQLite")
        empty_front = section("Redis in front of a database")
        self.check_round(tiered, tiered, [backup], [restore, *empty_front], FILE=file, FRONT=front)

    def test_configuration_tokens_and_keys(self):
        with open(self.run.path("semel.toml"), "w", encoding="utf-8") as file:
            file.write(SECRETIVE)
        for key in ("2026.key", "principal.key"):
            with open(self.run.path(key), "w", encoding="utf-8") as file:
                file.write(os.urandom(32).hex())
            os.chmod(self.run.path(key), 0o600)
        subprocess.run([SEMEL, "token", "new", "--tenant", "acme"], cwd=self.run.folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pack, unpack = section("Configuration, tokens and keys")
        self.commands([pack])
        files = ("semel.toml", "tokens.txt", "2026.key", "principal.key")
        kept = {name: self.run.read(name) for name in files}
        for name in files:
            os.remove(self.run.path(name))

        self.commands([unpack])

        self.assertEqual({name: self.run.read(name) for name in files}, kept)
        self.assertEqual(os.stat(self.run.path("tokens.txt")).st_mode & 0o777, 0o600)

    def test_the_last_steps(self):
        store = "sqlite:" + self.run.path("orders.db")
        gateway = self.gateway(store)
        gateway.pay("newer")
        gateway.close()
        shutil.copy(self.run.path("orders.db"), self.run.path("semel.db"))
        with open(self.run.path("semel.toml"), "w", encoding="utf-8") as file:
            file.write('[tenants]\nsource = "single"\nname = "main"\n[gateway]\n'
                       'upstream = "http://127.0.0.1:3000"\n')
        self.commands(section("Restore, step by step"), DAMAGED=store)
        self.assertIn('"key":"newer"', self.run.read("newer.jsonl"))


if __name__ == "__main__":
    SEMEL, ROOT = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
