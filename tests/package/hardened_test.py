#!/usr/bin/env python3
"""usage: hardened_test.py PROGRAM: reads the flags of SEMEL_HARDENING off the binary."""

import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def disassembly_has(program, patterns):
    """The patterns that were found. Stops as soon as all of them were."""
    missing, found = dict(patterns), set()
    with subprocess.Popen(("objdump", "--disassemble", "--no-show-raw-insn", program),
                          stdout=subprocess.PIPE, text=True) as process:
        before = ""
        for line in process.stdout:
            for name in [name for name, one in missing.items() if re.search(one, before + line)]:
                found.add(name)
                del missing[name]
            if not missing:
                process.kill()
                break
            before = line
    return found


def properties(program):
    dynamic = output_of("readelf", "--wide", "--dynamic", program)
    segments = output_of("readelf", "--wide", "--program-headers", program)
    imports = output_of("readelf", "--wide", "--dyn-syms", program)
    notes = output_of("readelf", "--wide", "--notes", program)
    code = disassembly_has(program, {
        "branch targets": r"<main>:\n.*\bendbr64\b",
        "stack probes": r"sub\s+\$0x1000,%rsp\n.*\b(or|mov)[lq]\s+\$0x0,",
    })
    stack = re.search(r"GNU_STACK.*", segments)
    return {
        "position independent (PIE)": re.search(r"FLAGS_1.*\bPIE\b", dynamic),
        "symbols bound at start (NOW)": re.search(r"\bBIND_NOW\b|FLAGS_1.*\bNOW\b", dynamic),
        "read-only relocations (RELRO)": "GNU_RELRO" in segments,
        "no executable stack": stack and " RWE " not in stack.group(),
        "shadow stack (CET)": re.search(r"x86 feature:.*\bSHSTK\b", notes),
        "branch targets (CET)": "branch targets" in code,
        "stack protector": "__stack_chk_fail" in imports,
        "checked string functions (FORTIFY)": re.search(r"__\w+_chk\b", imports.replace(
            "__stack_chk", "")),
        "stack clash protection": "stack probes" in code,
        "assertions of the standard library": "__glibcxx_assert_fail" in imports,
    }


def main():
    missing = [name for name, there in properties(sys.argv[1]).items() if not there]
    for name in missing:
        print(f"{sys.argv[1]}: missing: {name}")
    return 1 if missing else 0


sys.exit(main())
