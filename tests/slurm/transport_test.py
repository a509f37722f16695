# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay transport scan --executor slurm`: 128 cases by two MPI ranks under srun, bit for bit those of one process."""

import glob
import os
import signal
import subprocess
import time
import unittest

import numpy

from on_slurm import ASSAY, OnSlurm

SCAN = """[surface]
type = "w7x_eim_sample"
[grid]
n_theta = {n_theta}
n_zeta = {n_zeta}
n_xi = {n_xi}
[case]
nu_hat = [{nu}]
er_hat = [0, 1e-4, 3e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2]
"""
JOB = ("--executor", "slurm", "--ranks", "2")


class Scans(OnSlurm):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        probe = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, env=cls.cluster.environment)
        if "pmix" not in probe.stdout + probe.stderr:
            raise unittest.SkipTest("missing: Slurm's plugin for PMIx")

    def setUp(self):
        super().setUp()
        self.ask()

    def ask(self, n_theta=9, n_zeta=11, n_xi=40, nu=tuple(1e-4 * 1.7**i for i in range(16))):
        with open(f"{self.folder}/scan.toml", "w") as file:
            file.write(SCAN.format(n_theta=n_theta, n_zeta=n_zeta, n_xi=n_xi, nu=", ".join(f"{each:.6g}" for each in nu)))

    def start_long(self):
        """A scan of seconds, some of whose cases are solved: long enough that it is not over when it is disturbed."""
        self.ask(n_theta=13, n_zeta=15)
        child = self.start(*JOB)
        self.until_journals_grow(child)
        return child

    def start(self, *words):
        return subprocess.Popen([ASSAY, "transport", "scan", "scan.toml", "--output", "out.npz", *words], cwd=self.folder,
                                env=self.cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip

    def whole(self, child):
        said = child.communicate(timeout=600)[0]
        self.assertEqual(child.returncode, 0, said)
        return said

    def journals(self):
        return {path: os.path.getsize(path) for path in glob.glob(glob.escape(self.folder) + "/out.npz.journal*")}

    def until_journals_grow(self, child):
        while child.poll() is None and sum(self.journals().values()) < 20_000:
            time.sleep(0.02)
        self.assertIsNone(child.poll(), "the scan is under way")
        self.assertTrue(any("rank-1" in path for path in self.journals()), "each rank has a journal")

    def assert_as_one_process(self, cases):
        subprocess.run([ASSAY, "transport", "scan", "scan.toml", "--output", "one.npz", "--threads", "2"], cwd=self.folder,
                       capture_output=True, check=True)  # fmt: skip
        with numpy.load(f"{self.folder}/one.npz", allow_pickle=False) as one, numpy.load(f"{self.folder}/out.npz", allow_pickle=False) as other:
            self.assertEqual(one["D11"].size, cases)
            numbers = [name for name in one.files if one[name].dtype.kind == "f" and not name.endswith("_s")]
            self.assertIn("D31", numbers)
            for name in numbers:
                self.assertEqual(one[name].tobytes(), other[name].tobytes(), name)

    def compare(self):
        self.assert_as_one_process(128)
        self.assertEqual(self.journals(), {})
        self.assertFalse(os.path.exists(f"{self.folder}/out.npz.slurm"))
        self.assertTrue(self.cluster.is_idle())

    def test_two_ranks_are_one_process_bit_for_bit(self):
        self.assertIn("submitted as job", self.whole(self.start(*JOB)))
        self.compare()

    def test_what_was_killed_is_resumed(self):
        # The job's node dies: it is put back into the queue and goes on from its journals.
        child = self.start_long()
        node = self.cluster.command("squeue", "-h", "-t", "RUNNING", "-o", "%N").split()[0]
        self.cluster.order(f"kill {node}")
        self.assertEqual(self.cluster.order(f"start {node}"), "ready")
        self.assertRegex(self.whole(child), r"[1-9]\d* resumed")
        self.compare()

    def test_a_killed_runner_is_followed_by_the_same_command(self):
        child = self.start_long()
        self.kill(child)
        self.assertIn("goes on", self.whole(self.start(*JOB)))
        self.compare()

    def test_ctrl_c_leaves_no_job_and_what_is_solved(self):
        child = self.start_long()
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=300)[0]
        self.assertEqual(child.returncode, 130, said)
        self.assertEqual(self.job_ids(), [])
        self.assertTrue(self.journals())
        self.assertRegex(self.whole(self.start(*JOB)), r"[1-9]\d* resumed")
        self.compare()

    def leave_a_job(self):
        """A scan of which the runner is dead and the job not over; another nu with each call."""
        self.nu = getattr(self, "nu", 1e-3) * 2
        self.ask(n_xi=20, nu=(self.nu,))
        child = self.start(*JOB)
        while child.poll() is None and not self.cluster.jobs():
            time.sleep(0.02)
        self.assertIsNone(child.poll(), "the scan is under way")
        return child

    def test_only_an_answer_to_this_very_question_is_believed(self):
        child = self.leave_a_job()
        second = self.start(*JOB)
        self.assertIn("follows the job of this output already", second.communicate()[0])
        self.assertEqual(second.returncode, 2)
        self.kill(child)
        self.assertTrue(self.cluster.is_idle())
        # It ended while nobody looked, and the file is the one that it wrote.
        said = self.whole(self.start(*JOB))
        self.assertNotIn("submitted", said)
        self.assertIn("wrote", said)

        def append(name, text):
            with open(f"{self.folder}/{name}", "a") as file:
                file.write(text)

        for spoil in (
            lambda: os.remove(f"{self.folder}/out.npz"),
            lambda: append("out.npz", "other"),
            lambda: append("scan.toml", "# other\n"),
        ):
            child = self.leave_a_job()
            self.kill(child)
            self.assertTrue(self.cluster.is_idle())
            spoil()
            self.assertIn("submitted as job", self.whole(self.start(*JOB)))
        self.assert_as_one_process(8)

    def test_work_on_the_same_output_is_named(self):
        self.let_jobs_wait()
        first = self.leave_a_job()
        self.kill(first)
        job = self.cluster.jobs()[0][0]
        with open(f"{self.folder}/scan.toml", "a") as file:
            file.write("# other\n")
        other = self.start(*JOB)
        said = other.communicate()[0]
        self.assertEqual(other.returncode, 2, said)
        self.assertIn(f"job {job} ", said)
        self.assertIn("other work on the same output", said)
        self.assertEqual(self.job_ids(), [job])
        self.cluster.command("scancel", job)
        self.let_jobs_start()
        self.assertIn("submitted as job", self.whole(self.start(*JOB)))

    def test_a_file_that_changes_while_the_job_waits_is_refused(self):
        self.let_jobs_wait()
        child = self.leave_a_job()
        with open(f"{self.folder}/scan.toml", "a") as file:
            file.write("# other\n")
        time.sleep(1.5)
        self.let_jobs_start()
        said = child.communicate(timeout=60)[0]
        self.assertEqual(child.returncode, 2, said)
        self.assertIn("another file than when it was submitted", said)
        self.assertIn("'PartitionDown'", said)

    def test_nodes_that_do_not_see_the_folder_end_it_at_once(self):
        self.cluster.blind(self, self.folder)
        child = self.start(*JOB)
        said = child.communicate(timeout=60)[0]
        self.assertEqual(child.returncode, 5, said)
        self.assertIn(f"a node does not see this folder, which must be shared with all of them under this path: '{self.folder}/out.npz.slurm'", said)
        self.assertEqual(said.count("submitted as job"), 1)

    def test_ctrl_c_while_slurm_does_not_answer(self):
        self.hold()
        child = self.start(*JOB)  # which waits for jobs that may be there already
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        self.assertIn("interrupted while Slurm was asked", child.communicate(timeout=60)[0])
        self.assertEqual(child.returncode, 130)

    def test_what_makes_no_sense_is_refused(self):
        for words, said in (
            (("--ranks", "2"), "--ranks is for --executor slurm"),
            (("--executor", "slurm", "--ranks", "0"), "--ranks must be at least 1, got 0"),
            (("--executor", "slurm", "--device", "cuda"), "--device cuda"),
        ):
            child = self.start(*words)
            self.assertIn(said, child.communicate()[0])
            self.assertEqual(child.returncode, 2)
        self.assertEqual(self.job_ids(), [])


if __name__ == "__main__":
    unittest.main()
