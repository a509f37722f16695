# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay run --executor slurm` on a Slurm of two nodes: the rows of a local run, whatever happens to its jobs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from slurm_cluster import HERE, QUICK, Cluster, Missing, attempts, rows, told_twice

sys.path.insert(0, f"{HERE}/../postgres")
from postgres_server import Missing as NoServer  # noqa: E402
from postgres_server import Server  # noqa: E402

ASSAY, ROOT = sys.argv[1:3]
sys.argv[1:3] = []
POINTS = json.dumps([{"n": n, "algebra": a} for n in (8, 16) for a in ("real", "log")])
RUN = ("run", "semiring_matmul", "--points", POINTS, "--providers", "reference,naive,torch", *QUICK)  # fmt: skip
SHORT, LONG = ("--rounds", "4"), ("--rounds", "16")


class OnSlurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.cluster = Cluster()
        except Missing as missing:
            raise unittest.SkipTest(str(missing))
        cls.addClassCleanup(cls.cluster.end)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="it's a folder %A ")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

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

    def test_ctrl_c_leaves_no_job_behind_and_others_alone(self):
        other = self.cluster.command("sbatch", "--parsable", "--hold", "--output=/dev/null", "--wrap", "true").strip()
        child = self.begin()
        child.send_signal(signal.SIGINT)
        status, said = self.end_of(child)
        self.assertEqual(status, 130, said)
        self.assertEqual([job for job, _ in self.cluster.jobs()], [other])
        self.cluster.command("scancel", other)
        self.assay("run", "--resume", "j.jsonl")
        self.complete()

    def test_a_killed_runner_is_continued_by_another(self):
        child = self.begin()
        child.kill()
        self.end_of(child)
        self.assertTrue(self.cluster.jobs(), "its jobs go on")
        said = self.assay("run", "--resume", "j.jsonl").stderr
        self.assertIn("submitted before", said)
        self.complete()

    def test_no_moment_makes_it_a_local_run(self):
        child = self.start("--out", "j.jsonl")
        while child.poll() is None and not os.path.exists(f"{self.folder}/j.jsonl.request.json"):
            pass
        child.kill()
        self.end_of(child)
        self.assertIn("submitted", self.assay("run", "--resume", "j.jsonl").stderr)
        self.complete(4 * 2 * 4 + 1)

    def test_what_ended_while_nobody_looked_is_submitted_again(self):
        # Its tasks have status 130, as at the end of their time, and Slurm has forgotten them.
        child = self.begin()
        child.kill()
        self.end_of(child)
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

    def test_a_job_that_never_starts_says_why(self):
        self.cluster.command("scontrol", "update", "PartitionName=all", "MaxTime=1")
        self.addCleanup(self.cluster.command, "scontrol", "update", "PartitionName=all", "MaxTime=INFINITE")
        child = self.start("--time", "30", "--out", "j.jsonl")
        self.until_it_says(child, "PartitionTimeLimit")
        self.assertNotIn("PartitionTimeLimit", self.ends_by_ctrl_c(child))
        self.assertEqual(self.cluster.jobs(), [])

    def test_what_somebody_cancels_is_kept_and_continued(self):
        child = self.begin()
        self.cluster.command("scancel", *{job.split("_")[0] for job, _ in self.cluster.jobs()})
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

    def test_another_program_is_refused(self):
        child = self.begin()
        child.kill()
        self.end_of(child)
        self.cluster.command("scancel", *{job.split("_")[0] for job, _ in self.cluster.jobs()})
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

    def hold(self):
        """Slurm answers nobody, until release() or the end of the test."""
        self.cluster.order("hold-controller")
        self.addCleanup(self.cluster.order, "release-controller")

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

    def test_ctrl_c_ends_every_wait_and_no_job_of_others(self):
        self.cluster.command("scontrol", "update", "PartitionName=all", "State=DOWN")  # so that jobs wait
        self.addCleanup(self.cluster.command, "scontrol", "update", "PartitionName=all", "State=UP")
        other = self.cluster.command("sbatch", "--parsable", "--output=/dev/null", "--wrap", "sleep 1").strip()
        self.addCleanup(self.cluster.command, "scancel", other)

        # The nodes are asked what they are.
        child = self.start("--pin-kind", "0" * 16, "--out", "pinned.jsonl")
        while child.poll() is None and len(self.cluster.jobs()) < 3:
            time.sleep(0.05)
        self.assertIn("interrupted while the nodes were asked", self.ends_by_ctrl_c(child))
        self.assertEqual([id for id, _ in self.cluster.jobs()], [other])
        self.assertEqual(os.listdir(self.folder), [])

        # Jobs are followed, of a run alone and of one of several.
        for words in (("--out", "j.jsonl"), ("--on-each-kind", "--out", "fleet/")):
            child = self.start(*words)
            self.until_it_says(child, "PartitionDown")
            said = self.ends_by_ctrl_c(child, signal.SIGTERM)
            self.assertIn("continue with: assay run --resume", said)
            self.assertEqual([id for id, _ in self.cluster.jobs()], [other])
        self.assertIn("not begun: nodes of kind old (", said)  # kinds are taken by their names

    def test_ctrl_c_while_slurm_does_not_answer(self):
        # Before there is a run.
        self.hold()
        for words in (("--out", "a.jsonl"), ("--pin-kind", "0" * 16, "--out", "a.jsonl"), ("--on-each-kind", "--out", "fleet/")):
            child = self.start(*words)
            time.sleep(1)
            start = time.monotonic()
            self.assertIn("interrupted while sinfo", self.ends_by_ctrl_c(child))
            self.assertLess(time.monotonic() - start, 5)  # Slurm's own patience is ten seconds
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
            self.assertEqual(self.cluster.jobs(), [])

    def test_a_kind_of_which_no_node_works_is_told(self):
        self.cluster.command("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
        self.addCleanup(self.cluster.command, "scontrol", "update", "NodeName=n2", "State=RESUME")
        few = ("run", "semiring_matmul", "--points", '{"n":8,"algebra":"real"}', "--providers", "naive", *SHORT, *QUICK,
               "--executor", "slurm", "--on-each-kind", "--out", "fleet/")  # fmt: skip
        self.assertIn("not begun: nodes of kind new (", self.assay(*few).stderr)
        self.assertIn("none of which works", self.assay(*few, "--strict", status=3).stderr)

    def test_rows_come_back_from_nodes_that_do_not_see_the_folder(self):
        self.cluster.blind(self, self.folder)
        local = self.local()
        said = self.assay(*RUN, *SHORT, "--executor", "slurm", "--out", "short.jsonl").stderr
        self.assertEqual(said.count("submitted as job"), 1, said)
        self.assertEqual(said.count("the nodes do not see this folder"), 1, said)
        self.assertIn("submitted by srun", said)
        self.assertEqual(attempts(f"{self.folder}/short.jsonl"), local)

        # Ctrl-C, a killed runner, a node that dies.
        child = self.begin()
        self.assertIn("interrupted", self.ends_by_ctrl_c(child))
        self.assertEqual(self.cluster.jobs(), [])
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
        self.assertEqual(self.cluster.jobs(), [])

    def test_what_makes_no_sense_is_refused_before_anything_is_submitted(self):
        for words, said in (
            (("--partition", "all"), "--partition is for --executor slurm, got 'all'"),
            (("--executor", "slurm", "--time", "10 minutes"), "got '10 minutes'"),
            (("--executor", "slurm", "--budget", "5m"), "--budget"),
            (("--executor", "slurm", "--nodes", "0"), "--nodes must be at least 1, got 0"),
            (("--executor", "pbs"), "pbs"),
            *((("--executor", "slurm", *given), f"--{name}: ") for name in ("partition", "account", "constraint", "time", "pin-kind")
              for given in ((f"--{name}", ""), (f"--{name}=",))),
            (("--executor", "slurm", "--on-each-kind", "--out", "one.jsonl"), "'one.jsonl'"),
        ):
            self.assertIn(said, self.assay(*RUN, *words, status=2).stderr)
        self.assertIn("'nowhere'", self.assay(*RUN, "--executor", "slurm", "--partition", "nowhere", status=5).stderr)
        self.assertIn("sbatch", self.assay(*RUN, "--executor", "slurm", status=5, environment={"PATH": "/nonexistent"}).stderr)
        self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(self.cluster.jobs(), [])

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


if __name__ == "__main__":
    unittest.main()
