# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Whose commit rows carry: that of the program which was measured, wherever one stands."""

import json
import os
import re
import shutil
import stat
import subprocess

from assay_cli import ASSAY, ROOT, CliTest, main

WORKER = os.path.join(os.path.dirname(ASSAY), "assay-worker")
OTHER = "0123456789abcdef0123456789abcdef01234567"


class Commit(CliTest):
    def git(self, *arguments, folder="."):
        return subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
            cwd=self.path(folder), check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip

    def repository(self, name, content, folder="."):
        self.git("init", "-q", ".", folder=folder)
        self.write(os.path.join(folder, name), content)
        self.git("add", name, folder=folder)
        self.git("commit", "-qm", "one", folder=folder)
        return self.git("rev-parse", "HEAD", folder=folder)

    def rows(self, journal):
        return [json.loads(line) for line in self.read(journal).splitlines()]

    def own(self):
        said = self.run_ok("--version").stdout
        return re.search(r"\(commit (\w+)", said).group(1), "uncommitted" in said

    def test_rows_carry_the_programs_commit_in_a_foreign_repository(self):
        head = self.repository("list", "a shopping list")
        result = self.run_ok(*self.SMALL, "--out", "j.jsonl")
        commit, dirty = self.own()
        for row in self.rows("j.jsonl"):
            self.assertEqual(row["provenance"]["commit"][:12], commit)
            self.assertNotEqual(row["provenance"]["commit"], head)
            self.assertEqual(row["provenance"]["dirty"], dirty)
            self.assertNotIn("tree_commit", row["provenance"])
            self.assertTrue(row["run_id"].endswith("nogit" if commit == "unknown" else commit[:7]), row["run_id"])
        self.assertNotIn("built from", result.stderr)

    def test_a_checkout_at_another_commit_is_marked(self):
        head = self.repository("CMakeLists.txt", "# as ours begins\nproject(assay VERSION 0.1.0 LANGUAGES CXX)\n")
        result = self.run_ok(*self.SMALL, "--out", "j.jsonl")
        self.assertEqual(result.stderr.count("this program was built from commit"), 1, result.stderr)
        for row in self.rows("j.jsonl"):
            self.assertEqual(row["provenance"]["tree_commit"], head)
            self.assertEqual(row["provenance"]["commit"][:12], self.own()[0])

    def test_another_commit_can_be_given(self):
        self.repository("CMakeLists.txt", "#\nproject(assay VERSION 0.1.0 LANGUAGES CXX)\n")
        result = self.run_ok(*self.SMALL, "--commit", "v1.2-rc/3", "--out", "j.jsonl")
        for row in self.rows("j.jsonl"):
            self.assertEqual(row["provenance"]["commit"], "v1.2-rc/3")
            self.assertTrue(row["run_id"].endswith("-v12rc3"), row["run_id"])
            self.assertNotIn("dirty", row["provenance"])
            self.assertNotIn("tree_commit", row["provenance"])
        self.assertNotIn("built from", result.stderr)
        for bad in ("two words", "x" * 65, "a;b", "\u202e", "--"):
            refused = self.assay(*self.SMALL, f"--commit={bad}")
            self.assertEqual(refused.returncode, 2, bad)
            self.assertIn("--commit", refused.stderr)

    def worker_of(self, built_from):
        """A worker that computes as ours does, and says it was built from something else."""
        path = self.write(f"worker-{built_from[:4]}",
                          f'#!/bin/sh\nif [ "$1" = --built-from ]; then echo {built_from}; exit 0; fi\n'
                          f'exec "{WORKER}" "$1"\n')  # fmt: skip
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def test_each_side_of_a_gate_carries_its_own(self):
        measure = ("--points", '{"n":16,"algebra":"real"}', "--providers", "naive", "--rounds", "2", "--steady", "1ms",
                   "--max-steal", "100%", "--max-foreign", "100%", "--budget", "20s")  # fmt: skip
        self.assay("gate", "--run", "semiring_matmul", *measure, "--baseline", self.worker_of(OTHER + " dirty"),
                   "--journals", "a")  # fmt: skip
        self.assay("gate", "--run", "semiring_matmul", *measure, "--baseline", self.worker_of("who knows"), "--current",
                   WORKER, "--journals", "b")  # fmt: skip
        commit, dirty = self.own()
        expected = {"a": {"naive@baseline": (OTHER[:12], True), "naive@current": (commit, dirty)},
                    "b": {"naive@baseline": ("unknown", None), "naive@current": (commit, dirty)}}  # fmt: skip
        for folder, sides in expected.items():
            journals = [name for name in os.listdir(self.path(folder)) if name.endswith(".jsonl")]
            seen = set()
            for row in self.rows(os.path.join(folder, journals[0])):
                of = row["provenance"]
                self.assertEqual((of["commit"][:12], of.get("dirty")), sides[row["provider"]], row["provider"])
                seen.add(row["provider"])
            self.assertEqual(seen, set(sides))

    def test_the_build_writes_its_commit_only_when_it_changes(self):
        os.mkdir(self.path("source"))
        out = self.path("commit.cc")

        def written():
            subprocess.run(["cmake", f"-DSOURCE={self.path('source')}", f"-DOUT={out}", "-P",
                            os.path.join(ROOT, "cmake/BuildCommit.cmake")], check=True)  # fmt: skip
            os.utime(out, (1, os.stat(out).st_mtime))
            return self.read("commit.cc").decode(), os.stat(out).st_mtime_ns

        self.repository("list", "a shopping list")  # a tarball unpacked in another repository is not it
        self.assertIn('{"unknown", "unknown", false}', written()[0])
        head = self.repository("file", "content", folder="source")
        text, changed = written()
        self.assertIn(f'{{"{head}", "', text)
        self.assertIn(", false}", text)
        self.assertEqual(written(), (text, changed), "nothing changed: the file is left alone")
        self.write("source/file", "other content")
        self.assertIn(f'{{"{head}", "', written()[0])
        self.assertIn(", true}", written()[0])
        shutil.rmtree(self.path("source/.git"))
        self.assertIn('{"unknown", "unknown", false}', written()[0])


if __name__ == "__main__":
    main()
