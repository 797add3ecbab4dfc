"""What the trials of operations share: a service that pays, a semel in front of it, a webhook."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from http_call import PATIENCE, call, eventually


class Bank(ThreadingHTTPServer):
    """Pays on POST /payments, and knows afterwards what it has paid on GET /probe."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), BankHandler)
        self.paid = {}  # by key
        self.count = 0
        self.probes = []
        self.hang = False  # the effect takes place, the answer never comes
        self.effect = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def close(self):
        self.shutdown()
        self.server_close()


class BankHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        bank = self.server
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key = self.headers["Idempotency-Key"].strip('"')
        bank.count += 1
        bank.paid.setdefault(key, []).append(f"tx_{bank.count}")
        bank.effect.set()
        if bank.hang:
            self.rfile.read(1)  # until the connection ends
            self.close_connection = True
            return
        self.answer(201, {"payment": bank.paid[key][0]})

    def do_GET(self):
        bank = self.server
        asked = parse_qs(urlparse(self.path).query)
        key = asked["key"][0]
        bank.probes.append(key)
        if key in bank.paid:
            self.answer(200, {"outcome": "committed", "status": 201,
                              "json": {"payment": bank.paid[key][0]}})
        else:
            self.answer(200, {"outcome": "not_executed"})

    def log_message(self, *args):
        pass


class Webhook(ThreadingHTTPServer):
    """Keeps what it is sent."""

    daemon_threads = True

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.server.headers.append(self.headers)
            self.server.got.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args):
            pass

    secret = "known to both sides"

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Webhook.Handler)
        self.got, self.headers = [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/alerts"

    def close(self):
        self.shutdown()
        self.server_close()


class Serve:
    """A running `semel serve` before the bank."""

    def __init__(self, semel, folder, bank, policy, webhook=None, store=None,
                 extra="", store_extra="", tenants_extra=""):
        self.semel, self.file = semel, os.path.join(folder, "semel.toml")
        self.store = store or f"sqlite:{folder}/records.db"
        probe = 'probe = "/probe"' if policy == "probe" else ""
        hook = f'webhook = "{webhook.url}"' if webhook else ""
        if webhook:
            secret = os.path.join(folder, "alerts.secret")
            with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write(webhook.secret)
            hook += f'\nsecret = "file:{secret}"\n[console]\nurl = "https://semel.internal/ops/"'
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(f"""
[server]
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
[store]
url = "{self.store}"
{store_extra}
[tenants]
source = "single"
name = "acme"
{tenants_extra}
[gateway]
upstream = "http://127.0.0.1:{bank.port}"
[log]
format = "json"
level = "debug"
[reconcile]
every = "100ms"
alert_after = "500ms"
settle_after = "1s"
[alerts]
every = "200ms"
requests_min = 20
{hook}
[[route]]
operation = "PAY"
path = "/payments"
key = "required"
lease = "1s"
wait = "0s"
fingerprint_host = "no"
on_lease_expiry = "{policy}"
{probe}
{extra}
""")
        self.errors = open(os.path.join(folder, "stderr.txt"), "a", encoding="utf-8")
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.semel, "serve", "--config", self.file],
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.urls = {}
        for line in self.process.stdout:
            if found := re.match(r"semel serve: (\w+) (http://[^,\s]+)", line):
                self.urls[found.group(1)] = found.group(2)
            if "store" in line:
                break

    def pay(self, key, amount=3, headers=None):
        return call(self.urls["gateway"] + "/payments", {"amount": amount},
                    headers=dict(headers or {}, **{"Idempotency-Key": key}))

    def metrics(self):
        return call(self.urls["admin"] + "/metrics").body.decode()

    def tool(self, *arguments, check=True):
        return subprocess.run([self.semel, *arguments, "--config", self.file], check=check,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def log(self):
        self.errors.flush()
        with open(self.errors.name, encoding="utf-8") as file:
            return file.read()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.errors.close()
