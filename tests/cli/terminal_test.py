# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What a person at a terminal, and a CI's log, see of a run; and a gate as a comment."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from assay_cli import ALONE, ASSAY, CliTest, main
from journals import HOSTILE, journal, rounds

BEFORE, NOW = "20260101T000000.000000Z-aaaaaaa", "20260102T000000.000000Z-bbbbbbb"


class Terminal(CliTest):
    RUN = (
        "run", "semiring_matmul", "--points", '{"n":16,"algebra":"real"}', "--providers",
        "reference,naive", "--rounds", "8", "--steady", "1ms", "--max-steal", "100%", "--max-foreign",
        "100%", "--out", "j.jsonl",
    )  # fmt: skip

    def on_terminal(self, columns, *arguments):
        """Standard error as a terminal of that many columns gets it."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([ASSAY, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=theirs,
                                   env={**os.environ, **ALONE, "ASSAY_LOCK_DIR": self.folder})  # fmt: skip
        os.close(theirs)
        text = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            text += chunk
        os.close(ours)
        process.stdout.close()
        self.assertEqual(process.wait(), 0, text)
        return text.decode()

    def test_progress_fits_and_says_what_matters(self):
        for columns in (80, 60, 140):
            text = self.on_terminal(columns, *self.RUN)
            os.remove(self.path("j.jsonl"))
            os.remove(self.path("j.jsonl.request.json"))
            lines = [line for line in re.split(r"[\r\n]+", text.replace("\033[K", "")) if line.startswith("[")]
            self.assertGreater(len(lines), 16)
            for line in lines:
                self.assertLess(len(line), columns)
            # The middle of the run: a ratio with its interval, the provider, and the time left.
            told = [line for line in lines if re.search(r"naive  [0-9.]+ \[[0-9.]+, [0-9.]+\]  about \d+ (s|min) left$", line)]
            self.assertGreaterEqual(len(told), 1, lines)
            self.assertTrue(any("semiring_" in line for line in lines))

    def test_a_log_is_short(self):
        result = self.run_ok(*self.RUN)
        lines = result.stderr.splitlines()
        self.assertLess(len([line for line in lines if line.startswith("[")]), 8, lines)
        self.assertTrue(any(line.startswith("[16/16]") for line in lines), lines)

    def test_quiet_is_the_table_alone(self):
        result = self.run_ok(*self.RUN, "--quiet")
        self.assertEqual(result.stderr, "")
        self.assertIn("naive", result.stdout)
        late = self.assay(*self.RUN[:-1], "k.jsonl", "--quiet", "--limit", "1ms")
        self.assertEqual(late.returncode, 3)
        self.assertIn("not measured", late.stderr)
        self.assertEqual(late.stderr.count("\n"), 1)

    def test_what_goes_wrong_is_said_once(self):
        late = self.assay(*self.RUN, "--limit", "1ms")
        said = [line for line in late.stderr.splitlines() if "timeout: " in line and "naive" in line]
        self.assertEqual(len(said), 1, late.stderr)

    def gate(self, before, now, *flags):
        self.write("before.jsonl", journal(before))
        self.write("now.jsonl", journal(now))
        return self.assay("gate", "--baseline", "before.jsonl", "--current", "now.jsonl", "--markdown", *flags)

    def test_a_gate_as_a_comment(self):
        result = self.gate(
            rounds(BEFORE, "fine") + rounds(BEFORE, "slow") + rounds(BEFORE, "gone"),
            rounds(NOW, "fine") + rounds(NOW, "slow", time=1.2e-3) + rounds(NOW, "fresh"),
        )
        self.assertEqual(result.returncode, 1)
        lines = result.stdout.splitlines()
        self.assertRegex(lines[0], r"^\*\*gate: FAILED: 1 regressed, .*\(exit status 1\)\*\*$")
        above, below = result.stdout.split("<details>")
        self.assertRegex(above, r"(?m)^\| REGRESSED \| matmul \| .* \| slow \| .* \| 1\.\d+ \\\[")
        for name in ("fine", "gone", "fresh"):
            self.assertNotIn(f"| {name} |", above)
            self.assertIn(f"| {name} |", below)
        self.assertTrue(result.stdout.endswith("</details>\n"))
        table = [line for line in lines if line.startswith("|")]
        self.assertEqual({len(re.findall(r"(?<!\\)\|", line)) for line in table}, {9})
        both = self.assay("gate", "--baseline", "before.jsonl", "--current", "now.jsonl", "--markdown", "--json")
        self.assertEqual(both.returncode, 2)

    def test_a_comment_is_text_and_bounded(self):
        result = self.gate(
            [r for name in HOSTILE for r in rounds(BEFORE, name)],
            [r for name in HOSTILE for r in rounds(NOW, name, status="wrong_result", message=name)],
        )
        self.assertEqual(result.returncode, 4)
        for forbidden in ("<script>", "\x1b", "\u202e", "\x00", "http://x"):
            self.assertNotIn(forbidden, result.stdout)
        table = [line for line in result.stdout.splitlines() if line.startswith("|")]
        self.assertEqual(len(table), 2 + len(HOSTILE))
        self.assertEqual({len(re.findall(r"(?<!\\)\|", line)) for line in table}, {9})
        names = [f"provider {i} " + "x" * 30 for i in range(1000)]
        result = self.gate([r for n in names for r in rounds(BEFORE, n, count=6)],
                           [r for n in names for r in rounds(NOW, n, count=6, time=2e-3)], "--delta", "1%")  # fmt: skip
        self.assertLess(len(result.stdout), 65_536)
        self.assertIn("more", result.stdout)


if __name__ == "__main__":
    main()
