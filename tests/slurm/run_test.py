# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay run --executor slurm` on a Slurm of two nodes: the rows of a local run, whatever happens to its jobs."""

import json
import os
import time
import unittest

from on_slurm import RUN, SHORT, RunsOnSlurm
from slurm_cluster import attempts, rows


class Runs(RunsOnSlurm):
    def test_the_rows_are_those_of_a_local_run(self):
        local = self.local()
        said = self.assay(*RUN, *SHORT, "--executor", "slurm", "--out", "j.jsonl", "--label", "a 'label' $(x)").stderr
        self.assertIn("submitted as job", said)
        path = f"{self.folder}/j.jsonl"
        self.assertEqual(attempts(path), local)
        self.assertEqual(sorted(r["order"] for r in rows(path)), list(range(len(local))))
        for mine, theirs in zip(sorted(rows(path), key=lambda r: r["attempt_id"]),
                                sorted(rows(f"{self.folder}/local.jsonl"), key=lambda r: r["attempt_id"])):  # fmt: skip
            self.assertEqual(mine["attempt_id"], theirs["attempt_id"])
            self.assertEqual(mine["provenance"].get("baseline"), theirs["provenance"].get("baseline"))
        self.assertEqual(len({r["run_id"] for r in rows(path)}), 1)
        self.assertFalse(os.path.exists(path + ".slurm"))
        # Complete is complete: nothing is submitted for it.
        self.assertNotIn("submitted", self.assay("run", "--resume", "j.jsonl", "--executor", "slurm").stderr)

    def test_a_killed_runner_is_continued_by_another(self):
        child = self.begin()
        self.kill(child)
        self.assertTrue(self.cluster.jobs(), "its jobs go on")
        said = self.assay("run", "--resume", "j.jsonl").stderr
        self.assertIn("submitted before", said)
        self.complete()

    def test_no_moment_makes_it_a_local_run(self):
        child = self.start("--out", "j.jsonl")
        while child.poll() is None and not os.path.exists(f"{self.folder}/j.jsonl.request.json"):
            pass
        self.kill(child)
        self.assertIn("submitted", self.assay("run", "--resume", "j.jsonl").stderr)
        self.complete(4 * 2 * 4 + 1)

    def test_what_ended_while_nobody_looked_is_submitted_again(self):
        # Its tasks have status 130, as at the end of their time, and Slurm has forgotten them.
        child = self.begin()
        self.kill(child)
        for job in {job.split("_")[0] for job, _ in self.cluster.jobs()}:
            self.cluster.command("scontrol", "update", f"JobId={job}", "JobName=forgotten")
            self.cluster.command("scancel", job)
        self.assertTrue(self.cluster.is_idle())
        said = self.assay("run", "--resume", "j.jsonl").stderr
        self.assertIn("lost:", said)
        self.complete()

    def test_what_people_set_for_their_own_eyes_filters_no_answer(self):
        said = self.assay(*RUN, *SHORT, "--executor", "slurm", "--out", "j.jsonl",
                          environment={"SQUEUE_USERS": "nobody", "SQUEUE_PARTITION": "other", "SQUEUE_NAMES": "x",
                                       "SINFO_PARTITION": "other", "SCANCEL_USER": "nobody", "SBATCH_WAIT": "1"}).stderr  # fmt: skip
        self.assertEqual(said.count("submitted as job"), 1, said)
        self.assertNotIn("lost", said)
        self.complete(4 * 2 * 4 + 1)

    def test_what_somebody_cancels_is_kept_and_continued(self):
        child = self.begin()
        self.cluster.cancel_all()
        status, said = self.end_of(child)
        self.assertEqual(status, 130, said)
        self.assertIn("cancelled", said)
        self.assay("run", "--resume", "j.jsonl")
        self.complete()

    def test_a_node_that_dies_costs_an_attempt(self):
        child = self.begin()
        node = self.cluster.command("squeue", "-h", "-t", "RUNNING", "-o", "%N").split()[0]
        self.cluster.order(f"kill {node}")
        time.sleep(1)
        self.assertEqual(self.cluster.order(f"start {node}"), "ready")
        status, said = self.end_of(child)
        self.assertEqual(status, 0, said)
        self.complete()

    def test_a_damaged_journal_of_a_task_is_told_with_what_brings_the_run_on(self):
        self.kill(self.begin())
        self.cluster.cancel_all()
        self.assertTrue(self.cluster.is_idle())
        folder = f"{self.folder}/j.jsonl.slurm/1/"
        journal = max((folder + name for name in os.listdir(folder) if name.endswith(".jsonl")), key=os.path.getsize)
        with open(journal, "r+b") as file:
            file.seek(200)
            file.write(b"damage")
        said = self.assay("run", "--resume", "j.jsonl", status=2).stderr.splitlines()[-1]
        self.assertIn("assay store repair --in-place", said)
        self.assertIn("assay run --resume", said)
        self.assay("store", "repair", "--in-place", journal)
        self.assay("run", "--resume", "j.jsonl")
        self.complete()

    def test_another_program_is_refused(self):
        child = self.begin()
        self.kill(child)
        self.cluster.cancel_all()
        self.assertTrue(self.cluster.is_idle())
        folder = f"{self.folder}/j.jsonl.slurm/1/"
        record = next(name for name in os.listdir(folder) if name.endswith(".request.json"))
        with open(folder + record) as file:
            share = json.load(file)
        share["sha256"]["assay-worker"] = "0" * 64
        with open(folder + record, "w") as file:
            json.dump(share, file)
        said = self.assay("run", "--resume", folder + record.removesuffix(".request.json"), status=5).stderr
        self.assertIn("another one than that of the run", said)
        self.assertIn("0" * 64, said)

    def test_what_makes_no_sense_is_refused_before_anything_is_submitted(self):
        for words, said in (
            (("--partition", "all"), "--partition is for --executor slurm, got 'all'"),
            (("--executor", "slurm", "--time", "10 minutes"), "got '10 minutes'"),
            (("--executor", "slurm", "--budget", "5m"), "--budget"),
            (("--executor", "slurm", "--nodes", "0"), "--nodes must be at least 1, got 0"),
            (("--executor", "pbs"), "pbs"),
            *((("--executor", "slurm", *given), f"--{name}: nothing was given")
              for name in ("partition", "account", "constraint", "time", "pin-kind", "nodes", "gpus-per-node")
              for given in ((f"--{name}", ""), (f"--{name}=",), (f"--{name}=", "--json"))),
            (("--executor", "slurm", "--on-each-kind", "--out", "one.jsonl"), "'one.jsonl'"),
        ):
            self.assertIn(said, self.assay(*RUN, *words, status=2).stderr)
        self.assertIn("'nowhere'", self.assay(*RUN, "--executor", "slurm", "--partition", "nowhere", status=5).stderr)
        self.assertIn("sbatch", self.assay(*RUN, "--executor", "slurm", status=5, environment={"PATH": "/nonexistent"}).stderr)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(self.job_ids(), [])


if __name__ == "__main__":
    unittest.main()
