#!/usr/bin/env python3
"""README.md is true, and README.zh-CN.md says the same: equal blocks, tables of one shape, the same
links under headings of the same levels.

usage: readme_test.py SEMEL ROOT
"""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "operations"))
from links_test import lines_outside_blocks
from page import Run, blocks_of
from trial_support import call, eventually

SEMEL = ROOT = ""
PAGES = ("README.md", "README.zh-CN.md")


def path_of(name):
    return os.path.join(ROOT, name)


def lines_of(page):
    return [line for _, line in lines_outside_blocks(path_of(page))]


def levels(page):
    return [len(line) - len(line.lstrip("#")) for line in lines_of(page) if line.startswith("#")]


def tables(page):
    """For each row of a table: the number of cells, and the code in each of them."""
    rows = [re.split(r"(?<!\\)\|", line.strip("|")) for line in lines_of(page) if line[:1] == "|"]
    return [[sorted(re.findall(r"`([^`]+)`", cell)) for cell in row] for row in rows]


def links(page):
    found = re.findall(r"\]\(([^)]+)\)", "\n".join(lines_of(page)))
    return sorted(link for link in found if link not in PAGES)


class BothLanguages(unittest.TestCase):
    def both(self, part):
        english, chinese = (part(page) for page in PAGES)
        self.assertTrue(english)
        self.assertEqual(chinese, english)

    def test_the_headings_have_the_same_levels(self):
        self.both(levels)

    def test_the_blocks_are_equal(self):
        self.both(lambda page: [(one.language, one.text) for one in blocks_of(path_of(page))])

    def test_the_tables_have_the_same_rows_cells_and_code(self):
        self.both(tables)

    def test_the_links_lead_to_the_same_places(self):
        self.both(links)

    def test_the_paragraphs_and_lists_are_as_many(self):
        def shape(page):
            text = "\n".join(lines_of(page))
            return [part[:1] if part[:1] in "#|-!" else "text"
                    for part in re.split(r"\n\s*\n", text) if part.strip()]

        self.both(shape)


class Words(unittest.TestCase):
    def setUp(self):
        self.blocks = blocks_of(path_of("README.md"))

    def test_the_program_is_the_one_that_the_quickstart_builds(self):
        programs = [[one.text for one in blocks_of(path_of(page)) if one.language == "cpp"]
                    for page in ("README.md", "docs/quickstart-embed.md")]
        self.assertEqual(programs[0], programs[1][:1])

    def test_the_table_of_the_demo(self):
        command, shown = self.blocks[:2]
        self.assertIn("semel demo", command.text)
        # How many of two hundred naive callers meet differs from one run to the next.
        shown.text = re.sub(r"^(200 repeats at once).*( 1)$", r"\1…\2", shown.text, flags=re.M)
        run = Run(SEMEL)
        self.addCleanup(run.close)
        wrong = run.run([command, shown])
        self.assertEqual(wrong, "", wrong)

    def test_the_requests_and_their_answers(self):
        run = Run(SEMEL)
        self.addCleanup(run.close)
        listen = f"127.0.0.1:{run.ports.of('7070')}"
        demo = subprocess.Popen([SEMEL, "serve", "--demo", run.path("demo.db"), "--listen", listen],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(demo.wait)
        self.addCleanup(demo.kill)

        def is_up():
            try:
                return call(f"http://{listen}/").status == 200
            except OSError:
                return False

        self.assertTrue(eventually(is_up))
        first = next(at for at, one in enumerate(self.blocks) if "127.0.0.1:7070" in one.text)
        blocks = [one for one in self.blocks[first:] if one.language in ("sh", "text")]
        self.assertEqual(len(blocks), 6)
        for one in blocks:
            one.text = one.text.replace("curl -i", "curl -si")
        wrong = run.run(blocks)
        self.assertEqual(wrong, "", wrong)


if __name__ == "__main__":
    SEMEL, ROOT = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
