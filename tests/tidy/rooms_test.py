#!/usr/bin/env python3
"""Shows that tools/rooms notices a way, or a room, that is not in the picture."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOMS = sys.argv.pop(1)

TREE = {
    "src/base/a.hpp": "#pragma once\n",
    "src/core/b.hpp": '#pragma once\n#include "base/a.hpp"\n',
    "src/store/c.hpp": '#pragma once\n#include "core/b.hpp"\n',
    "docs/rooms.svg": "",
}


class Rooms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for path, text in TREE.items():
            self.write(path, text)
        self.assertEqual(self.run_rooms(), 0)

    def write(self, path, text):
        whole = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)

    def run_rooms(self, *options):
        return subprocess.run([sys.executable, ROOMS, "--root", self.folder.name, *options],
                              stdout=subprocess.DEVNULL, check=False).returncode

    def test_agrees_with_the_picture_that_it_drew(self):
        self.assertEqual(self.run_rooms("--check"), 0)

    def test_notices_a_way_that_follows_from_others(self):
        self.write("src/store/d.hpp", '#pragma once\n#include "base/a.hpp"\n')
        self.assertEqual(self.run_rooms("--check"), 1)

    def test_notices_a_new_room(self):
        self.write("src/engine/e.hpp", "#pragma once\n")
        self.assertEqual(self.run_rooms("--check"), 1)

    def test_does_not_mind_one_more_file_on_a_way_that_is_drawn(self):
        self.write("src/core/f.hpp", '#pragma once\n#include "base/a.hpp"\n')
        self.assertEqual(self.run_rooms("--check"), 0)


if __name__ == "__main__":
    unittest.main()
