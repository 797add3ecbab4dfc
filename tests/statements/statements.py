#!/usr/bin/env python3
"""Every numbered statement about the HTTP edge and the engine has a test that carries its number.

Compares the table in README.md beside this file with what the test programs list: a statement
without a test, a test that is gone, or a number nobody has stated is an error.

usage: statements.py [--write] PROGRAM...
"""

import os
import re
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md")
ROW = re.compile(r"^\| ([IRS])-(\d+) \| (.*?) \| (.*) \|$")
NUMBER = re.compile(r"(?:^|[./_])([IRS])_?(\d+)_")
NUMBERS = ([f"I-{n}" for n in range(1, 22)] + [f"S-{n}" for n in range(1, 11)]
           + [f"R-{n}" for n in range(1, 33)])


def tests_of(program):
    output = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True,
                            text=True).stdout
    suite = ""
    for line in output.splitlines():
        line = line.split("#")[0].rstrip()
        if line.startswith("  "):
            yield suite + line.strip()
        elif line.endswith("."):
            suite = line


def by_number(programs):
    found = {}
    for program in programs:
        for test in tests_of(program):
            for letter, digits in NUMBER.findall(test):
                found.setdefault(f"{letter}-{int(digits)}", set()).add(test)
    return found


def cell(tests):
    return ", ".join(f"`{test}`" for test in sorted(tests))


def main(arguments):
    write = "--write" in arguments
    found = by_number([one for one in arguments if one != "--write"])
    problems, lines, stated = [], [], []
    with open(PAGE, encoding="utf-8") as page:
        for line in page.read().splitlines():
            row = ROW.match(line)
            if row:
                number = f"{row[1]}-{row[2]}"
                stated.append(number)
                tests = cell(found.get(number, ()))
                if not tests:
                    problems.append(f"{number} has no test that carries its number")
                elif tests != row[4] and not write:
                    problems.append(f"{number}: the page lists {row[4]}, there are {tests}")
                line = f"| {number} | {row[3]} | {tests or '–'} |"
            lines.append(line)
    problems += [f"{number} is not on the page" for number in NUMBERS if number not in stated]
    problems += [f"tests carry {number}, which nobody has stated: {cell(tests)}"
                 for number, tests in sorted(found.items()) if number not in NUMBERS]
    if write:
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write("\n".join(lines) + "\n")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
