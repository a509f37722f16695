# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The workflow of examples/ci: its own shell steps on a repository with a good commit, a slow one and wrong ones."""

import itertools
import json
import os
import shutil
import subprocess
import textwrap

from assay_cli import ALONE, ASSAY, ROOT, CliTest, main

EXAMPLE = os.path.join(ROOT, "examples/ci")
CALL = "s->y[i] = (left + s->x[i] + right) / 3;"
# Ten times the work: far beyond the tolerance, whatever else the machine does.
SLOW = "for (volatile int again = 0; again < 10; ++again) " + CALL


def steps():
    """The shell steps of the workflow by their names. (Block scalars by their indentation: no YAML reader is needed.)"""
    found, name = {}, None
    with open(os.path.join(EXAMPLE, "assay-gate.yml")) as file:
        lines = file.read().splitlines()
    for i, line in enumerate(lines):
        word = line.strip()
        if word.startswith("- name:"):
            name = word.removeprefix("- name:").strip()
        elif word == "run: |":
            depth = len(line) - len(line.lstrip())
            deeper = itertools.takewhile(lambda inner: not inner.strip() or len(inner) - len(inner.lstrip()) > depth, lines[i + 1 :])
            found[name] = textwrap.dedent("\n".join(deeper))
        elif word.startswith("run:"):
            found[name] = word.removeprefix("run:").strip()
    return found


class Ci(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(os.path.join(EXAMPLE, "project"), self.path("head"))
        self.write("head/.gitignore", "*.so\n__pycache__\n")
        self.git("init", "--quiet", "--initial-branch=main")
        self.base = self.commit()

    def git(self, *arguments):
        identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        made = subprocess.run(["git", *identity, *arguments], cwd=self.path("head"), capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stdout.strip()

    def commit(self, **files):
        for name, (old, new) in files.items():
            name = "head/" + name.replace("_", ".")
            text = self.read(name).decode()
            self.assertIn(old, text)
            self.write(name, text.replace(old, new))
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a step")
        return self.git("rev-parse", "HEAD")

    def gate(self):
        """What the workflow prints and what a reviewer sees, with its exit status."""
        environment = {
            **os.environ, **ALONE, "ASSAY_LOCK_DIR": self.folder, "BASE": self.base, "CASE_FILE": "bench.toml",
            "PATH": os.path.dirname(ASSAY) + ":" + os.environ["PATH"], "ASSAY_INCLUDE": ROOT + "/include",
            "GITHUB_STEP_SUMMARY": self.path("summary.md"),
            "GATE_OPTIONS": "--delta 90% --rounds 6 --steady 10ms --max-steal 100% --max-foreign 100% --budget 2m",
        }  # fmt: skip
        printed = ""
        for name, script in steps().items():
            if name == "Install Assay":
                continue
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
                cwd=self.folder, env=environment, capture_output=True, text=True, timeout=540,
            )  # fmt: skip
            printed += done.stdout
            if done.returncode != 0:
                printed += done.stderr
                break
        summary = self.read("summary.md").decode() if os.path.exists(self.path("summary.md")) else ""
        return done.returncode, printed, summary

    def test_the_steps_are_those_of_the_file(self):
        self.assertEqual(list(steps()), ["Install Assay", "Check out where it began", "Build both", "Measure both and compare"])

    def test_a_good_commit_passes(self):
        self.commit(smooth_c=("// SPDX", "// No change.\n// SPDX"))
        status, printed, summary = self.gate()
        self.assertEqual(status, 0, printed + summary)
        self.assertIn("smooth", summary)

    def test_a_slow_commit_fails(self):
        now = self.commit(smooth_c=(CALL, SLOW))
        status, printed, summary = self.gate()
        self.assertEqual(status, 1, printed + summary)
        self.assertIn("slower than its base", printed)
        self.assertIn("REGRESSED", summary)
        self.assertIn(now[:12], summary)
        self.assertIn(self.base[:12], summary)

    def test_a_wrong_commit_fails_however_fast(self):
        self.commit(smooth_c=(CALL, "s->y[i] = s->x[i];"))
        status, printed, summary = self.gate()
        self.assertEqual(status, 4, printed + summary)
        self.assertIn("wrong results", printed)
        self.assertIn("BROKEN", summary)
        self.assertIn("wrong_result", summary)

    def test_a_commit_cannot_bring_its_own_judge(self):
        self.commit(
            smooth_c=(CALL, "s->y[i] = s->x[i];"), oracle_py=("return (x[:-2] + x[1:-1] + x[2:]) / 3", "return x[1:-1]")
        )
        status, printed, _ = self.gate()
        self.assertEqual(status, 2, printed)
        self.assertIn("could not compare (status 2)", printed)
        self.assertIn("oracles of the two sides disagree", printed)

    def test_a_commit_that_breaks_its_judge_fails(self):
        self.commit(oracle_py=("import numpy as np", "import numpy as np\nraise SystemExit(1)"))
        status, printed, _ = self.gate()
        self.assertEqual(status, 2, printed)

    def test_two_folders_without_git(self):
        """What rows say of their sides; a run of two sides goes on where it was ended."""
        for name in ("old", "new"):
            shutil.copytree(os.path.join(EXAMPLE, "project"), self.path(name))
        self.write("new/bench.toml", self.read("new/bench.toml").decode() + '[providers.twin]\nlibrary = "./libsmooth.so"\n')
        environment = {"ASSAY_INCLUDE": ROOT + "/include"}
        for name in ("old", "new"):
            subprocess.run(["make", "-C", self.path(name)], check=True, capture_output=True, env={**os.environ, **environment})
        fast = ("--rounds", "1", "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%")
        for words in (("old", "new", "bench.toml"), ("old/bench.toml", "new/bench.toml")):
            result = self.assay("compare", "--run", *words, *fast)
            self.assertIn(result.returncode, (0, 1, 3), result.stderr)  # whatever so short a look shows
            self.assertIn("providers only in NEW, not compared: twin", result.stderr)
            journal = [line.split(": ")[1] for line in result.stderr.splitlines() if line.startswith("journal: ")][0]
            rows = {row["provider"]: row for row in map(json.loads, self.read(journal).splitlines())}
            self.assertEqual(set(rows), {"smooth@old", "smooth@new"})
            hashes = {row["provenance"]["side"]["case_file_sha256"] for row in rows.values()}
            self.assertEqual(len(hashes), 2)
            for name, row in rows.items():
                self.assertEqual(row["status"], "ok", row["failure"])
                self.assertEqual(row["provenance"]["commit"], "unknown")
        again = self.run_ok("run", "--resume", journal)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.write("new/smooth.c", self.read("new/smooth.c").decode() + "\n")
        os.remove(self.path("new/libsmooth.so"))
        changed = self.assay("run", "--resume", journal)
        self.assertEqual(changed.returncode, 2)
        self.assertIn("another content of this file", changed.stderr)
        same = self.assay("compare", "--run", "old", "old", "bench.toml")
        self.assertEqual(same.returncode, 2)
        self.assertIn("both sides are the same file", same.stderr)

    def test_another_problem_is_refused_with_what_differs(self):
        self.commit(bench_toml=("low = -1.0", "low = -2.0"))
        status, printed, _ = self.gate()
        self.assertEqual(status, 2, printed)
        self.assertIn("not the same problem", printed)
        self.assertIn("inputs/0/low is -1.0 and -2.0", printed)


main()
