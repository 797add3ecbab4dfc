#!/usr/bin/env python3
"""Shows that the preset `clang` refuses code that touches a guarded member without its mutex, and
that it accepts the right code. Skipped (77) where clang is not installed."""

import json
import os
import shutil
import subprocess
import sys
import unittest

ROOT = sys.argv.pop(1)

SOURCE = """#include "semel/base/mutex.hpp"
namespace semel {
class counter {
public:
    void add() { %(add)s }
    void settle() SEMEL_REQUIRES(mutex_) { ++number_; }
    int wait() {
        detail::guard lock{mutex_};
        changed_.wait(lock, [&]() SEMEL_REQUIRES(mutex_) { return number_ > 0; });
        %(between)s
        return number_;
    }

private:
    detail::mutex mutex_;
    detail::condition changed_;
    int number_ SEMEL_GUARDED_BY(mutex_) = 0;
};
int use(counter& one) { one.add(); return one.wait(); }
}
"""
GUARDED = "const detail::guard lock{mutex_}; settle();"


def compiler():
    with open(os.path.join(ROOT, "CMakePresets.json"), encoding="utf-8") as file:
        presets = {one["name"]: one for one in json.load(file)["configurePresets"]}
    return presets["clang"]["cacheVariables"]["CMAKE_CXX_COMPILER"]


def complaint(add=GUARDED, between=""):
    done = subprocess.run(
        [compiler(), "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", "-x", "c++",
         "-I", os.path.join(ROOT, "include"), "-"],
        input=SOURCE % {"add": add, "between": between}, capture_output=True, text=True,
        check=False)
    return done.stderr if done.returncode else ""


class Locks(unittest.TestCase):
    def test_right_code_is_accepted(self):
        self.assertEqual(complaint(), "")
        self.assertEqual(complaint(between="{ const detail::gap unlocked{mutex_}; add(); }"), "")

    def test_a_member_without_its_mutex_is_refused(self):
        self.assertIn("number_", complaint(add="++number_;"))

    def test_a_call_without_the_mutex_is_refused(self):
        self.assertIn("settle", complaint(add="settle();"))

    def test_a_gap_has_no_mutex(self):
        self.assertIn("number_", complaint(between="{ detail::gap unlocked{mutex_}; ++number_; }"))
        self.assertIn("number_", complaint(between="lock.unlock();"))

    def test_the_preset_asks_for_it(self):
        with open(os.path.join(ROOT, "cmake/semel_toolchain.cmake"), encoding="utf-8") as file:
            self.assertIn("Clang>:-Wshadow -Wthread-safety>", file.read())


if __name__ == "__main__":
    if not shutil.which(compiler()):
        print(f"{compiler()} is not installed; see tools/setup clang")
        sys.exit(77)
    unittest.main()
