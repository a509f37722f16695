# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What Slurm refuses, or lets wait for ever: its own reason is told, and to which option, and nothing is left."""

import os
import unittest

from on_slurm import RUN, SHORT, RunsOnSlurm
from slurm_cluster import attempts


class Refused(RunsOnSlurm):
    def refused(self, *options):
        """What is said of a run with these options, which ends."""
        said = self.assay(*RUN, *SHORT, "--executor", "slurm", "--out", "j.jsonl", *options, status=5).stderr
        self.assertTrue(self.cluster.is_idle())
        return said

    def test_what_no_node_has_is_told_in_its_words(self):
        said = self.refused("--constraint", "old&new")
        self.assertIn("sbatch --constraint=old&new: ", said)
        self.assertIn("Requested node configuration is not available", said)
        self.assertIn("assay run --resume j.jsonl", said)
        self.assertNotIn("in a row", said)
        # Nothing is lost by it, and another constraint is taken.
        self.assay("run", "--resume", "j.jsonl", "--executor", "slurm", "--constraint", "old")
        self.complete(4 * 2 * 4 + 1)

    def test_a_feature_that_no_node_has_is_told_with_those_that_they_have(self):
        said = self.refused("--constraint", "nowhere")
        self.assertIn("they have: new, old", said)
        self.assertIn("--constraint 'nowhere'", said)
        self.assertIn("Invalid feature specification", self.refused("--constraint", "nowhere|never"))

    def test_gpus_that_there_are_not(self):
        self.assertIn("sbatch --gpus-per-node=3: Invalid generic resource", self.refused("--gpus-per-node", "3"))

    def test_nodes_that_are_drained_are_told_with_the_reason(self):
        self.drain("n1,n2", "a broken disk")
        self.assertIn("n2 is 'drain' (a broken disk)", self.refused())

    def test_questions_to_nodes_tell_why_they_wait(self):
        self.let_jobs_wait()
        child = self.start("--pin-kind", "0" * 16, "--out", "j.jsonl")
        self.until_it_says(child, "PartitionDown")
        self.ends_by_ctrl_c(child)
        self.assertTrue(self.cluster.is_idle())
        self.assertEqual(os.listdir(self.folder), [])


class SmallCluster(RunsOnSlurm):
    conf = "MaxArraySize=2\nMaxJobCount=8"

    def test_more_tasks_than_an_array_may_have_are_several(self):
        local = self.local()
        said = self.assay(*RUN, *SHORT, "--executor", "slurm", "--out", "j.jsonl").stderr
        self.assertGreater(said.count("submitted as job"), 1, said)
        self.assertEqual(attempts(f"{self.folder}/j.jsonl"), local)
        self.assertTrue(self.cluster.is_idle())

    def test_a_queue_that_others_have_filled_is_waited_for(self):
        other = [self.cluster.command("sbatch", "--parsable", "--hold", "--array=0-1", "--output=/dev/null", "--wrap", "true").strip() for _ in range(3)]
        child = self.start("--out", "j.jsonl")
        self.until_it_says(child, "takes no more jobs")
        self.cluster.command("scancel", *other)
        status, said = self.end_of(child)
        self.assertEqual(status, 0, said)
        self.complete(4 * 2 * 4 + 1)


class WithoutArrays(RunsOnSlurm):
    conf = "MaxArraySize=0"

    def test_a_cluster_that_takes_no_arrays_is_named(self):
        said = self.assay(*RUN, *SHORT, "--executor", "slurm", "--out", "j.jsonl", status=5).stderr
        self.assertIn("MaxArraySize is 0", said)
        self.assertEqual(self.job_ids(), [])


if __name__ == "__main__":
    unittest.main()
