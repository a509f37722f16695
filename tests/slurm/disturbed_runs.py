# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What a run of 40 points over a cluster must bear, shown on a Slurm of two nodes of its own.

    disturbed_runs.py ASSAY same               undisturbed
    disturbed_runs.py ASSAY cancel [TIMES]     somebody cancels its jobs, at random moments; then --resume
    disturbed_runs.py ASSAY node [TIMES]       a node dies with everything on it, or its slurmd alone, and comes back
    disturbed_runs.py ASSAY requeue [TIMES]    a task that runs is put back into the queue
    disturbed_runs.py ASSAY runner [TIMES]     SIGKILL of the runner; then --resume
    disturbed_runs.py ASSAY stop [TIMES]       Ctrl-C, SIGTERM, or a closed terminal; then --resume

Each ends with status 0 where the journal has the attempts of a local run in the end, each once, and no job is left.
"""

import json
import os
import random
import resource
import signal
import sys
import tempfile
import time

from slurm_cluster import QUICK, Cluster, Missing, attempts, told_twice

ASSAY = sys.argv[1]
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever keeps this program from it
POINTS = json.dumps([{"n": n, "algebra": a} for n in range(4, 44, 4) for a in ("real", "log", "max_plus", "euclidean")])
RUN = ["run", "semiring_matmul", "--points", POINTS, "--providers", "reference,naive", "--rounds", "4", *QUICK]  # fmt: skip


def expect(holds, what):
    print(("holds: " if holds else "FAILS: ") + what, flush=True)
    if not holds:
        raise SystemExit(1)


class Run:
    """One run on the cluster, begun, disturbed and continued until it is complete."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder, self.journal = cluster, folder, f"{folder}/cluster.jsonl"
        self.starts = 0
        self.start()

    def start(self):
        self.starts += 1
        words = RUN + ["--executor", "slurm", "--out", self.journal] if self.starts == 1 else ["run", "--resume", self.journal]
        self.child = self.cluster.start(ASSAY, *words)

    def random_moment(self):
        """Somewhere within the run; false where it is over by then."""
        until = time.monotonic() + random.uniform(0, 8)
        while time.monotonic() < until and self.child.poll() is None:
            time.sleep(0.02)
        return self.child.poll() is None

    def wait(self):
        said = self.child.communicate(timeout=1200)[0]
        if self.child.returncode not in (0, 130, -signal.SIGKILL):
            print(said)
        return self.child.returncode

    def finish(self):
        """Continues it until it is complete."""
        for _ in range(5):
            if self.wait() == 0:
                return
            self.start()
        expect(False, "the run comes to its end")


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def running(cluster):
    return [job for job, state in cluster.jobs() if state == "RUNNING"]


# Each says whether there was something to disturb.
def cancel(run):
    if not run.cluster.cancel_all(check=False):
        return False
    run.wait()
    run.start()
    return True


def node(run):
    names = run.cluster.command("squeue", "-h", "-t", "RUNNING", "-o", "%N").split()
    if not names:
        return False
    name = random.choice(names)
    run.cluster.order(random.choice(("kill", "kill-daemon")) + " " + name)
    time.sleep(random.uniform(0, 3))
    expect(run.cluster.order("start " + name) == "ready", f"{name} came back")
    return True


def requeue(run):
    jobs = running(run.cluster)
    return bool(jobs) and run.cluster.command("scontrol", "requeue", random.choice(jobs), check=False) is not None


def runner(run):
    run.child.kill()
    run.wait()
    time.sleep(random.uniform(0, 3))
    run.start()
    return True


def stop(run):
    run.child.send_signal(random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)))
    run.wait()
    left = run.cluster.jobs()
    expect(not left, f"no job is left {left}")
    run.start()
    return True


def same(_run):
    return True


def show(disturb, times):
    cluster = Cluster()
    with tempfile.TemporaryDirectory() as folder:
        local = cluster.start(ASSAY, *RUN, "--out", f"{folder}/local.jsonl")
        local.communicate()
        expected = attempts(f"{folder}/local.jsonl")
        before = processor_s()
        done = runs = 0
        while done < times:
            runs += 1
            run = Run(cluster, folder)
            while done < times and run.random_moment():
                done += disturb(run)
            run.finish()
            got = attempts(run.journal)
            expect(got == expected and not told_twice(run.journal),
                   f"{len(set(got))} of {len(expected)} attempts, each once, after {done} disturbances ({run.starts} runners)")
            expect(cluster.is_idle(), "no job is left")
            left = sorted(name for _, _, names in os.walk(run.journal + ".slurm") for name in names)
            expect(not os.path.exists(run.journal + ".slurm"), f"nothing is left beside the journal {left}")
            for name in (run.journal, run.journal + ".request.json"):
                os.remove(name)
        print(f"{runs} runs; runners and what they started took {processor_s() - before:.1f} s of processor time")
    cluster.end()


if __name__ == "__main__":
    name = sys.argv[2]
    random.seed(os.environ.get("ASSAY_TEST_SEED", "1"))
    try:
        show(globals()[name], int(sys.argv[3]) if len(sys.argv) > 3 else 1 if name == "same" else 10)
    except Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
