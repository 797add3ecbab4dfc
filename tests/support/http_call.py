"""Calls over HTTP for trials in Python, with nothing but its own library."""

import json
import time
import urllib.error
import urllib.request

PATIENCE = 60  # seconds; the machine may be busy


def eventually(what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if got := what():
            return got
        time.sleep(0.05)
    return what()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.json = json.loads(body) if "json" in headers.get("Content-Type", "") else None


def call(url, body=None, token=None, headers=None, method=None):
    sent = dict(headers or {})
    if body is not None:
        sent["Content-Type"] = "application/json"
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
    if token:
        sent["Authorization"] = "Bearer " + token
    request = urllib.request.Request(url, data=body, headers=sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as got:
            return Answer(got.status, got.headers, got.read())
    except urllib.error.HTTPError as no:
        with no:
            return Answer(no.code, no.headers, no.read())
