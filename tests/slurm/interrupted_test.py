# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C of `assay run --executor slurm`, whatever it waits for: status 130, and no job is left but those of others."""

import os
import signal
import subprocess
import time
import unittest

from on_slurm import ASSAY, POINTS, RunsOnSlurm
from slurm_cluster import QUICK, attempts


class Interrupted(RunsOnSlurm):
    def test_ctrl_c_leaves_no_job_behind_and_others_alone(self):
        other = self.cluster.command("sbatch", "--parsable", "--hold", "--output=/dev/null", "--wrap", "true").strip()
        child = self.begin()
        self.ends_by_ctrl_c(child)
        self.assertEqual(self.job_ids(), [other])
        self.cluster.command("scancel", other)
        self.assay("run", "--resume", "j.jsonl")
        self.complete()

    def test_ctrl_c_of_a_runner_that_has_just_taken_over_ends_its_jobs(self):
        self.kill(self.begin())
        self.assertTrue(self.cluster.jobs(), "its jobs go on")
        child = self.cluster.start(ASSAY, "run", "--resume", "j.jsonl", cwd=self.folder)
        time.sleep(0.1)  # long before it has read anything
        self.ends_by_ctrl_c(child)
        self.assertEqual(self.job_ids(), [])
        self.assay("run", "--resume", "j.jsonl")
        self.complete()

    def test_an_error_leaves_no_job_behind_and_what_tasks_have_done(self):
        child = self.begin()
        os.remove(f"{self.folder}/j.jsonl")
        status, said = self.end_of(child)
        self.assertEqual(status, 5, said)
        self.assertIn("the journal was removed or replaced while the run wrote it: 'j.jsonl'", said)
        self.assertTrue(self.cluster.is_idle())
        self.assertTrue(os.path.exists(f"{self.folder}/j.jsonl.slurm"))

    def test_ctrl_c_of_a_gate_leaves_no_job_behind(self):
        worker = os.path.join(os.path.dirname(ASSAY), "assay-worker")
        child = self.cluster.start(ASSAY, "gate", "--run", "semiring_matmul", "--baseline", worker, "--points", POINTS, "--providers", "naive",
                                   "--rounds", "16", *QUICK, "--executor", "slurm", "--journals", "gate", cwd=self.folder)  # fmt: skip
        while child.poll() is None and "RUNNING" not in [state for _, state in self.cluster.jobs()]:
            time.sleep(0.05)
        said = self.ends_by_ctrl_c(child)
        self.assertEqual(self.job_ids(), [], said)
        self.assertNotIn("no regression", said)

    def test_a_full_disk_leaves_no_job_behind_and_is_continued(self):
        disk = f"{self.folder}/disk"
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=True)
        os.symlink(f"{self.folder}/beside", f"{disk}/j.jsonl.slurm")
        os.mkdir(f"{self.folder}/beside")
        status, said = self.end_of(self.start("--out", "disk/j.jsonl"))
        self.assertEqual(status, 5, said)
        self.assertIn("No space left on device; when that is mended: assay run --resume disk/j.jsonl", said)
        self.assertTrue(self.cluster.is_idle())
        subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
        self.assay("run", "--resume", "disk/j.jsonl")
        self.assertEqual(len(set(attempts(f"{disk}/j.jsonl"))), 4 * 2 * 4 + 1)

    def test_a_job_that_never_starts_says_why(self):
        self.cluster.command("scontrol", "update", "PartitionName=all", "MaxTime=1")
        self.addCleanup(self.cluster.command, "scontrol", "update", "PartitionName=all", "MaxTime=INFINITE")
        child = self.start("--time", "30", "--out", "j.jsonl")
        self.until_it_says(child, "PartitionTimeLimit")
        self.assertNotIn("PartitionTimeLimit", self.ends_by_ctrl_c(child))
        self.assertEqual(self.job_ids(), [])

    def test_ctrl_c_ends_every_wait_and_no_job_of_others(self):
        self.let_jobs_wait()
        other = self.cluster.command("sbatch", "--parsable", "--output=/dev/null", "--wrap", "sleep 1").strip()
        self.addCleanup(self.cluster.command, "scancel", other)

        # The nodes are asked what they are.
        child = self.start("--pin-kind", "0" * 16, "--out", "pinned.jsonl")
        while child.poll() is None and len(self.cluster.jobs()) < 3:
            time.sleep(0.05)
        self.assertIn("interrupted while the nodes were asked", self.ends_by_ctrl_c(child))
        self.assertEqual(self.job_ids(), [other])
        self.assertEqual(os.listdir(self.folder), [])

        # Jobs are followed, of a run alone and of one of several.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as where nothing keeps what its terminal started
        for words, end in ((("--out", "j.jsonl"), signal.SIGTERM), (("--on-each-kind", "--out", "fleet/"), signal.SIGHUP)):
            child = self.start(*words)
            self.until_it_says(child, "PartitionDown")
            said = self.ends_by_ctrl_c(child, end)
            self.assertIn("continue with: assay run --resume", said)
            self.assertEqual(self.job_ids(), [other])
        self.assertIn("not begun: nodes of kind old (", said)  # kinds are taken by their names

    def test_ctrl_c_while_slurm_does_not_answer(self):
        # Before there is a run.
        self.hold()
        for words in (("--out", "a.jsonl"), ("--pin-kind", "0" * 16, "--out", "a.jsonl"), ("--on-each-kind", "--out", "fleet/")):
            child = self.start(*words)
            time.sleep(1)
            start = time.monotonic()
            self.assertIn("interrupted while sinfo", self.ends_by_ctrl_c(child))
            self.assertLess(time.monotonic() - start, 20)  # Slurm's own patience is thirty seconds
        self.assertEqual(os.listdir(self.folder), [])
        self.cluster.order("release-controller")

        # While jobs are submitted, and while they are followed: it waits for Slurm, and leaves none.
        for what in ("planned", "submitted as job"):
            child = self.start("--out", f"{what[0]}.jsonl")
            if what == "planned":
                while not os.path.exists(f"{self.folder}/p.jsonl.slurm/1/task.sh"):
                    time.sleep(0.001)
            else:
                self.until_it_says(child, what)
            self.cluster.order("hold-controller")
            time.sleep(1)
            child.send_signal(signal.SIGINT)
            if what != "planned":
                self.until_it_says(child, "waiting for it")
            self.cluster.order("release-controller")
            status, said = self.end_of(child)
            self.assertEqual(status, 130, said)
            self.assertEqual(self.job_ids(), [])


if __name__ == "__main__":
    unittest.main()
