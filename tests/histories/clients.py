"""Clients that repeat themselves, leave early, and send another body under a used key."""

import asyncio
import json
import random
import time

from scene import ROUTES

CLIENTS = 24
KEYS_AT_ONCE = 36
LEAVES = 0.12
SENDS_ANOTHER = 0.10
ASKS_AGAIN_LATER = 0.15
COMES_IN_A_CROWD = 0.20
GIVES_UP_AFTER = 30.0  # seconds; longer than anything may take

# What becomes of an attempt, with how often; past the lease is longer than two seconds.
STEPS = {"ok": 46, "slow:0.3": 12, "slow:2.6": 9, "slow:3.4": 4, "late:0.4": 4, "late:2.8": 4,
         "refuse": 9, "drop_before": 4, "drop_after": 4, "half": 2, "hang": 2}


class Key:
    """One key, with the plan of its attempts and how often it is asked for at first."""

    def __init__(self, seed, number):
        dice = random.Random(f"{seed}/key/{number}")
        self.name = f"k{number}"
        self.route = ROUTES[number % len(ROUTES)]
        self.plan = dice.choices(list(STEPS), STEPS.values(), k=dice.choice((1, 1, 2, 3)))
        self.asks = 1 + int(dice.expovariate(1 / 9))
        self.used = False

    def body(self, content):
        return json.dumps({"key": self.name, "content": content, "plan": self.plan})


class Keys:
    """Opens a key for each that has been asked for often enough."""

    def __init__(self, seed):
        self.seed, self.all, self.open = seed, [], []

    def pick(self, dice):
        if self.all and dice.random() < ASKS_AGAIN_LATER:
            return dice.choice(self.all)
        self.open = [one for one in self.open if one.asks > 0]
        while len(self.open) < KEYS_AT_ONCE:
            self.all.append(Key(self.seed, len(self.all)))
            self.open.append(self.all[-1])
        one = dice.choice(self.open)
        one.asks -= 1
        return one


async def read_answer(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in
               (line.partition(":") for line in head[1:])}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return int(head[0].split(" ")[1]), headers, body.decode("latin-1")


class Crowd:
    def __init__(self, scene, seed):
        self.scene, self.seed = scene, seed
        self.keys = Keys(seed)
        self.history = []
        self.over = False

    async def ask(self, key, gateway, content=0, leave_after=None, prefer=None, phase="faults"):
        """One request; how it went is added to the history, and returned."""
        seen = {"what": "answer", "key": key.name, "route": key.route, "gateway": gateway,
                "content": content, "prefer": prefer, "phase": phase, "at": time.monotonic(),
                "status": None, "problem": "", "replayed": False, "body": ""}
        try:
            patience = leave_after if leave_after is not None else GIVES_UP_AFTER
            await asyncio.wait_for(self.exchange(key, gateway, content, prefer, seen), patience)
        except asyncio.TimeoutError:
            seen["problem"] = "left" if leave_after is not None else "no-answer"
        except (OSError, asyncio.IncompleteReadError):
            seen["problem"] = "broken"
        seen["until"] = time.monotonic()
        self.history.append(seen)
        return seen

    async def exchange(self, key, gateway, content, prefer, seen):
        port = self.scene.gateways[gateway].port
        body = key.body(content)
        lines = [f"POST /{key.route} HTTP/1.1", "Host: shop", "Connection: close",
                 "Content-Type: application/json", f"Content-Length: {len(body)}",
                 f'Idempotency-Key: "{key.name}"'] + ([f"Prefer: {prefer}"] if prefer else [])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
            status, headers, answer = await read_answer(reader)
            seen["status"], seen["body"] = status, answer
            seen["replayed"] = headers.get("idempotent-replayed") == "true"
            if "problem+json" in headers.get("content-type", ""):
                seen["problem"] = json.loads(answer)["type"].rpartition(":")[2]
        finally:
            writer.transport.abort()

    async def client(self, number):
        dice = random.Random(f"{self.seed}/client/{number}")
        while not self.over:
            key, gateway = self.keys.pick(dice), dice.randrange(2)
            another = dice.random() < SENDS_ANOTHER and key.used
            leave_after = None
            if dice.random() < LEAVES:
                leave_after = dice.uniform(0, dice.choice((0.02, 1.0)))
            prefer = dice.choice((None, None, None, "wait=0", "wait=1"))
            copies = dice.choice((2, 3)) if dice.random() < COMES_IN_A_CROWD else 1
            key.used = True
            await asyncio.gather(*(self.ask(key, gateway, int(another), leave_after, prefer)
                                   for _ in range(copies)))
            await asyncio.sleep(dice.uniform(0.01, 0.12))

    async def run(self):
        await asyncio.gather(*(self.client(number) for number in range(CLIENTS)))

    # ---- in peace, after all faults
    async def settle_all(self, seconds):
        """Every key once more, at both gateways, until it has ended."""
        waiting = list(self.keys.all)
        end = time.monotonic() + seconds

        async def settle_some():
            while waiting:
                await self.settle(waiting.pop(), end)

        await asyncio.gather(*(settle_some() for _ in range(CLIENTS)))

    async def settle(self, key, end):
        """A late attempt may still be stored meanwhile: until both gateways say the same."""
        content = 0
        while time.monotonic() < end:
            told = await self.ask(key, 0, content, phase="end")
            if told["status"] == 422:  # the other body has come first
                content = 1 - content
            elif is_an_end(key, told):
                last = [await self.ask(key, one, content, phase="last") for one in (1, 0)]
                if all(is_an_end(key, one) and one["status"] == told["status"] for one in last):
                    return
            await asyncio.sleep(0.2)


def is_an_end(key, told):
    return told["status"] == 201 or told["problem"] == "in-doubt" and key.route == "hold"
