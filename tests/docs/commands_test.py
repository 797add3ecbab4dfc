#!/usr/bin/env python3
"""Every `semel …` in the pages names a command that there is, with options that it has.

usage: commands_test.py SEMEL ROOT
"""

import functools
import os
import re
import shlex
import subprocess
import sys
import unittest

from links_test import pages_of

SEMEL = ROOT = ""
IN_BLOCKS = re.compile(r"(?:^|[(|;]|&& )\s*semel ([a-z][^|;)#&>]*)")
IN_LINES = re.compile(r"`semel ([a-z][^`]*)`")


def texts_of(page):
    """Commands in blocks, also those that go on behind a backslash, and code within lines."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = re.sub(r"\\\n\s*", "", file.read())
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        else:
            yield from (IN_BLOCKS if inside else IN_LINES).findall(line)


@functools.cache
def help_of(path):
    """Options and subcommands of a command, or nothing if there is no such command."""
    done = subprocess.run([SEMEL, *path, "--help"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    options = set(re.findall(r"(?:^|[\s,])(--?[a-z][\w-]*)", done.stdout))
    return options, set(re.findall(r"^  ([a-z][\w-]*) ", done.stdout, re.MULTILINE))


def words_of(text):
    try:
        return shlex.split(text)
    except ValueError:  # the line ends within quotes
        return text.split()


def what_is_wrong(text):
    words = words_of(text)
    path = ()
    while words and words[0] in (help_of(path) or ((), ()))[1]:
        path += (words.pop(0),)
    if not path:
        return f"no command 'semel {text.strip()}'"
    unknown = [word for word in (one.split("=")[0] for one in words)
               if re.match(r"--?[a-z]", word) and word not in help_of(path)[0]]
    return f"'semel {' '.join(path)}' has no {', '.join(unknown)}" if unknown else ""


class Commands(unittest.TestCase):
    def test_of_all_pages(self):
        wrong, seen = [], 0
        for page in pages_of(ROOT):
            for text in texts_of(page):
                seen += 1
                if why := what_is_wrong(text):
                    wrong.append(f"{page}: {why}")
        self.assertGreater(seen, 150)
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_what_is_wrong_is_found(self):
        self.assertEqual(what_is_wrong("records list --state lapsed"), "")
        self.assertIn("has no --stat", what_is_wrong("records list --stat lapsed"))
        self.assertIn("no command", what_is_wrong("recods list"))


if __name__ == "__main__":
    SEMEL, ROOT = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
