"""What goes wrong, in an order that the seed gives: each kind comes before any comes again."""

import asyncio
import random
import signal
import time

STEP = 15  # seconds by which the wall clock is set
STARVED = 0.6  # seconds


class Faults:
    def __init__(self, scene, seed, seconds):
        self.scene, self.seed = scene, seed
        self.history = []
        # A short run has as many kinds of faults as a long one.
        self.pause = min(2.5, max(0.4, seconds / 30))
        self.over = False

    def note(self, kind, target, start):
        self.history.append({"what": "fault", "kind": kind, "target": target, "at": start,
                             "until": time.monotonic()})

    # ---- gateways
    async def kill_gateway(self, dice):
        one = dice.choice(self.scene.gateways)
        start = time.monotonic()
        await one.kill()
        await asyncio.sleep(dice.uniform(0, 0.8))
        await one.start()
        self.note("kill", f"g{one.number}", start)

    async def stop_gateway(self, dice):
        one = dice.choice(self.scene.gateways)
        start = time.monotonic()
        one.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(dice.uniform(2.2, 3.2))
        one.process.send_signal(signal.SIGCONT)
        self.note("stop", f"g{one.number}", start)

    # ---- servers
    async def kill_server(self, dice, server):
        start = time.monotonic()
        await server.kill()
        await asyncio.sleep(dice.uniform(0, 1.5))
        await server.start()
        self.note("kill", server.name, start)

    async def stop_server(self, dice, server):
        start = time.monotonic()
        server.signal(signal.SIGSTOP)
        await asyncio.sleep(dice.uniform(0.5, 3.5))
        server.signal(signal.SIGCONT)
        self.note("stop", server.name, start)

    async def cut_server(self, dice, server):
        start = time.monotonic()
        server.proxy.refuses = dice.random() < 0.5
        server.proxy.cut()
        await asyncio.sleep(dice.uniform(0.1, 1.5) if server.proxy.refuses else 0)
        server.proxy.refuses = False
        self.note("cut", server.name, start)

    async def flush_server(self, dice, server):
        """All of a front, which may be lost at any time, or what Redis may forget at any time."""
        front = server.name == "redis"
        start = time.monotonic()
        words = b"FLUSHALL\r\n" if front else b"SCRIPT FLUSH\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", server.proxy.server_port)
        writer.write(words)
        await asyncio.wait_for(reader.readline(), 10)
        writer.close()
        self.note("flush", server.name, start)

    # ---- clock
    async def step_clock(self, dice):
        """Fifteen seconds forward or back, never further than that from the machine's time."""
        clock = self.scene.clock
        ways = [way for way in (STEP, -STEP) if abs(clock.seconds + way) <= STEP]
        way = dice.choice(ways)
        clock.set(clock.seconds + way)
        self.note("step forward" if way > 0 else "step back", "clock", time.monotonic())

    def server_faults(self):
        kinds = []
        for server in self.scene.servers:
            for act in (self.kill_server, self.stop_server, self.cut_server):
                kinds.append(lambda dice, act=act, server=server: act(dice, server))
            if server.name.startswith("redis"):
                kinds.append(lambda dice, server=server: self.flush_server(dice, server))
        return kinds

    def clock_faults(self):
        return [self.step_clock] if self.scene.steps != "none" else []

    async def watch_machine(self):
        """A machine that lets this process wait for long may let the others wait, too."""
        while not self.over:
            start = time.monotonic()
            await asyncio.sleep(0.05)
            if time.monotonic() - start > STARVED:
                self.note("stop", "machine", start)

    async def go_through(self, kinds, name, share=1.0):
        dice = random.Random(f"{self.seed}/faults/{name}")
        while kinds and not self.over:
            order = list(kinds)
            dice.shuffle(order)
            for act in order:
                await asyncio.sleep(dice.uniform(0.5, 1.5) * self.pause / share)
                if self.over:
                    return
                await act(dice)

    async def run(self):
        """Faults of gateways and of servers at the same time, as they come in life."""
        await asyncio.gather(
            self.go_through([self.kill_gateway, self.stop_gateway], "gateways"),
            self.go_through(self.server_faults(), "servers"),
            self.go_through(self.clock_faults(), "clock", share=0.3),
            self.watch_machine())

    def settle_clock(self):
        """To its highest: what was written at any other time has run out by then."""
        if self.scene.steps != "none" and self.scene.clock.seconds < STEP:
            self.scene.clock.set(STEP)
            self.note("step forward", "clock", time.monotonic())
