#!/usr/bin/env python3
"""What docs/runbooks.md says about a failover of PostgreSQL: with a synchronous standby and both
servers in the URL, requests are refused without an effect until the standby is promoted, then go on
without a restart, and what was answered before is replayed.

usage: failover_test.py SEMEL
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "operations"))
from page import free_port
from trial_support import Bank, call, eventually

SEMEL = ""
BIN = max(glob.glob("/usr/lib/postgresql/*/bin"), default="")


def as_postgres(*command, **more):
    """PostgreSQL refuses to run as root."""
    become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
    return subprocess.run([*(become if os.geteuid() == 0 else []), *command], check=True,
                          cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


class Server:
    def __init__(self, folder):
        self.folder, self.port = folder, free_port()

    def start(self, *settings):
        more = " ".join(f"-c {one}" for one in settings)
        as_postgres(f"{BIN}/pg_ctl", "-D", self.folder, "-l", self.folder + ".log", "-w", "-o",
                    f"-p {self.port} -c listen_addresses=127.0.0.1 "
                    f"-c unix_socket_directories= {more}", "start")

    def sql(self, text, database="postgres"):
        return subprocess.run(["psql", "-qAt", "-h", "127.0.0.1", "-p", str(self.port), "-U",
                               "semel", "-d", database, "-c", text], check=True,
                              capture_output=True, text=True).stdout.strip()

    def ctl(self, *words):
        as_postgres(f"{BIN}/pg_ctl", "-D", self.folder, *words)


@unittest.skipUnless(BIN, "PostgreSQL is not installed: tools/setup servers")
class Failover(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="semel-failover-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.folder)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self.primary = Server(os.path.join(self.folder, "primary"))
        self.standby = Server(os.path.join(self.folder, "standby"))
        as_postgres(f"{BIN}/initdb", "--no-sync", "-D", self.primary.folder, "-U", "semel", "-A",
                    "trust", "-E", "UTF8", "--locale=C.UTF-8")
        with open(self.primary.folder + "/pg_hba.conf", "a", encoding="utf-8") as file:
            file.write("host replication semel 127.0.0.1/32 trust\n")
        self.primary.start()
        self.addCleanup(self.stop, self.primary)
        as_postgres(f"{BIN}/pg_basebackup", "-h", "127.0.0.1", "-p", str(self.primary.port), "-U",
                    "semel", "-D", self.standby.folder, "-R")
        self.standby.start()
        self.addCleanup(self.stop, self.standby)
        self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.sql("SELECT pg_reload_conf()")
        self.assertTrue(eventually(lambda: self.primary.sql(
            "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"))
        self.primary.sql("CREATE DATABASE shop")
        self.bank = Bank()
        self.addCleanup(self.bank.close)

    def stop(self, server):
        try:
            server.ctl("-m", "immediate", "stop")
        except subprocess.CalledProcessError:
            pass  # it was stopped before

    def start_gateway(self):
        store = (f"postgres://semel@127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
                 "/shop?target_session_attrs=read-write")
        subprocess.run([SEMEL, "migrate", "--store", store], check=True, capture_output=True)
        gateway = subprocess.Popen(
            [SEMEL, "gateway", "--listen", "127.0.0.1:0", "--store", store, "--upstream",
             f"http://127.0.0.1:{self.bank.port}", "--single-tenant", "--principal", "shared"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(gateway.communicate)
        self.addCleanup(gateway.kill)
        self.url = re.search(r"(http://127[^,\s]+)", gateway.stdout.readline()).group(1)

    def pay(self, key):
        return call(self.url + "/payments", {"amount": 3}, headers={"Idempotency-Key": key})

    def test_goes_on_with_the_standby_without_a_restart(self):
        self.start_gateway()
        first = self.pay("before")
        self.primary.ctl("-m", "immediate", "stop")
        refused = self.pay("meanwhile")
        self.assertEqual((first.status, refused.status, self.bank.count), (201, 503, 1))

        self.standby.ctl("-w", "promote")

        self.assertTrue(eventually(lambda: self.pay("meanwhile").status == 201))
        replay = self.pay("before")
        self.assertEqual((replay.status, replay.body), (201, first.body))
        self.assertEqual(replay.headers["Idempotent-Replayed"], "true")
        self.assertEqual(self.bank.count, 2)


if __name__ == "__main__":
    SEMEL = sys.argv.pop(1)
    unittest.main(verbosity=2)
