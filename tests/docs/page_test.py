#!/usr/bin/env python3
"""Shows that a page is run block by block, and that a page which is not true is noticed.

usage: page_test.py
"""

import os
import tempfile
import unittest

from page import Run, blocks_of


def run_page(text, **variables):
    with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as page:
        page.write(text)
        page.flush()
        blocks = blocks_of(page.name)
    run = Run("/bin/true", variables)
    try:
        return run.run(blocks, seconds=20)
    finally:
        run.close()


class Pages(unittest.TestCase):
    def test_a_page_that_is_true(self):
        self.assertEqual(run_page("""
# Words
```sh
greeting=hello
```
Now `words.txt`:
```
one two
```
```sh
cat words.txt
echo "$greeting, it is 17:03"
```
```text
one two
hello, it is …
```
"""), "")

    def test_output_that_differs_is_noticed(self):
        wrong = run_page("```sh\necho 1\n```\n```text\n2\n```\n")
        self.assertIn("line 4: the page shows\n2\n\nbut it is\n1\n", wrong)

    def test_output_beyond_what_is_shown_is_noticed(self):
        self.assertNotEqual(run_page("```sh\necho 1\necho 2\n```\n```text\n1\n```\n"), "")
        self.assertEqual(run_page("```sh\necho 1\necho 2\n```\n```text\n1\n…\n```\n"), "")

    def test_a_command_that_fails_is_noticed_also_within_a_pipe(self):
        self.assertIn("line 1: exit code 1", run_page("```sh\nfalse | cat\n```\n"))

    def test_a_command_that_does_not_end_is_noticed(self):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as page:
            page.write("```sh\nsleep 60\n```\n")
            page.flush()
            run = Run("/bin/true")
            self.assertIn("did not end", run.run(blocks_of(page.name), seconds=0.5))
            run.close()

    def test_one_address_of_the_page_is_one_free_address(self):
        self.assertEqual(run_page("""
```sh
a=127.0.0.1:7070
b=http://127.0.0.1:7070/orders
c=127.0.0.1:7071
test "$b" = "http://$a/orders"
test "$a" != "$c"
test "$a" != "127.0.0.1:70""70"
```
"""), "")

    def test_nothing_stays(self):
        run = Run("/bin/true")
        self.assertEqual(run.run([]), "")
        run.close()
        self.assertFalse(os.path.exists(run.folder))


if __name__ == "__main__":
    unittest.main()
