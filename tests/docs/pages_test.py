#!/usr/bin/env python3
"""Runs a page of docs from its first block to its last, and compares what it shows.

usage: pages_test.py SEMEL PAGE
"""

import sys

from page import Run, blocks_of


def main():
    semel, page = sys.argv[1:]
    blocks = blocks_of(page)
    commands = [block for block in blocks if block.language == "sh"]
    if not commands:
        sys.exit(f"{page}: there is nothing to run")
    run = Run(semel)
    try:
        wrong = run.run(blocks)
    finally:
        run.close()
    if wrong:
        sys.exit(f"{page}: {wrong}")
    print(f"{page}: {len(commands)} blocks of commands, all true")


if __name__ == "__main__":
    main()
