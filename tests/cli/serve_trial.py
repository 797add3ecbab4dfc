#!/usr/bin/env python3
"""`semel serve` as a team with services in another language meets it: configuration, tokens, the
gateway, the center, the admin pages, SIGHUP and SIGTERM, over real sockets and with nothing but
Python's own library.

usage: serve_trial.py SEMEL
"""

import json
import os
import re
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from http_call import PATIENCE, call, eventually

SEMEL = ""


class Orders(BaseHTTPRequestHandler):
    """The service behind the gateway: makes an order out of every POST."""

    protocol_version = "HTTP/1.1"
    made = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Orders.made.append(body)
        answer = json.dumps({"order": len(Orders.made)}).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


class HalfSent:
    """A request whose last byte is held back, so that it is under way for as long as one likes."""

    def __init__(self, url, path, headers):
        at = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((at.hostname, at.port), timeout=PATIENCE)
        lines = [f"POST {path} HTTP/1.1", "Host: a", "Content-Type: application/json",
                 "Content-Length: 2"] + [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n{").encode())

    def finish(self):
        """The status line of its answer."""
        self.socket.sendall(b"}")
        with self.socket, self.socket.makefile("rb") as answer:
            return answer.readline().decode().strip()


def refuses(url):
    at = urllib.parse.urlsplit(url)
    try:
        socket.create_connection((at.hostname, at.port), timeout=PATIENCE).close()
        return False
    except ConnectionRefusedError:
        return True


class Serve:
    """A running `semel serve`."""

    def __init__(self, folder, upstream):
        self.tokens = os.path.join(folder, "tokens.txt")
        self.file = os.path.join(folder, "semel.toml")
        self.use = self.token("acme", "use,read")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(f"""
[server]
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
drain = "20s"
[store]
url = "sqlite:{folder}/records.db"
cache_bytes = "8MiB"
encryption_keys = ["k1 env:TRIAL_KEY"]
[tenants]
source = "tokens"
tokens = "{self.tokens}"
[gateway]
upstream = "http://127.0.0.1:{upstream}"
[[route]]
operation = "ORDER_CREATE"
path = "/orders"
key = "required"
fingerprint_host = "no"
[center]
enabled = true
listen = "127.0.0.1:0"
[[operation]]
name = "PAY"
lease = "5m"
[[relay]]
sink = "file:{folder}/events.jsonl"
""")
        self.start()

    def start(self):
        self.process = subprocess.Popen([SEMEL, "serve", "--config", self.file],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=dict(os.environ, TRIAL_KEY="ab" * 32))
        self.urls = {}
        for line in self.process.stdout:
            if found := re.match(r"semel serve: (\w+) (https?://[^,\s]+)", line):
                self.urls[found.group(1)] = found.group(2)
            if "store" in line:
                break

    def token(self, tenant, scopes):
        done = subprocess.run([SEMEL, "token", "new", "--tenant", tenant, "--scope", scopes,
                               "--tokens", self.tokens], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def center(self, path, body=None, token=None):
        return call(self.urls["center"] + path, body, token or self.use)

    def configure(self, before, after):
        """For the next start."""
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


class Trial(unittest.TestCase):
    def setUp(self):
        Orders.made = []
        self.folder = tempfile.TemporaryDirectory(prefix="semel-serve-")
        self.upstream = ThreadingHTTPServer(("127.0.0.1", 0), Orders)
        threading.Thread(target=self.upstream.serve_forever, daemon=True).start()
        self.semel = Serve(self.folder.name, self.upstream.server_address[1])

    def tearDown(self):
        if self.semel.process.poll() is None:
            self.semel.process.kill()
        self.semel.process.communicate()
        self.upstream.shutdown()
        self.upstream.server_close()
        self.folder.cleanup()

    def order(self, key, body=b'{"item": 7}', token=None):
        headers = {"Idempotency-Key": key} if key else {}
        return call(self.semel.urls["gateway"] + "/orders", body, token or self.semel.use, headers)

    def test_the_gateway_executes_once(self):
        first, repeat = self.order("k1"), self.order("k1", b'{"item":7}')

        self.assertEqual((first.status, first.json), (201, {"order": 1}))
        self.assertEqual((repeat.status, repeat.body), (201, first.body))
        self.assertEqual(repeat.headers["Idempotent-Replayed"], "true")
        self.assertEqual(len(Orders.made), 1)
        self.assertEqual(self.order("k1", b"{}").status, 422)
        self.assertEqual(self.order(None).status, 400)
        self.assertEqual(self.order("k2", token="nonsense").status, 401)
        self.assertEqual(len(Orders.made), 1)

    def test_the_center_gives_the_first_result_to_every_repeat(self):
        begin = {"operation": "PAY", "key": "p1", "content": '{"amount": 3}'}
        started = self.semel.center("/v1/begin", begin)
        self.assertEqual(started.json["outcome"], "started", started.body)
        self.assertEqual(self.semel.center("/v1/begin", begin).status, 409)

        done = self.semel.center("/v1/complete", {
            "operation": "PAY", "key": "p1", "attempt": started.json["attempt"],
            "result": {"text": "paid", "type": "text/plain", "ref": "tx_9"}})
        repeat = self.semel.center("/v1/begin", begin)

        self.assertEqual(done.json["outcome"], "stored", done.body)
        self.assertEqual(repeat.json["result"],
                         {"kind": "value", "text": "paid", "type": "text/plain", "ref": "tx_9"})
        self.assertEqual(self.semel.center("/v1/records/PAY/p1").json["state"], "succeeded")
        self.assertEqual(self.semel.center("/openapi.json").json["openapi"], "3.1.0")

    def test_who_waits_is_answered_when_the_result_is_there(self):
        begin = {"operation": "PAY", "key": "w", "wait": "20s"}
        attempt = self.semel.center("/v1/begin", begin).json["attempt"]
        got = []
        waiter = threading.Thread(target=lambda: got.append(self.semel.center("/v1/begin", begin)))
        waiter.start()
        self.assertTrue(eventually(lambda: "semel_center_waiting 1" in self.metrics()))

        self.semel.center("/v1/complete", {"operation": "PAY", "key": "w", "attempt": attempt,
                                           "result": {"text": "r"}})
        waiter.join(PATIENCE)

        self.assertEqual(got[0].json["result"]["text"], "r")

    def test_a_hundred_at_once_start_once(self):
        begin = {"operation": "PAY", "key": "many"}
        answers = []
        threads = [threading.Thread(
            target=lambda: answers.append(self.semel.center("/v1/begin", begin)))
            for _ in range(100)]
        for one in threads:
            one.start()
        for one in threads:
            one.join(PATIENCE)

        self.assertEqual(sorted(one.status for one in answers), [200] + [409] * 99)

    def test_a_batch_is_answered_item_by_item(self):
        items = [{"do": "begin", "operation": "PAY", "key": f"b{i}"} for i in range(50)]
        got = self.semel.center("/v1/batch", {"items": items + [{"do": "dance"}]}).json["items"]

        self.assertEqual([one["status"] for one in got], [200] * 50 + [400])

    def metrics(self):
        return call(self.semel.urls["admin"] + "/metrics").body.decode()

    def test_the_admin_pages_tell_how_it_is(self):
        self.order("a-key-that-is-secret")

        self.assertEqual(call(self.semel.urls["admin"] + "/health").status, 200)
        self.assertEqual(call(self.semel.urls["admin"] + "/ready").status, 200)
        page = self.metrics()
        self.assertIn('semel_engine_outcomes_total{outcome="executed"} 1\n', page)
        self.assertIn('semel_gateway_requests_total{kind="guarded"} 1\n', page)
        self.assertIn('semel_store_commands_total{command="begin"} 1\n', page)
        self.assertNotIn("secret", page)
        for line in page.splitlines():
            self.assertRegex(
                line, r'^(# (HELP|TYPE) semel_\w+ .+|semel_\w+(\{[^{}]*\})? [0-9.e+-]+)$')

    def test_the_admin_pages_can_be_locked(self):
        folder = self.folder.name
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=semel",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/key.pem",
                        "-out", f"{folder}/cert.pem"], check=True, capture_output=True)
        self.semel.stop()
        self.semel.configure('drain = "20s"', 'drain = "20s"\nadmin_tls = true\n'
                             f'metrics_token = true\ntls_certificate = "{folder}/cert.pem"\n'
                             f'tls_key = "{folder}/key.pem"')
        self.semel.start()
        admin = self.semel.urls["admin"]
        self.assertTrue(admin.startswith("https://"))
        trusting = ssl.create_default_context(cafile=f"{folder}/cert.pem")

        def status(path, token=None):
            headers = {"Authorization": "Bearer " + token} if token else {}
            asked = urllib.request.Request(admin + path, headers=headers)
            try:
                with urllib.request.urlopen(asked, timeout=PATIENCE, context=trusting) as got:
                    return got.status
            except urllib.error.HTTPError as no:
                with no:
                    return no.code

        self.assertEqual(status("/health"), 200)
        self.assertEqual(status("/metrics"), 401)
        self.assertEqual(status("/metrics", "semel_unknown"), 401)
        self.assertEqual(status("/metrics", self.semel.use), 200)

    def append_event(self, table):
        with sqlite3.connect(os.path.join(self.folder.name, "records.db"), timeout=PATIENCE) as db:
            db.execute(f"INSERT INTO {table} (shard_id, created_at, updated_at, event_id,"
                       " topic, message_key, headers, trace_context, payload) VALUES (0, 1, 1,"
                       " '01J9ZQ4V7M8N6P5R3S2T1V0W9X', 'orders', x'37', x'', x'', x'7b7d')")
        db.close()

    def test_the_outbox_of_the_store_has_its_prefix(self):
        self.semel.stop()
        self.semel.configure("[store]\n", '[store]\ntable_prefix = "pay_"\n')
        self.semel.start()
        self.append_event("pay_outbox")

        file = os.path.join(self.folder.name, "events.jsonl")
        self.assertTrue(eventually(lambda: os.path.exists(file) and os.path.getsize(file) > 0))

    def test_a_relay_needs_an_outbox_that_is_there(self):
        missing = os.path.join(self.folder.name, "shpo.db")
        self.semel.stop()
        self.semel.configure("[[relay]]\n", f'[[relay]]\nstore = "sqlite:{missing}"\n')
        self.semel.start()

        code, _, err = self.semel.end()
        self.assertNotEqual(code, 0)
        self.assertIn(f"there is no database at '{missing}'", err)
        self.assertFalse(os.path.exists(missing))

    def test_events_of_the_outbox_are_relayed(self):
        file = os.path.join(self.folder.name, "events.jsonl")
        self.append_event("semel_outbox")

        self.assertTrue(eventually(lambda: os.path.exists(file) and os.path.getsize(file) > 0))
        with open(file, encoding="utf-8") as lines:
            self.assertEqual([json.loads(line)["topic"] for line in lines], ["orders"])
        self.assertTrue(eventually(
            lambda: 'semel_outbox_delivered_total{relay="1"} 1\n' in self.metrics()))

    def test_tokens_come_and_go_by_themselves(self):
        begin = {"operation": "PAY", "key": "t"}
        token = self.semel.token("bolt", "use")
        self.assertTrue(eventually(
            lambda: self.semel.center("/v1/begin", begin, token).status != 401))
        listed = subprocess.run([SEMEL, "token", "list", "--tokens", self.semel.tokens], check=True,
                                capture_output=True, text=True).stdout
        identity = next(line.split()[0] for line in listed.splitlines() if " bolt " in line)
        subprocess.run([SEMEL, "token", "revoke", identity, "--tokens", self.semel.tokens],
                       check=True, capture_output=True)

        self.assertTrue(eventually(
            lambda: self.semel.center("/v1/begin", begin, token).status == 401))
        self.assertEqual(self.semel.center("/v1/records/PAY/none").status, 404)

    def test_sighup_reads_the_tokens_again(self):
        before = 'semel_tokens_read_total{outcome="ok"} 1\n'
        self.assertTrue(eventually(lambda: before in self.metrics()), self.metrics())
        self.semel.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: before.replace("1", "2") in self.metrics()))

    def test_an_operation_that_is_not_configured_can_be_refused(self):
        begin = {"operation": "PYA", "key": "o"}
        self.assertEqual(self.semel.center("/v1/begin", begin).json["outcome"], "started")
        self.semel.stop()
        self.semel.configure("[center]\n", '[center]\nunknown_operations = "refuse"\n')
        self.semel.start()

        refused = self.semel.center("/v1/begin", begin)
        self.assertEqual((refused.status, refused.json["type"]),
                         (400, "urn:semel:problem:operation-unknown"))
        self.assertEqual(
            self.semel.center("/v1/begin", {"operation": "PAY", "key": "o"}).status, 200)

    def test_an_address_that_another_process_has_is_named(self):
        address = self.semel.urls["gateway"].split("//")[1]
        other = subprocess.run([SEMEL, "gateway", "--listen", address, "--upstream",
                                "http://127.0.0.1:1", "--store", "memory:", "--single-tenant",
                                "--principal", "shared"],
                               capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(other.returncode, 1)
        self.assertEqual(other.stderr.count("\n"), 1)
        self.assertIn(f"semel: address_in_use: cannot listen on {address}: ", other.stderr)
        self.assertIn("listen on another port", other.stderr)

    def test_tokens_that_cannot_be_read_again_are_noticed(self):
        def ready():
            return call(self.semel.urls["admin"] + "/ready").body.decode()

        self.assertEqual(ready(), "ready\n")
        with open(self.semel.tokens, encoding="utf-8") as file:
            good = file.read()
        with open(self.semel.tokens, "w", encoding="utf-8") as file:
            file.write("nonsense\n")

        self.assertTrue(eventually(lambda: "tokens: the file could not be read" in ready()))
        self.assertIn('semel_tokens_read_total{outcome="failed"} 1\n', self.metrics())
        self.assertEqual(self.semel.center("/v1/records/PAY/none").status, 404)

        with open(self.semel.tokens, "w", encoding="utf-8") as file:
            file.write(good)
        self.assertTrue(eventually(lambda: ready() == "ready\n"))

    def test_who_came_in_is_counted(self):
        self.assertEqual(self.semel.center("/v1/records/PAY/none", token="semel_no").status, 401)
        url = self.semel.urls["admin"] + "/admin/api/v1/session"
        self.assertEqual(call(url, {"token": "semel_no"}).status, 401)
        self.assertEqual(call(url, {"token": self.semel.use}).status, 200)

        metrics = self.metrics()
        for event in ("token_refused", "sign_in_refused", "signed_in"):
            self.assertIn(f'semel_security_events_total{{event="{event}"}} 1\n', metrics)

    def test_sigterm_answers_who_waits_and_exits_with_0(self):
        begin = {"operation": "PAY", "key": "d", "wait": "20s"}
        self.semel.center("/v1/begin", begin)
        got = []
        waiter = threading.Thread(target=lambda: got.append(self.semel.center("/v1/begin", begin)))
        waiter.start()
        self.assertTrue(eventually(lambda: "semel_center_waiting 1" in self.metrics()))

        code, out, err = self.semel.stop()
        waiter.join(PATIENCE)

        self.assertEqual((code, out), (0, "semel serve: drained\n"), err)
        self.assertEqual(got[0].status, 409)
        self.assertNotIn("ab" * 32, err)
        self.assertNotIn(self.semel.use, err)

    def half_sent(self, listener):
        path = {"center": "/v1/begin", "gateway": "/orders"}[listener]
        made = HalfSent(self.semel.urls[listener], path,
                        {"Authorization": "Bearer " + self.semel.use, "Idempotency-Key": "half"})
        self.addCleanup(made.socket.close)
        line = 'semel_server_requests_total{listener="%s"} 1\n' % listener
        self.assertTrue(eventually(lambda: line in self.metrics()), self.metrics())
        return made

    def test_after_sigterm_nobody_is_let_in_while_others_finish(self):
        under_way = self.half_sent("center")

        self.semel.process.send_signal(signal.SIGTERM)
        closed = eventually(lambda: refuses(self.semel.urls["gateway"]))
        answer = under_way.finish()
        code, out, err = self.semel.end()

        self.assertTrue(closed)
        self.assertEqual(answer, "HTTP/1.1 400 Bad Request")  # no operation: its body is "{}"
        self.assertEqual((code, out), (0, "semel serve: drained\n"), err)

    def test_the_drain_time_is_that_of_all_listeners_together(self):
        self.semel.stop()
        self.semel.configure('drain = "20s"', 'drain = "4s"')
        self.semel.start()
        self.half_sent("center")
        self.half_sent("gateway")

        begun = time.monotonic()
        code, _, err = self.semel.stop()
        took = time.monotonic() - begun

        self.assertEqual(code, 1, err)
        self.assertGreaterEqual(took, 4)
        self.assertLess(took, 7.5)

    def test_records_outlive_the_process_and_are_encrypted(self):
        self.order("k1", b'{"item": "planted-in-the-body"}')
        answer = self.order("k1", b'{"item": "planted-in-the-body"}')
        self.assertEqual(self.semel.stop()[0], 0)
        self.assertEqual(answer.json, {"order": 1})
        self.semel.start()
        again = self.order("k1", b'{"item": "planted-in-the-body"}')

        self.assertEqual((again.body, again.headers["Idempotent-Replayed"]), (answer.body, "true"))
        self.assertEqual(len(Orders.made), 1)
        for name in os.listdir(self.folder.name):
            if name.startswith("records.db"):
                with open(os.path.join(self.folder.name, name), "rb") as file:
                    self.assertNotIn(b'{"order": 1}', file.read())


class Demo(unittest.TestCase):
    def start(self, *options):
        """A running demo and the lines it begins with, up to its token."""
        folder = tempfile.TemporaryDirectory(prefix="semel-demo-")
        self.addCleanup(folder.cleanup)
        process = subprocess.Popen([SEMEL, "serve", "--demo", folder.name + "/demo.db", *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.terminate)
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("  semel_"):
                break
        return said

    def test_a_port_that_is_taken_does_not_end_the_first_try(self):
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                other.bind(("127.0.0.1", 7070))
                other.listen()
            except OSError:
                pass # another process has it: that will do
            said = self.start()

        self.assertIn("another process listens on port 7070; this is 127.0.0.1:", said)
        address = re.search(r"gateway http://([^,]+),", said).group(1)
        self.assertNotEqual(address, "127.0.0.1:7070")
        self.assertIn(f"curl -i http://{address}/orders", said)
        self.assertEqual(call(f"http://{address}/").status, 200)
        console = re.search(r"console (http://\S+)", said).group(1)
        self.assertEqual(call(console).status, 200)

    def test_the_port_can_be_named(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % other.getsockname()[1]
        self.assertIn(f"gateway http://{address}, ", self.start("--listen", address))


if __name__ == "__main__":
    SEMEL = sys.argv.pop(1)
    unittest.main(verbosity=2)
