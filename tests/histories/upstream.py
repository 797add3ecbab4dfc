#!/usr/bin/env python3
"""The service behind the gateways: counts what it has done, and does it as each request says.

A request is a JSON object: `key`, `content` (which body of that key), and `plan`, what becomes of
the first, second … attempt; further attempts are `ok`. Each gateway has a port of its own, so that
the service knows which one has sent an attempt. Every event is a line of the log.

usage: upstream.py PORT PORT LOG
"""

import asyncio
import json
import sys
import time
import urllib.parse

# Longer than the gateways wait for an answer.
HANG = 5.0


class Service:
    def __init__(self, log):
        self.log = log
        self.attempts = 0
        self.effects = 0
        self.begun = {}  # key: attempts so far
        self.active = {}  # key: attempts that have not ended
        self.answers = {}  # key: body of its first effect
        self.probes = {}  # key: questions so far

    def note(self, what, **more):
        self.log.write(json.dumps({"what": what, "at": time.monotonic(), **more}) + "\n")
        self.log.flush()

    def effect(self, attempt, order):
        self.effects += 1
        body = json.dumps({"effect": self.effects, "key": order["key"],
                           "content": order["content"]})
        self.answers.setdefault(order["key"], body)
        self.note("effect", attempt=attempt, effect=self.effects, key=order["key"],
                  content=order["content"], body=body)
        return body

    async def serve(self, reader, writer, gateway):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if not await self.answer(head.decode("latin-1"), reader, writer, gateway):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, head, reader, writer, gateway):
        lines = head.split("\r\n")
        method, target, _ = lines[0].split(" ")
        if method == "GET":
            return await self.tell_outcome(target, writer)
        headers = {name.lower(): value.strip() for name, _, value in
                   (line.partition(":") for line in lines[1:])}
        order = json.loads(await reader.readexactly(int(headers["content-length"])))
        return await self.attempt(order, writer, gateway)

    async def attempt(self, order, writer, gateway):
        key, plan = order["key"], order["plan"]
        self.attempts += 1
        attempt, nth = self.attempts, self.begun.get(key, 0)
        self.begun[key] = nth + 1
        step = plan[nth] if nth < len(plan) else "ok"
        self.note("received", attempt=attempt, key=key, content=order["content"],
                  gateway=gateway, step=step)
        self.active[key] = self.active.get(key, 0) + 1
        how = "broken"
        try:
            how = await self.act(step, attempt, order, writer)
        except ConnectionError:
            pass
        finally:
            self.active[key] -= 1
            self.note("ended", attempt=attempt, key=key, how=how)
        return how in ("answered", "refused")

    async def act(self, step, attempt, order, writer):
        kind, _, seconds = step.partition(":")
        pause = float(seconds or 0)
        if kind == "refuse":
            await send(writer, 503, '{"error":"later"}')
            return "refused"
        if kind == "drop_before":
            return "dropped"
        if kind == "late":
            await asyncio.sleep(pause)
        body = self.effect(attempt, order)
        if kind == "drop_after":
            return "dropped"
        if kind == "half":
            writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n" + body.encode())
            await writer.drain()
            return "dropped"
        if kind == "hang":
            await asyncio.sleep(HANG)
            await send(writer, 201, body)
            return "dropped"  # the gateway has gone by then
        if kind == "slow":
            await asyncio.sleep(pause)
        await send(writer, 201, body)
        return "answered"

    async def tell_outcome(self, target, writer):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query)
        if "key" not in asked:
            await send(writer, 200, "{}")
            return True
        key = asked["key"][0].strip('"')
        self.probes[key] = self.probes.get(key, 0) + 1
        said = {"outcome": "not_executed"}
        if self.active.get(key, 0) > 0 or self.probes[key] % 5 == 1:
            said = {"outcome": "unknown"}
        elif key in self.answers:
            said = {"outcome": "committed", "status": 201, "body": self.answers[key],
                    "headers": {"Content-Type": "application/json"}}
        self.note("probe", key=key, said=said["outcome"])
        await send(writer, 200, json.dumps(said))
        return True


async def send(writer, status, body):
    reason = {200: "OK", 201: "Created", 503: "Service Unavailable"}[status]
    writer.write((f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\n"
                  f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
    await writer.drain()


async def main():
    with open(sys.argv[3], "w", encoding="utf-8") as log:
        service = Service(log)
        for gateway, port in enumerate(sys.argv[1:3]):
            await asyncio.start_server(
                lambda reader, writer, gateway=gateway: service.serve(reader, writer, gateway),
                "127.0.0.1", int(port), backlog=512)
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
