# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the program in a folder of its own."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

ASSAY, ROOT = sys.argv[1:3]
sys.argv[1:3] = []
# The same rows whether or not the optional peers are installed here.
ALONE = {"ASSAY_PEERS": "/nonexistent", "ASSAY_MACHINE_DIR": "/nonexistent"}


class CliTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.path(name), mode) as file:
            file.write(content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def assay(self, *arguments, environment=None, **options):
        return subprocess.run(
            [ASSAY, *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=540,
            env={**os.environ, **ALONE, "ASSAY_LOCK_DIR": self.folder, **(environment or {})},
            **options,
        )

    def run_ok(self, *arguments, **options):
        result = self.assay(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    # A small run that is quick everywhere: one point, two providers, no steady time to speak of.
    SMALL = (
        "run", "semiring_matmul", "--points", '{"n":16,"algebra":"real"}', "--providers",
        "reference,naive", "--rounds", "2", "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%",
    )  # fmt: skip


def full_disk(size=0):
    """Options of a run in which no file can grow beyond `size` bytes: writes fail as on a full disk."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return {"preexec_fn": limit, "restore_signals": False}


def main():
    unittest.main()
