"""Reads a page of docs and runs its blocks as a reader would: in order, in one shell, in a folder
of their own.

- `sh` blocks are run. The first one that fails ends the page.
- A block whose paragraph before it ends with a file's name in backticks and a colon becomes that
  file.
- A `text` block is what the `sh` block before it has printed. `…` stands for anything within its
  line; a line of `…` alone for any number of lines.
- Addresses of the page (127.0.0.1:7070) become addresses that are free on this machine.
"""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile

FENCE = re.compile(r"^( *)```(\S*)\s*$")
FILE_NAME = re.compile(r"`([\w./-]+)`:$")
ADDRESS = re.compile(r"\b127\.0\.0\.1:(\d{4,5})\b")


class Block:
    def __init__(self, language, text, line, section, file):
        self.language, self.text, self.line = language, text, line
        self.section, self.file = section, file


def blocks_of(path):
    """All fenced blocks of a page, each with the heading above it."""
    blocks, section, before, indent, fence = [], "", "", "", None
    with open(path, encoding="utf-8") as page:
        for number, line in enumerate(page.read().splitlines(), 1):
            if fence is None and (found := FENCE.match(line)):
                name = FILE_NAME.search(before)
                indent = found.group(1)
                fence = Block(found.group(2), "", number, section, name and name.group(1))
            elif fence is not None and line.strip() == "```":
                blocks.append(fence)
                fence, before = None, ""
            elif fence is not None:
                fence.text += line.removeprefix(indent) + "\n"
            elif line.startswith("#"):
                section = line.lstrip("#").strip()
            elif line.strip():
                before = line.rstrip()
    assert fence is None, f"{path}: a block does not end"
    return blocks


def free_port():
    """Below the ports that Linux gives to connections: such a port stays free until it is used."""
    while True:
        port = random.randrange(20000, 32768)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


class Ports:
    """One free port for each port that a page names."""

    def __init__(self):
        self.chosen = {}

    def of(self, port):
        return self.chosen.setdefault(port, free_port())

    def put_into(self, text):
        return ADDRESS.sub(lambda found: f"127.0.0.1:{self.of(found.group(1))}", text)


def pattern_of(shown):
    """What a `text` block allows."""
    lines = []
    for line in shown.rstrip("\n").split("\n"):
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            words = [re.escape(part) for part in line.rstrip().split("…")]
            lines.append("[^\n]*".join(words) + r"[ ]*\n")
    return re.compile("".join(lines) + r"\Z")


class Run:
    """Where a page runs: a folder, a shell with `semel` in its path, free ports."""

    def __init__(self, semel, variables=None):
        self.folder = tempfile.mkdtemp(prefix="semel-docs-")
        self.ports = Ports()
        self.shell = None
        tools = os.path.join(self.folder, ".tools")
        os.mkdir(tools)
        os.symlink(os.path.realpath(semel), os.path.join(tools, "semel"))
        # The names of the accounts' own settings stay outside: a page says all that it needs.
        self.env = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": self.folder, "LANG": "C.UTF-8",
                    "USER": "ada", **(variables or {})}

    def close(self):
        if self.shell is not None:
            try:
                os.killpg(self.shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.shell.wait()
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def script_of(self, blocks):
        """One shell for all blocks; each block's output goes into a file of its own."""
        lines = ["set -euo pipefail"]
        for number, block in enumerate(blocks):
            text = self.ports.put_into(block.text)
            if block.file:
                lines.append(f"cp {self.path(f'.block.{number}')} {block.file}")
                with open(self.path(f".block.{number}"), "w", encoding="utf-8") as file:
                    file.write(text)
            elif block.language == "sh":
                lines += [f"echo {number} >.at", f"exec >.out.{number} 2>&1", text]
        return "\n".join(lines + ["echo end >.at", ""])

    def run(self, blocks, seconds=240):
        """Runs them. Returns what is wrong, or an empty text."""
        with open(self.path(".script"), "w", encoding="utf-8") as file:
            file.write(self.script_of(blocks))
        shell = subprocess.Popen(["bash", self.path(".script")], cwd=self.folder, env=self.env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        self.shell = shell
        try:
            shell.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        at = self.read(".at").strip()
        if at != "end":
            block = blocks[int(at)]
            state = "did not end" if shell.poll() is None else f"exit code {shell.returncode}"
            return f"line {block.line}: {state}:\n{block.text}\n{self.read(f'.out.{at}')}"
        return self.compare(blocks)

    def compare(self, blocks):
        last = None
        for number, block in enumerate(blocks):
            if block.language == "sh" and not block.file:
                last = number
            elif block.language == "text" and last is not None:
                got = self.read(f".out.{last}").replace("\r\n", "\n").rstrip("\n") + "\n"
                if not pattern_of(self.ports.put_into(block.text)).match(got):
                    return f"line {block.line}: the page shows\n{block.text}\nbut it is\n{got}"
                last = None
        return ""
