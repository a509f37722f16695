# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay run --executor slurm` and the nodes: kinds of them, both sides of a gate on one, passwords on none, folders they do not see."""

import json
import os
import shutil
import subprocess
import sys
import time
import unittest

from on_slurm import ASSAY, POINTS, RUN, SHORT, RunsOnSlurm
from slurm_cluster import HERE, QUICK, attempts, rows

sys.path.insert(0, f"{HERE}/../postgres")
from postgres_server import Missing as NoServer  # noqa: E402
from postgres_server import Server  # noqa: E402


class Nodes(RunsOnSlurm):
    def test_a_survey_of_the_fleet_and_a_kind_that_is_pinned(self):
        few = ("run", "semiring_matmul", "--points", '{"n":8,"algebra":"real"}', "--providers", "reference,naive", *SHORT, *QUICK,
               "--executor", "slurm")  # fmt: skip
        said = self.assay(*few, "--on-each-kind", "--out", "fleet/").stderr
        self.assertIn("nodes of kind old", said)
        self.assertIn("nodes of kind new", said)
        journals = [name for name in os.listdir(f"{self.folder}/fleet") if name.endswith(".jsonl")]
        self.assertEqual(len(journals), 2)
        self.assertEqual(*(attempts(f"{self.folder}/fleet/{name}") for name in journals))
        here = rows(f"{self.folder}/fleet/{journals[0]}")[0]["machine"]["fingerprint"]
        self.assay(*few, "--pin-kind", here, "--out", "pinned.jsonl")
        self.assertIn(f"({here} is ", self.assay(*few, "--pin-kind", "0" * 16, "--out", "other.jsonl", status=5).stderr)

    def test_a_kind_of_which_no_node_works_is_told(self):
        self.drain("n2", "test")
        few = ("run", "semiring_matmul", "--points", '{"n":8,"algebra":"real"}', "--providers", "naive", *SHORT, *QUICK,
               "--executor", "slurm", "--on-each-kind", "--out", "fleet/")  # fmt: skip
        self.assertIn("not begun: nodes of kind new (", self.assay(*few).stderr)
        self.assertIn("none of which works", self.assay(*few, "--strict", status=3).stderr)

    def test_a_gate_has_both_sides_on_one_node(self):
        worker = os.path.join(os.path.dirname(ASSAY), "assay-worker")
        words = ("gate", "--run", "semiring_matmul", "--baseline", worker, "--points", POINTS, "--providers", "naive", "--rounds", "6",
                 "--delta", "95%", *QUICK)  # fmt: skip
        self.assertIn("--run", self.assay("gate", "--baseline", "a", "--current", "b", "--executor", "slurm", status=2).stderr)
        said = subprocess.run([ASSAY, *words, "--executor", "slurm", "--journals", "gate", "--json"], capture_output=True, text=True,
                              cwd=self.folder, env=self.cluster.environment, timeout=300)  # fmt: skip
        self.assertIn(said.returncode, (0, 1, 3), said.stderr)
        self.assertEqual(len(json.loads(said.stdout)["rows"]), 4, said.stdout[:500])
        measured = [r for name in os.listdir(f"{self.folder}/gate") if name.endswith(".jsonl") for r in rows(f"{self.folder}/gate/{name}")]
        self.assertGreaterEqual(len(measured), 4 * 2 * 6)
        # Two rounds of a point never overlap: its attempts follow each other on one node.
        for point in {json.dumps(r["point"]) for r in measured}:
            times = sorted((r["provenance"]["start_ns"], r["provenance"]["end_ns"]) for r in measured if json.dumps(r["point"]) == point)
            self.assertTrue(all(end <= start for (_, end), (start, _) in zip(times, times[1:])))
        self.assertTrue(self.cluster.is_idle())

    def test_a_password_travels_nowhere(self):
        try:
            server = Server("fsync = off")
        except NoServer as missing:
            self.skipTest(str(missing))
        self.addCleanup(server.end)
        secret = "pa55w0rd"
        server.sql(f"CREATE ROLE lab LOGIN PASSWORD '{secret}'")
        server.sql("CREATE DATABASE lab OWNER lab")
        child = self.begin("--store", server.url("lab", "lab", secret))
        seen = []
        while child.poll() is None:
            for process in filter(str.isdigit, os.listdir("/proc")):
                for what in ("cmdline", "environ"):
                    try:
                        with open(f"/proc/{process}/{what}", "rb") as file:
                            text = file.read().decode(errors="replace")
                    except OSError:
                        continue  # it has ended
                    if secret in text and int(process) not in (child.pid, os.getpid()):
                        seen.append(text)
            seen += [line for line in self.cluster.command("scontrol", "show", "job").splitlines() if secret in line]
            for folder in (self.folder, self.cluster.folder):  # scripts, records, logs, what Slurm keeps
                looked = subprocess.run(["grep", "-rla", secret, folder], capture_output=True, text=True)
                seen += looked.stdout.splitlines()
        status, said = self.end_of(child)
        self.assertEqual(status, 0, said)
        self.assertNotIn(secret, said)
        self.assertEqual(seen, [])
        self.complete()
        self.assertIn("0 rows added", self.assay("store", "ingest", server.url("lab", "lab", secret), "j.jsonl").stdout)

    def test_rows_come_back_from_nodes_that_do_not_see_the_folder(self):
        self.cluster.blind(self, self.folder)
        local = self.local()
        habits = {"SLURM_LABELIO": "1", "SLURM_STDOUTMODE": "none", "SLURM_STDINMODE": "none", "SLURM_EXPORT_ENV": "NONE", "SLURM_NTASKS": "3"}
        said = self.assay(*RUN, *SHORT, "--executor", "slurm", "--out", "short.jsonl", environment=habits).stderr
        self.assertEqual(said.count("submitted as job"), 1, said)
        self.assertEqual(said.count("the nodes do not see this folder"), 1, said)
        self.assertIn("submitted by srun", said)
        self.assertEqual(attempts(f"{self.folder}/short.jsonl"), local)

        # Ctrl-C, a killed runner, a node that dies.
        child = self.begin()
        self.assertIn("interrupted", self.ends_by_ctrl_c(child))
        self.assertEqual(self.job_ids(), [])
        for kill in (lambda child: child.kill(), lambda _: [self.cluster.order(f"{what} n1") for what in ("kill", "start")]):
            before = os.path.getsize(f"{self.folder}/j.jsonl")
            child = self.cluster.start(ASSAY, "run", "--resume", "j.jsonl", cwd=self.folder)
            while child.poll() is None and os.path.getsize(f"{self.folder}/j.jsonl") == before:
                time.sleep(0.05)
            self.assertIsNone(child.poll(), "the run is under way")
            kill(child)
            status, said = self.end_of(child)
        self.assertEqual(status, 0, said)
        self.assertNotIn("submitted as job", said)
        self.complete()

    def test_a_program_that_nodes_without_the_folder_lack_is_named(self):
        self.cluster.blind(self, self.folder)
        for name in ("assay", "assay-worker", "assay-launch"):
            shutil.copy(os.path.join(os.path.dirname(ASSAY), name), self.folder)
        said = self.cluster.start(f"{self.folder}/assay", *RUN, *SHORT, "--executor", "slurm", "--out", "j.jsonl", cwd=self.folder)
        status, said = self.end_of(said)
        self.assertEqual(status, 5, said)
        self.assertIn(f"{self.folder}/assay: No such file", said)
        self.assertEqual(self.job_ids(), [])


if __name__ == "__main__":
    unittest.main()
