# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Exit statuses: nothing passes by accident, and `| head` is no error."""

import os
import re
import resource
import subprocess

from assay_cli import ALONE, ASSAY, ROOT, CliTest, main
from journals import journal, rounds

BEFORE, NOW = "20260101T000000.000000Z-aaaaaaa", "20260102T000000.000000Z-bbbbbbb"


class Exits(CliTest):
    def ends(self, status, *arguments, **options):
        result = self.assay(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def rows(self, name, rows):
        return os.path.basename(self.write(name + ".jsonl", journal(rows)))

    def test_the_table_is_the_same_in_help_and_documentation(self):
        text = self.run_ok("--help").stdout
        helped = re.findall(r"^ +(\d+)  ", text[text.index("Exit status") :], re.M)
        with open(os.path.join(ROOT, "docs/exits.md")) as file:
            documented = re.findall(r"^\| (\d+) \|", file.read(), re.M)
        self.assertEqual(helped, documented)
        self.assertIn("70", helped)

    def test_a_run_in_which_nothing_was_measured(self):
        small = list(self.SMALL)
        late = self.ends(3, *small, "--limit", "1ms", "--out", "late.jsonl")
        self.assertIn("timeout", late.stderr)
        self.assertIn("exit status 3", late.stderr)
        gone = self.ends(
            3, *small[:4], "--providers", "jax,torch", "--rounds", "2", "--out", "gone.jsonl",
            environment={"ASSAY_PYTHON": "/nonexistent/python"},
        )  # fmt: skip
        self.assertIn("2 of 2 not measured", gone.stderr)

    def test_a_strict_run(self):
        some = list(self.SMALL)
        some[some.index("reference,naive")] = "reference,jax"
        gone = {"environment": {"ASSAY_PYTHON": "/nonexistent/python"}}
        loose = self.ends(0, *some, "--out", "a.jsonl", **gone)
        self.assertIn("1 of 2 not measured: 1 env_missing (exit status 0; with --strict 3)", loose.stderr)
        self.ends(3, *some, "--out", "b.jsonl", "--strict", **gone)
        self.ends(0, *self.SMALL, "--out", "c.jsonl", "--strict")
        self.ends(0, *self.SMALL, "--out", "d.jsonl", "--strict", "--skip", "naive")

    def test_gates(self):
        ok, same = self.rows("ok", rounds(BEFORE, "p")), self.rows("same", rounds(NOW, "p"))
        crashed = self.rows("crashed", rounds(BEFORE, "p", status="crashed"))
        still = self.rows("still", rounds(NOW, "p", status="crashed"))
        gone = self.rows("gone", rounds(NOW, "p", status="env_missing"))
        absent = self.rows("absent", rounds(BEFORE, "p", status="env_missing"))
        more = self.rows("more", rounds(NOW, "p") + rounds(NOW, "q"))
        for baseline, current, loose, strict in (
            (ok, same, 0, 3),  # no floor is known here
            (crashed, still, 3, 3), (absent, gone, 3, 3), (ok, gone, 3, 3), (ok, more, 0, 3), (ok, still, 4, 4),
        ):  # fmt: skip
            sides = ("--baseline", baseline, "--current", current)
            self.assertIn(f"exit status {loose}", self.ends(loose, "gate", *sides).stdout)
            self.ends(strict, "gate", *sides, "--strict")

    def test_compare_and_report(self):
        ok, same = self.rows("ok", rounds(BEFORE, "p")), self.rows("same", rounds(NOW, "p"))
        other = self.rows("other", rounds(NOW, "q"))
        more = self.rows("more", rounds(NOW, "p") + rounds(NOW, "q"))
        self.ends(0, "compare", ok, same, "--strict")
        self.ends(3, "compare", ok, other)
        self.ends(0, "compare", ok, more)
        self.ends(3, "compare", ok, more, "--strict")
        late = self.rows("late", rounds(NOW, "p") + rounds(NOW, "q", status="timeout"))
        wrong = self.rows("wrong", rounds(NOW, "p") + rounds(NOW, "q", status="wrong_result"))
        self.ends(0, "report", same, "--strict")
        for path, status in ((late, 3), (wrong, 4)):
            self.ends(0, "report", path)
            self.ends(status, "report", path, "--strict")

    def test_a_reader_that_stops_is_no_error(self):
        many = self.rows("many", [r for i in range(300) for r in rounds(NOW, f"provider{i}", count=2)])
        for command in (("report", many), ("export", many), ("list",), ("--help",), ("report", many, "--out", "/dev/stdout")):
            read, write = os.pipe()
            os.close(read)
            result = subprocess.run(
                [ASSAY, *command], cwd=self.folder, stdout=write, stderr=subprocess.PIPE, text=True,
                env={**os.environ, **ALONE},
            )  # fmt: skip
            os.close(write)
            self.assertEqual((result.returncode, result.stderr), (141, ""), command)

    def test_too_little_memory_is_in_the_table(self):
        self.write("many.json", '{"results":[{"command":"x","times":[' + "0.5," * 4_000_000 + "0.5]}]}")

        def little():
            resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))

        result = self.ends(5, "import", "many.json", preexec_fn=little)
        self.assertIn("memory", result.stderr)


if __name__ == "__main__":
    main()
