#!/usr/bin/env python3
"""Two gateways on one store under faults, and one model of what their answers may be.

Runs each store in a process of its own, two at a time, and reports every case of the model as a
test. A store of each gateway's own (`memory:`) shows that the model finds out what is wrong.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import time
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True  # nothing is left beside the sources
import model
from clients import Crowd
from faults import Faults
from scene import STORES, Scene, end_with_parent, kept_log

HERE = os.path.dirname(os.path.abspath(__file__))
SHORT = 10  # seconds
SETTLING = 60  # seconds; a busy machine included
AT_ONCE = 2
# Two gateways with a store of their own each break at least so many cases.
MEMORY_BREAKS = 8


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--semel", required=True, help="the program that is tried")
    parser.add_argument("--clock", required=True,
                        help="the library that sets a wall clock; empty: none")
    parser.add_argument("--reports", required=True, help="folder for histories that do not hold")
    parser.add_argument("--seconds", type=int, default=SHORT, help="of faults, for each store")
    parser.add_argument("--seed", type=int, help="repeats the plan of a run before")
    parser.add_argument("--store", action="append", choices=STORES, help="only this one; repeats")
    parser.add_argument("--keep", action="store_true", help="keep each history, not only bad ones")
    parser.add_argument("--gtest_output", default="", help="xml:FILE, the report for ./test")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- one store
async def torture(store, seed, with_options):
    async with Scene(store, seed, with_options) as scene:
        crowd = Crowd(scene, seed)
        faults = Faults(scene, seed, with_options.seconds)
        running = [asyncio.create_task(crowd.run()), asyncio.create_task(faults.run())]
        await asyncio.wait(running, timeout=with_options.seconds,
                           return_when=asyncio.FIRST_EXCEPTION)
        faults.over = True
        await running[1]
        crowd.over = True
        await running[0]
        faults.settle_clock()
        await crowd.settle_all(SETTLING)
        for gateway in scene.gateways:
            await gateway.stop()
        with open(scene.upstream_log, encoding="utf-8") as log:
            served = [json.loads(line) for line in log]
        ends = [{"what": "gateway ended", "gateway": one.number, "code": code,
                 "at": time.monotonic()} for one in scene.gateways for code in one.ends]
        return crowd.history + faults.history + served + ends


def write_history(history, violations, path):
    with open(path, "w", encoding="utf-8") as file:
        for name in sorted({name for found in violations.values() for name, _ in found}):
            file.writelines(line + "\n" for line in model.lines_of(history, name))
            file.write("\n")
        file.writelines(json.dumps(one) + "\n" for one in history.events)


async def run_alone(with_options):
    """In a process of its own: prints one JSON object, with what its cases say."""
    running = asyncio.current_task()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    store, start = with_options.alone, time.monotonic()
    os.makedirs(with_options.reports, exist_ok=True)
    events = await torture(store, f"{with_options.seed}/{store}", with_options)
    history = model.History(store, events)
    violations = model.judge(history)
    path = os.path.join(with_options.reports, f"{store}-{with_options.seed}.jsonl")
    if with_options.keep or store != "memory" and any(violations.values()):
        write_history(history, violations, path)
    else:
        for number in range(2):
            os.remove(kept_log(store, with_options, number))
    print(json.dumps({"violations": violations, "figures": model.figures(history), "file": path,
                      "seconds": time.monotonic() - start}))


# ---- all of them
async def start_alone(store, with_options):
    words = ["--alone", store, "--semel", with_options.semel, "--clock", with_options.clock,
             "--reports", with_options.reports, "--seed", str(with_options.seed),
             "--seconds", str(with_options.seconds)] + ["--keep"] * with_options.keep
    process = await asyncio.create_subprocess_exec(
        sys.executable, os.path.abspath(__file__), *words, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, limit=1 << 26,
        preexec_fn=lambda: end_with_parent(signal.SIGTERM))
    try:
        said, complaint = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    if process.returncode != 0:
        return {"broken": complaint.decode().strip()[-2000:] or f"ended {process.returncode}"}
    return json.loads(said)


def cases_of(store, got):
    """[(name, complaint or None)]"""
    if "broken" in got:
        return [("Runs", got["broken"])]
    violations = got["violations"]
    if store == "memory":
        broken = sum(bool(found) for found in violations.values())
        print(f"memory: {broken} of {len(violations)} cases break, as they have to")
        few = f"only {broken} cases break, {MEMORY_BREAKS} are expected"
        return [("AStoreForEachGatewayIsFoundOut", few if broken < MEMORY_BREAKS else None)]
    return [(name, None if not found else f"{len(found)}; " + "; ".join(
        f"{key}: {words}" for key, words in found[:3])) for name, found in violations.items()]


def show(store, got):
    """As GTest does, so that ./test leaves out what passes."""
    suite = f"Histories/{store.capitalize()}"
    cases = cases_of(store, got)
    print(f"[----------] {suite}")
    for name, complaint in cases:
        print(f"[ RUN      ] {suite}.{name}")
        if complaint:
            print(complaint)
        print(f"[  FAILED  ] {suite}.{name}" if complaint else f"[       OK ] {suite}.{name}")
    if "figures" in got:
        numbers = dict(got["figures"])
        faults = ", ".join(f"{name} {count}" for name, count in
                           sorted(numbers.pop("faults").items()))
        print(f"{store}: " + ", ".join(f"{count} {name}" for name, count in numbers.items())
              + f"; {faults}; {got['seconds']:.0f} s")
        if any(complaint for _, complaint in cases):
            print(f"{store}: history, and beside it the gateways' logs: {got['file']}")
    sys.stdout.flush()
    return suite, cases


def write_report(path, results):
    root = ElementTree.Element("testsuites")
    for suite, cases in results:
        group = ElementTree.SubElement(root, "testsuite", name=suite)
        for name, complaint in cases:
            one = ElementTree.SubElement(group, "testcase", name=name, classname=suite,
                                         status="run", result="completed")
            if complaint:
                ElementTree.SubElement(one, "failure", message=complaint)
    ElementTree.ElementTree(root).write(path, encoding="utf-8")


async def install_servers():
    tool = os.path.join(HERE, "..", "..", "tools", "setup")
    done = await asyncio.create_subprocess_exec(tool, "servers")
    if await done.wait() != 0:  # the stores that need one fail, and name it
        print("histories: not all servers could be installed", flush=True)


async def run_all(with_options):
    running = asyncio.current_task()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    places = asyncio.Semaphore(AT_ONCE)
    print(f"histories: --seed {with_options.seed} --seconds {with_options.seconds}", flush=True)
    await install_servers()

    async def run_one(store):
        async with places:
            return show(store, await start_alone(store, with_options))

    results = await asyncio.gather(*(run_one(one) for one in with_options.store or STORES))
    if with_options.gtest_output:
        write_report(with_options.gtest_output.removeprefix("xml:"), results)
    return any(complaint for _, cases in results for _, complaint in cases)


def main():
    with_options = options()
    if with_options.alone:
        asyncio.run(run_alone(with_options))
        return 0
    if with_options.seed is None:
        with_options.seed = int.from_bytes(os.urandom(4), "big")
    return 1 if asyncio.run(run_all(with_options)) else 0


if __name__ == "__main__":
    sys.exit(main())
