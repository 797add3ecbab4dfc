#!/usr/bin/env python3
"""Runs a page of docs from its first block to its last, and compares what it shows. With --build
the package of that build is installed below the reader's home, where programs of pages find it.

usage: pages_test.py SEMEL PAGE [--build FOLDER] [--compiler FILE] [--flags TEXT]
"""

import argparse
import subprocess
import sys

from page import Run, blocks_of


def main():
    parser = argparse.ArgumentParser()
    for name in ("semel", "page", "--build", "--compiler", "--flags"):
        parser.add_argument(name, default="")
    given = parser.parse_args()
    blocks = blocks_of(given.page)
    commands = [block for block in blocks if block.language == "sh"]
    if not commands:
        sys.exit(f"{given.page}: there is nothing to run")
    run = Run(given.semel, {"CXX": given.compiler, "CXXFLAGS": given.flags} if given.build else {})
    try:
        if given.build:
            subprocess.run(["cmake", "--install", given.build, "--prefix", run.path("semel")],
                           check=True, stdout=subprocess.DEVNULL)
        wrong = run.run(blocks, seconds=540)
    finally:
        run.close()
    if wrong:
        sys.exit(f"{given.page}: {wrong}")
    print(f"{given.page}: {len(commands)} blocks of commands, all true")


if __name__ == "__main__":
    main()
