#!/usr/bin/env python3
"""Every configuration in the pages has sections and keys that semel has.

usage: toml_test.py SEMEL ROOT
"""

import os
import re
import subprocess
import sys
import tomllib
import unittest

from links_test import pages_of
from page import blocks_of

SEMEL = ROOT = ""


def reference():
    """Section -> its keys, as semel prints them."""
    text = subprocess.run([SEMEL, "check-config", "--reference"], check=True, capture_output=True,
                          text=True).stdout
    sections = {}
    for part in re.split(r"^## \[+", text, flags=re.MULTILINE)[1:]:
        sections[part.split("]")[0]] = set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE))
    return sections


def what_is_wrong(text, sections):
    wrong = []
    for section, tables in tomllib.loads(text).items():
        if section not in sections:
            wrong.append(f"no section [{section}]")
            continue
        for table in tables if isinstance(tables, list) else [tables]:
            wrong += [f"no key {section}.{key}" for key in table if key not in sections[section]]
    return wrong


class Configurations(unittest.TestCase):
    def test_of_all_pages(self):
        sections, wrong, seen = reference(), [], 0
        self.assertGreater(len(sections), 10)
        for page in pages_of(ROOT):
            for block in blocks_of(os.path.join(ROOT, page)):
                if block.language == "toml":
                    seen += 1
                    wrong += [f"{page}:{block.line}: {one}"
                              for one in what_is_wrong(block.text, sections)]
        self.assertGreater(seen, 5)
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_what_is_wrong_is_found(self):
        self.assertEqual(what_is_wrong("[a]\nb = 1\n[[c]]\nd = 1\ne = 2\n[f]\n",
                                       {"a": {"b"}, "c": {"d"}}),
                         ["no key c.e", "no section [f]"])


if __name__ == "__main__":
    SEMEL, ROOT = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
