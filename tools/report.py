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
    """GTest says it in the failure, ctest in the output."""
    said = [one.get("message", "") for kind in ("failure", "error") for one in case.findall(kind)]
    if said and not any(said):
        said = [case.findtext("system-out", "")]
    words = " ".join(" ".join(said).split())
    return f": {words[:600]}" if words else ""


def main():
    for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
        print(f"{outcome(case)}\t{name(case)}{complaint(case)}")


if __name__ == "__main__":
    main()
