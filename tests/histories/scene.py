"""What the torture is made of: servers of their own, proxies before them, two gateways, the service
behind them, and a wall clock that can be set."""

import asyncio
import ctypes
import mmap
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SERVERS_TOOL = os.path.join(HERE, "..", "..", "tools", "servers")
LEASE = 2.0
ANSWER_TIMEOUT = 4.0
CACHES = 0.25  # of the gateways, a near cache of finished results
PATIENCE = 120  # seconds; the machine may be busy

CONFIG = """
[server]
listen = "127.0.0.1:{port}"
admin_listen = ""
drain = "5s"
[store]
url = "{store}"
cache_bytes = "{cache}"
{front}
[tenants]
source = "single"
name = "acme"
[gateway]
upstream = "http://127.0.0.1:{upstream}"
answer_timeout = "{answer_timeout}s"
[log]
keys = "plain"
"""

ROUTE = """
[[route]]
operation = "{name}"
path = "/{name}"
key = "required"
fingerprint_host = "no"
lease = "{lease}s"
wait = "700ms"
on_lease_expiry = "{name}"
{probe}
"""

ROUTES = ("retry", "hold", "probe")

# Which servers a store needs, what its URL is, and whether these servers can be told another time.
# MariaDB and MySQL wait for absolute times of the wall clock: there, only the gateways are told.
STORES = {
    "sqlite": {"servers": [], "url": "sqlite:{folder}/records.db", "steps": "gateways"},
    "postgres": {"servers": ["postgres"],
                 "url": "postgres://semel@127.0.0.1:{postgres}/semel", "steps": "all"},
    "mariadb": {"servers": ["mariadb"],
                "url": "mysql://semel:semel@127.0.0.1:{mariadb}/semel", "steps": "gateways"},
    "mysql": {"servers": ["mysql"],
              "url": "mysql://semel:semel@127.0.0.1:{mysql}/semel", "steps": "gateways"},
    "redis": {"servers": ["redis_aof"], "url": "redis://127.0.0.1:{redis_aof}", "steps": "all"},
    "tiered": {"servers": ["postgres", "redis"],
               "url": "postgres://semel@127.0.0.1:{postgres}/semel",
               "front": "redis://127.0.0.1:{redis}", "steps": "all"},
    "memory": {"servers": [], "url": "memory:", "steps": "none"},
}


LIBC = ctypes.CDLL(None)


def end_with_parent(with_signal=signal.SIGKILL):
    """Called in a child: it does not outlive this process, however that ends."""
    pr_set_pdeathsig = 1
    LIBC.prctl(pr_set_pdeathsig, int(with_signal))


def kept_log(store, with_options, number):
    """Where a gateway's log stays if the run has found something."""
    return os.path.join(with_options.reports, f"{store}-{with_options.seed}.gateway{number}.log")


# Below the ports that Linux gives to connecting sockets.
def free_port():
    dice = random.SystemRandom()
    while True:
        port = dice.randrange(20000, 32768)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


async def answers(port):
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return True
    except OSError:
        return False


class Proxy:
    """Stands between the gateways and a server, and cuts connections."""

    def __init__(self, server_port):
        self.server_port = server_port
        self.port = free_port()
        self.refuses = False
        self.writers = set()

    async def start(self):
        self.listener = await asyncio.start_server(self.serve, "127.0.0.1", self.port, backlog=512)

    async def serve(self, reader, writer):
        if self.refuses:
            return writer.transport.abort()
        try:
            back_reader, back = await asyncio.open_connection("127.0.0.1", self.server_port)
        except OSError:
            return writer.transport.abort()
        for one in (writer, back):
            one.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.writers |= {writer, back}
        await asyncio.gather(self.pump(reader, back), self.pump(back_reader, writer))
        self.writers -= {writer, back}
        return None

    async def pump(self, source, sink):
        try:
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        except OSError:
            sink.transport.abort()
        else:
            sink.close()

    def cut(self):
        for one in list(self.writers):
            one.transport.abort()


