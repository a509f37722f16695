# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of a run on a cluster have in common."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from slurm_cluster import QUICK, Cluster, Missing, attempts, told_twice

ASSAY, ROOT = sys.argv[1:3]
sys.argv[1:3] = []
POINTS = json.dumps([{"n": n, "algebra": a} for n in (8, 16) for a in ("real", "log")])
RUN = ("run", "semiring_matmul", "--points", POINTS, "--providers", "reference,naive,torch", *QUICK)  # fmt: skip
SHORT, LONG = ("--rounds", "4"), ("--rounds", "16")


class OnSlurm(unittest.TestCase):
    """A cluster for all tests of a class, a folder for each."""

    conf = os.environ.get("ASSAY_TEST_SLURM_CONF", "")  # lines of slurm.conf

    @classmethod
    def setUpClass(cls):
        try:
            cls.cluster = Cluster(cls.conf)
        except Missing as missing:
            raise unittest.SkipTest(str(missing))
        cls.addClassCleanup(cls.cluster.end)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="it's a folder %A ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def kill(self, child):
        child.kill()
        child.communicate()

    def job_ids(self):
        return [id for id, _ in self.cluster.jobs()]

    def let_jobs_wait(self):
        """Nothing starts until the end of the test, or let_jobs_start()."""
        self.cluster.command("scontrol", "update", "PartitionName=all", "State=DOWN")
        self.addCleanup(self.let_jobs_start)

    def let_jobs_start(self):
        self.cluster.command("scontrol", "update", "PartitionName=all", "State=UP")

    def drain(self, nodes, reason):
        """Nodes that take no jobs until the end of the test."""
        self.cluster.command("scontrol", "update", f"NodeName={nodes}", "State=DRAIN", f"Reason={reason}")
        self.addCleanup(self.end_drain, nodes)

    def end_drain(self, nodes):
        self.cluster.command("scontrol", "update", f"NodeName={nodes}", "State=RESUME")
        while set(self.cluster.command("sinfo", "-h", "-N", "-o", "%t").split()) != {"idle"}:
            time.sleep(0.2)  # it answers again

    def hold(self):
        """Slurm answers nobody, until it is released, at the latest at the end of the test."""
        self.cluster.order("hold-controller")
        self.addCleanup(self.cluster.order, "release-controller")


class RunsOnSlurm(OnSlurm):
    def assay(self, *words, status=0, **options):
        result = subprocess.run([ASSAY, *words], capture_output=True, text=True, cwd=self.folder,
                                env={**self.cluster.environment, **options.pop("environment", {})}, timeout=300)  # fmt: skip
        self.assertEqual(result.returncode, status, result.stderr + result.stdout)
        return result

    def local(self):
        self.assay(*RUN, *SHORT, "--out", "local.jsonl")
        return attempts(f"{self.folder}/local.jsonl")

    def begin(self, *more):
        """A run on the cluster that has rows and is not over."""
        child = self.cluster.start(ASSAY, *RUN, *LONG, "--executor", "slurm", "--out", "j.jsonl", *more, cwd=self.folder)
        path = f"{self.folder}/j.jsonl"
        while child.poll() is None and not (os.path.exists(path) and os.path.getsize(path)):
            time.sleep(0.05)
        self.assertIsNone(child.poll(), "the run is under way")
        return child

    def end_of(self, child):
        said = child.communicate(timeout=300)[0]
        return child.returncode, said

    def complete(self, expected=4 * 2 * 16 + 1):
        path = f"{self.folder}/j.jsonl"
        self.assertEqual(told_twice(path), [])
        self.assertEqual(len(attempts(path)), expected)
        self.assertEqual(len(set(attempts(path))), expected)
        self.assertFalse(os.path.exists(path + ".slurm"), "nothing is left beside the journal")
        self.assertTrue(self.cluster.is_idle())

    def ends_by_ctrl_c(self, child, end=signal.SIGINT):
        child.send_signal(end)
        status, said = self.end_of(child)
        self.assertEqual(status, 130, said)
        return said

    def start(self, *words):
        return self.cluster.start(ASSAY, *RUN, *SHORT, "--executor", "slurm", *words, cwd=self.folder)

    def until_it_says(self, child, words):
        said = ""
        while words not in said:
            line = child.stdout.readline()
            self.assertTrue(line, said)
            said += line
