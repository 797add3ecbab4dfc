#!/usr/bin/env python3
"""Prints a line per case of a JUnit file of GTest or ctest: `passed|failed|skipped <tab> name`,
and for a failed one the beginning of what it said."""

import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.get("status") == "fail":
        return "failed"
    if case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed"):
        return "skipped"
    if case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def name(case):
    group, own = case.get("classname", ""), case.get("name", "")
    return own if group in ("", own) else f"{group}.{own}"


def complaint(case):
    said = next((case.find(kind) for kind in ("failure", "error") if case.find(kind) is not None), None)
    words = " ".join((said.get("message", "") if said is not None else "").split())
    return f": {words[:600]}" if words else ""


def main():
    for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
        print(f"{outcome(case)}\t{name(case)}{complaint(case)}")


if __name__ == "__main__":
    main()
