#!/usr/bin/env python3
"""Every relative link of the Markdown pages leads to a file that is there, and to a heading of it.

usage: links_test.py ROOT
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from urllib.parse import unquote

ROOT = ""
LINK = re.compile(r"\]\(<?([^)\s>]+)>?\)")
CODE = re.compile(r"`[^`]*`")


def lines_outside_blocks(path):
    inside = False
    with open(path, encoding="utf-8") as page:
        for number, line in enumerate(page.read().splitlines(), 1):
            if line.lstrip().startswith("```"):
                inside = not inside
            elif not inside:
                yield number, line


def anchor_of(heading):
    """As GitHub makes it: lower case, no punctuation, hyphens for blanks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors_of(path):
    found, seen = set(), {}
    for _, line in lines_outside_blocks(path):
        if heading := re.match(r"#{1,6} (.*)", line):
            anchor = anchor_of(heading.group(1))
            times = seen.get(anchor, 0)
            seen[anchor] = times + 1
            found.add(f"{anchor}-{times}" if times else anchor)
    return found


def wrong_links(root, pages):
    found = []
    for page in pages:
        for number, line in lines_outside_blocks(os.path.join(root, page)):
            for link in LINK.findall(CODE.sub("", line)):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = os.path.join(root, os.path.dirname(page), unquote(path)) if path else \
                    os.path.join(root, page)
                if not os.path.exists(target):
                    found.append(f"{page}:{number}: no file {link}")
                elif anchor and target.endswith(".md") and anchor not in anchors_of(target):
                    found.append(f"{page}:{number}: no heading {link}")
    return found


def pages_of(root):
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard",
               "*.md"]
    if os.path.exists(os.path.join(root, ".git")):
        names = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
        return [name for name in names if name and os.path.exists(os.path.join(root, name))]
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", "node_modules")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names
                  if name.endswith(".md")]
    return found


class Links(unittest.TestCase):
    def test_all_of_the_tree(self):
        pages = pages_of(ROOT)
        self.assertGreater(len(pages), 30)
        wrong = wrong_links(ROOT, pages)
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_what_is_wrong_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, "a.md"), "w", encoding="utf-8") as page:
                page.write("# One, two\n# One, two\n[x](a.md#one-two-1) [y](a.md#three)\n"
                           "[z](b.md) `[no link](c.md)`\n```\n[none](d.md)\n```\n[w](#one-two)\n")
            self.assertEqual(wrong_links(root, pages_of(root)),
                             ["a.md:3: no heading a.md#three", "a.md:4: no file b.md"])


if __name__ == "__main__":
    ROOT = sys.argv.pop(1)
    unittest.main(verbosity=2)
