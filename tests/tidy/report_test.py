#!/usr/bin/env python3
"""Shows that tools/report.py tells passed, failed and skipped apart for GTest and ctest files, and
why a case failed."""

import subprocess
import sys
import tempfile
import unittest

REPORT = sys.argv.pop(1)

GTEST = """<testsuites><testsuite name="A">
<testcase name="Good" classname="A" status="run" result="completed" />
<testcase name="Bad" classname="A" status="run" result="completed"><failure /></testcase>
<testcase name="Told" classname="A" status="run" result="completed">
<failure message="t.cpp:3&#x0A;1 is not&#x0A;  2"><![CDATA[the same]]></failure></testcase>
<testcase name="Left" classname="A" status="run" result="skipped"><skipped message="y" /></testcase>
<testcase name="DISABLED_Off" classname="A" status="notrun" result="suppressed" />
</testsuite></testsuites>"""

CTEST = """<testsuite name="c">
<testcase name="cli.good" classname="cli.good" status="run"><system-out>text</system-out></testcase>
<testcase name="cli.bad" classname="cli.bad" status="fail"><failure message="" /></testcase>
<testcase name="cli.told" classname="cli.told" status="fail"><failure message="" />
<system-out>begins
ends badly</system-out></testcase>
<testcase name="cli.left" classname="cli.left" status="notrun"><skipped message="" /></testcase>
</testsuite>"""


def lines_of(xml):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(xml)
        file.flush()
        done = subprocess.run([sys.executable, REPORT, file.name], capture_output=True, text=True,
                              check=True)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


class Report(unittest.TestCase):
    def test_reads_gtest(self):
        self.assertEqual(lines_of(GTEST), [("passed", "A.Good"), ("failed", "A.Bad"),
                                           ("failed", "A.Told: t.cpp:3 1 is not 2"),
                                           ("skipped", "A.Left"), ("skipped", "A.DISABLED_Off")])

    def test_reads_ctest(self):
        self.assertEqual(lines_of(CTEST), [("passed", "cli.good"), ("failed", "cli.bad"),
                                           ("failed", "cli.told: begins ends badly"),
                                           ("skipped", "cli.left")])


if __name__ == "__main__":
    unittest.main()
