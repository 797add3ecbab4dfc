#!/usr/bin/env python3
"""Bodies that are small on the wire and large or slow for a careless parser, sent to every door of
a running `semel serve`: each is answered soon, /health meanwhile, and memory is bounded.

usage: hostile_trial.py SEMEL
"""

import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from urllib.parse import urlparse

from trial_support import Bank, PATIENCE, Serve

SEMEL = ""
MIB = 1 << 20

# Wall times on a machine that may be busy with other things. Before the mending a request took from
# seconds to hours.
ANSWER_SECONDS = 1.0
HEALTH_SECONDS = 0.1


def hostile_texts(size):
    def repeated(begin, unit, end):
        count = (size - len(begin) - len(end)) // len(unit)
        return begin + (unit * count).rstrip(",") + end

    return {
        "objects": repeated("[", "{},", "]"),
        "members": repeated("{", '"i":{},', "}"),
        "arrays": repeated('{"a":[', "[0],", "]}"),
        "numbers": repeated("[", "0,", "]"),
        "depth": "[" * size,
        "nested": "[" * (size // 2) + "]" * (size // 2),
        "objects in depth": repeated("", '{"a":', ""),
        "string": repeated('["', "x", '"]'),
    }


class Trial(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="semel-hostile-")
        self.bank = Bank()
        tokens = os.path.join(self.folder.name, "tokens")
        self.tokens = {}
        for name, scope in (("user", "use"), ("admin", "admin")):
            made = subprocess.run([SEMEL, "token", "new", "--tokens", tokens, "--tenant", "acme",
                                   "--scope", scope], check=True, capture_output=True, text=True)
            self.tokens[name] = made.stdout.strip()
        self.semel = Serve(SEMEL, self.folder.name, self.bank, "hold",
                           tenants_extra=f'tokens = "{tokens}"\n[center]\nenabled = true\n'
                                         'listen = "127.0.0.1:0"')

    def tearDown(self):
        self.semel.close()
        self.bank.close()
        self.folder.cleanup()

    def connect(self, door):
        url = urlparse(self.semel.urls[door])
        return http.client.HTTPConnection(url.hostname, url.port, timeout=PATIENCE)

    def send(self, door, path, body, token=None):
        """Status and seconds. 0: refused by the head, and closed before all was sent."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(time.monotonic_ns())}
        if token:
            headers["Authorization"] = "Bearer " + self.tokens[token]
        connection, start = self.connect(door), time.monotonic()
        try:
            connection.request("POST", path, body, headers)
            status = connection.getresponse().status
        except OSError:
            status = 0
        finally:
            connection.close()
        return status, time.monotonic() - start

    def health(self):
        connection, start = self.connect("admin"), time.monotonic()
        connection.request("GET", "/health")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        return time.monotonic() - start

    def memory(self):
        with open(f"/proc/{self.semel.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) * 1024

    def watched(self, what):
        """Runs it; meanwhile /health is asked. The median of its times, which one hiccup of the
        machine does not move."""
        times, over = [], threading.Event()

        def watch():
            while not over.is_set():
                times.append(self.health())
                time.sleep(0.005)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            what()
        finally:
            over.set()
            watcher.join()
        return sorted(times)

    def test_every_door_answers_soon_and_health_meanwhile(self):
        doors = [
            ("admin", "/admin/api/v1/session", None, (0, 413)),
            ("admin", "/admin/api/v1/record/resolve?tenant=a&operation=b&key=c", None, (0, 401)),
            ("admin", "/admin/api/v1/record/resolve?tenant=a&operation=b&key=c", "admin", (400,)),
            ("center", "/v1/begin", None, (0, 401)),
            ("center", "/v1/begin", "user", (400,)),
            ("center", "/v1/batch", "user", (400,)),
            ("gateway", "/payments", None, (201,)),
        ]

        def attack():
            for name, text in hostile_texts(2 * MIB).items():
                for door, path, token, fine in doors:
                    status, seconds = self.send(door, path, text, token)
                    self.assertIn(status, fine, (name, door, path))
                    self.assertLess(seconds, ANSWER_SECONDS, (name, door, path))

        times = self.watched(attack)

        self.assertLess(times[len(times) // 2], HEALTH_SECONDS)
        self.assertLess(times[-1], ANSWER_SECONDS)
        self.assertLess(self.memory(), 160 * MIB)

    def test_many_at_once_take_bounded_memory(self):
        texts = [text for name, text in hostile_texts(8 * MIB - 100).items() if name != "depth"]

        def attack():
            senders = [threading.Thread(target=self.send, args=target) for text in texts
                       for target in (("gateway", "/payments", text),
                                      ("center", "/v1/begin", text, "user"))]
            for one in senders:
                one.start()
            for one in senders:
                one.join()

        times = self.watched(attack)

        self.assertLess(times[len(times) // 2], HEALTH_SECONDS)
        # The bodies, one more text for each that is being read, and the values of two.
        self.assertLess(self.memory(), (2 * len(texts) * 8 + 160) * MIB)

    def test_idle_connections_leave_a_place_for_health(self):
        url = urlparse(self.semel.urls["admin"])
        idle = [socket.create_connection((url.hostname, url.port)) for _ in range(150)]

        for _ in range(10):
            self.assertLess(self.health(), ANSWER_SECONDS)

        for one in idle:
            one.close()

    def test_a_name_of_the_internet_is_refused(self):
        for host, status in (("evil.example", 421), ("localhost", 200), ("semel:7071", 200)):
            connection = self.connect("admin")
            connection.request("GET", "/metrics", headers={"Host": host})
            self.assertEqual(connection.getresponse().status, status, host)
            connection.close()


if __name__ == "__main__":
    SEMEL = sys.argv.pop(1)
    unittest.main(verbosity=2)
