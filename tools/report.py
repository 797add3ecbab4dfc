#!/usr/bin/env python3
"""Prints a line per case of a JUnit file of GTest or ctest: `passed|failed|skipped <tab> name`,
and for a failed one some of what it said."""

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
    """GTest says it in the failure, ctest at the end of what it printed."""
    said = [one.get("message", "") for kind in ("failure", "error") for one in case.findall(kind)]
    if any(said):
        return one_line(" ".join(said))[:600]
    return one_line(case.findtext("system-out", ""))[-600:] if said else ""


def one_line(text):
    return " ".join(text.split())


def main():
    for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
        words = complaint(case)
        print(f"{outcome(case)}\t{name(case)}" + (f": {words}" if words else ""))


if __name__ == "__main__":
    main()
