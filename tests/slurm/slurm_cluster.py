# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A Slurm of two nodes for a test, in a folder of its own (the script `cluster`)."""

import json
import os
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Short attempts that nothing excludes, whatever else the machine does.
QUICK = ("--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%", "--cores", "1")  # fmt: skip


class Missing(Exception):
    """Names the program that is not installed."""


class Cluster:
    """Stopped when this process ends, whatever ends it: the script reads from a pipe of ours."""

    def __init__(self, conf=""):
        self.folder = tempfile.mkdtemp(prefix="assay-slurm-")
        self.script = subprocess.Popen(
            [os.path.join(HERE, "cluster"), self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "ASSAY_TEST_SLURM_CONF": conf}, start_new_session=True)  # fmt: skip
        answer = self.script.stdout.readline().strip()
        if answer != "ready":
            raise Missing(answer or "missing: a cluster that starts")
        self.environment = {**os.environ, "SLURM_CONF": f"{self.folder}/slurm.conf", "ASSAY_PEERS": "/nonexistent",
                            "ASSAY_LOCK_DIR": self.folder}  # fmt: skip

    def order(self, what):
        self.script.stdin.write(what + "\n")
        self.script.stdin.flush()
        return self.script.stdout.readline().strip()

    def command(self, *words, check=True):
        return subprocess.run(words, check=check, capture_output=True, text=True, env=self.environment).stdout

    def jobs(self):
        """Tasks that wait or run, as (id of squeue, state)."""
        return [tuple(line.split()) for line in self.command("squeue", "-h", "--array", "-o", "%i %T").splitlines()]

    def is_idle(self, seconds=60):
        """Whether no job is left, after so long at most."""
        until = time.monotonic() + seconds
        while self.jobs() and time.monotonic() < until:
            time.sleep(0.2)
        return not self.jobs()

    def cancel_all(self, check=True):
        jobs = {job.split("_")[0] for job, _ in self.jobs()}
        if jobs:
            self.command("scancel", *jobs, check=check)
        return bool(jobs)

    def start(self, assay, *words, **options):
        return subprocess.Popen([assay, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)

    def blind(self, test, folder):
        """No node sees the folder until the end of a test, which is skipped where that cannot be made."""
        for node in ("n1", "n2"):
            test.addCleanup(lambda node=node: [self.order(f"{what} {node}") for what in ("kill", "start")])
            answer = self.order(f"blind {node} {folder}")
            if answer != "ready":
                test.skipTest(answer)

    def end(self):
        self.script.stdin.close()
        self.script.wait()
        self.script.stdout.close()


def rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def attempts(path):
    """What was measured, by all that says which attempt it is; an attempt that is there twice shows."""
    return sorted((r["case"], json.dumps(r["point"], sort_keys=True), r["provider"], r["platform"], r["cores"], r["round"], r["status"])
                  for r in rows(path) if r["status"] not in ("interrupted", "excluded"))  # fmt: skip


def told_twice(path):
    """Ids of attempts that the journal has more than once."""
    ids = [r["attempt_id"] for r in rows(path)]
    return sorted({i for i in ids if ids.count(i) > 1})