class Clock:
    """The wall clock of all processes that the stepped clock is preloaded into."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "clock")
        with open(self.path, "wb") as file:
            file.write(bytes(8))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8)
        self.seconds = 0

    def set(self, seconds):
        self.seconds = seconds
        self.map[:8] = struct.pack("=q", seconds * 1_000_000_000)


class Server:
    """One of tools/servers, in a folder of this scene's own, behind a proxy."""

    def __init__(self, scene, name):
        self.scene, self.name = scene, name

    async def tool(self, *words):
        environment = dict(os.environ, SEMEL_SERVERS_DIR=self.scene.servers_folder)
        if self.scene.steps == "all":
            environment.update(self.scene.clock_environment())
        with open(os.path.join(self.scene.folder, "servers.log"), "ab") as log:
            done = await asyncio.create_subprocess_exec(
                SERVERS_TOOL, *words, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
            return await done.wait()

    async def start(self):
        for _ in range(5):
            if await self.tool("start", self.name) == 0:
                return
        raise RuntimeError(f"{self.name} does not start: {self.scene.folder}/servers.log")

    async def prepare(self):
        await self.start()
        with open(os.path.join(self.scene.servers_folder, self.name + ".port"),
                  encoding="utf-8") as file:
            self.proxy = Proxy(int(file.read()))
        await self.proxy.start()

    async def kill(self):
        await self.tool("kill", self.name)

    def processes(self):
        with open(os.path.join(self.scene.servers_folder, self.name + ".pid"),
                  encoding="utf-8") as file:
            main = int(file.read())
        with open(f"/proc/{main}/task/{main}/children", encoding="utf-8") as file:
            return [main] + [int(one) for one in file.read().split()]

    def signal(self, which):
        for one in self.processes():
            try:
                os.kill(one, which)
            except ProcessLookupError:
                pass  # a connection's own process, whose client has left


class Gateway:
    def __init__(self, scene, number, upstream):
        dice = random.Random(f"{scene.seed}/cache/{number}")
        self.scene, self.number = scene, number
        self.port = free_port()
        self.process = None
        self.ends = []  # exit codes of those that ended by themselves
        self.file = os.path.join(scene.folder, f"gateway{number}.toml")
        self.log = os.path.join(scene.folder, f"gateway{number}.log")
        front = f'front = "{scene.front}"' if scene.front else ""
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(port=self.port, store=scene.store, upstream=upstream,
                                     front=front, answer_timeout=int(ANSWER_TIMEOUT),
                                     cache="8MiB" if dice.random() < CACHES else "0B"))
            for name in ROUTES:
                probe = 'probe = "/outcome"' if name == "probe" else ""
                file.write(ROUTE.format(name=name, lease=int(LEASE), probe=probe))

    async def start(self):
        """Also while the store is away: then it tries again, as a supervisor would."""
        environment = dict(os.environ)
        if self.scene.steps != "none":
            environment.update(self.scene.clock_environment())
        end, ends = time.monotonic() + PATIENCE, []
        while time.monotonic() < end:
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(
                    [self.scene.semel, "serve", "--config", self.file], stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log, env=environment, preexec_fn=end_with_parent)
            while self.process.poll() is None and time.monotonic() < end:
                if await answers(self.port):
                    return
                await asyncio.sleep(0.02)
            ends.append(self.process.poll())
            await asyncio.sleep(0.1)
        raise RuntimeError(f"g{self.number} does not start; its tries ended with {ends}")

    async def kill(self):
        if self.process.poll() is not None:
            self.ends.append(self.process.returncode)
        self.process.kill()
        await asyncio.to_thread(self.process.wait)

    async def stop(self):
        """As an operator does. A gateway that has been asked to end ends well."""
        self.process.terminate()
        try:
            code = await asyncio.to_thread(self.process.wait, PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "still running after SIGTERM"
        if code != 0:
            self.ends.append(code)


class Scene:
    """All of it. `async with`: everything is stopped and removed at the end."""

    def __init__(self, name, seed, with_options):
        self.name, self.seed, self.semel = name, seed, with_options.semel
        self.with_options, clock_library = with_options, with_options.clock
        known = STORES[name]
        self.folder = tempfile.mkdtemp(prefix="semel-histories-")
        os.chmod(self.folder, 0o755)  # servers have accounts of their own
        self.servers_folder = os.path.join(self.folder, "servers")
        self.steps = known["steps"] if clock_library else "none"
        self.clock = Clock(self.folder)
        self.clock_library = shutil.copy(clock_library, self.folder) if clock_library else ""
        self.servers = [Server(self, one) for one in known["servers"]]
        self.upstream_log = os.path.join(self.folder, "upstream.jsonl")

    def clock_environment(self):
        return {"LD_PRELOAD": self.clock_library, "SEMEL_CLOCK_FILE": self.clock.path}

    async def __aenter__(self):
        try:
            await self.start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def start(self):
        self.gateways, self.upstream = [], None
        await asyncio.gather(*(one.prepare() for one in self.servers))
        ports = {one.name: one.proxy.port for one in self.servers}
        known = STORES[self.name]
        self.store = known["url"].format(folder=self.folder, **ports)
        self.front = known.get("front", "").format(**ports)
        if self.name not in ("memory", "redis"):
            migrated = await asyncio.create_subprocess_exec(
                self.semel, "migrate", "--store", self.store, stdout=subprocess.DEVNULL)
            if await migrated.wait() != 0:
                raise RuntimeError("semel migrate failed")
        upstream_ports = [free_port(), free_port()]
        self.upstream = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "upstream.py"), *map(str, upstream_ports),
             self.upstream_log], stdout=subprocess.PIPE, preexec_fn=end_with_parent)
        await asyncio.to_thread(self.upstream.stdout.readline)
        self.gateways = [Gateway(self, number, port) for number, port in enumerate(upstream_ports)]
        await asyncio.gather(*(one.start() for one in self.gateways))

    async def __aexit__(self, *_):
        for one in [gateway.process for gateway in self.gateways] + [self.upstream]:
            if one is not None:
                one.kill()
                one.wait()
        for one in self.gateways:
            if os.path.exists(one.log):
                shutil.copy(one.log, kept_log(self.name, self.with_options, one.number))
        for one in self.servers:
            try:
                one.signal(signal.SIGCONT)
            except OSError:
                pass  # it has been killed
        if self.servers:
            await self.servers[0].tool("clean")
        shutil.rmtree(self.folder, ignore_errors=True)
