# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Runners that want the same journal at the same time, killed and continued: each attempt once, none lost.

ASSAY_RACE_TRIALS says how often each race is run; a few times unless it is set."""

import json
import os
import random
import signal
import subprocess
import time

from assay_cli import ALONE, ASSAY, CliTest, main

TRIALS = int(os.environ.get("ASSAY_RACE_TRIALS", "3"))


def plan(rounds, size=8, providers="reference,naive"):
    return ("run", "semiring_matmul", "--points", f'{{"n":{size},"algebra":"real"}}', "--providers", providers,
            "--rounds", str(rounds), "--steady", "0s", "--batches", "5", "--warm-up", "0", "--max-steal",
            "100%", "--max-foreign", "100%")  # fmt: skip


class Races(CliTest):
    def start(self, *arguments):
        return subprocess.Popen(
            [ASSAY, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **ALONE, "ASSAY_LOCK_DIR": self.folder})  # fmt: skip

    def end(self, process):
        _, stderr = process.communicate(timeout=300)
        return process.returncode, stderr

    def rows(self, journal):
        return [json.loads(line) for line in self.read(journal).splitlines()]

    def lines(self, journal):
        try:
            return self.read(journal).count(b"\n")
        except FileNotFoundError:
            return 0

    def each_once(self, journal, count):
        rows = self.rows(journal)
        self.assertEqual(len(rows), count)
        self.assertEqual(len({row["attempt_id"] for row in rows}), count, "an attempt is there twice")
        self.assertEqual(len({row["run_id"] for row in rows}), 1)
        self.assertEqual({row["order"] for row in rows}, set(range(count)))
        self.run_ok("report", journal)
        return rows

    def test_a_run_is_continued_while_its_runner_makes_the_last_attempts(self):
        rounds = 4
        for trial in range(TRIALS):
            journal = f"j{trial}.jsonl"
            first = self.start(*plan(rounds), "--out", journal)
            while first.poll() is None and self.lines(journal) < 2 * rounds - 1 - trial % 4:
                time.sleep(0.001)
            second = self.start("run", "--resume", journal)
            status, stderr = self.end(second)
            self.assertIn(status, (0, 2), stderr)
            if status == 2:
                self.assertIn("another runner is writing", stderr)
            self.assertEqual(self.end(first)[0], 0)
            self.each_once(journal, 2 * rounds)

    def test_two_runs_want_one_journal_then_a_kill_and_a_resume(self):
        random.seed(2026)
        for trial in range(TRIALS):
            journal = f"t{trial}.jsonl"
            plans = [(5, 8), (7, 16)]  # rounds, size: whose rows they are can be told
            runners = [self.start(*plan(*one), "--out", journal) for one in plans]
            ended = {}
            while not ended and not self.lines(journal):
                ended = {i: r for i, r in enumerate(runners) if r.poll() is not None}
                time.sleep(0.001)
            time.sleep(random.random() * 0.3)
            for runner in runners:
                runner.send_signal(signal.SIGKILL)
            outcomes = [self.end(runner) for runner in runners]
            for status, stderr in outcomes:
                self.assertIn(status, (0, 2, -signal.SIGKILL), stderr)
            request = journal + ".request.json"
            self.assertTrue(os.path.exists(self.path(request)) or not self.lines(journal))
            if not os.path.exists(self.path(request)):
                continue  # both were killed before they had begun
            begun = json.loads(self.read(request))
            status, stderr = self.end(self.start("run", "--resume", journal))
            self.assertEqual(status, 0, stderr)
            rounds = begun["request"]["rounds"]
            size = dict(plans)[rounds]
            for row in self.each_once(journal, 2 * rounds):
                self.assertEqual(row["run_id"], begun["run_id"])
                self.assertEqual(row["point"]["n"], size, "rows of the other run")
            self.assertEqual(json.loads(self.read(request)), begun, "the request was replaced")

    def test_a_refused_second_runner_changes_nothing(self):
        first = self.start(*plan(200, 64), "--out", "j.jsonl")
        while not os.path.exists(self.path("j.jsonl.request.json")) and first.poll() is None:
            time.sleep(0.001)
        asked = self.read("j.jsonl.request.json")
        for second in (plan(3, 16), ("run", "--resume", "j.jsonl")):
            out = () if "--resume" in second else ("--out", "j.jsonl")
            status, stderr = self.end(self.start(*second, *out))
            self.assertEqual(status, 2, stderr)
            self.assertIn("another runner is writing", stderr)
        self.assertEqual(self.read("j.jsonl.request.json"), asked)
        first.kill()
        self.end(first)
        # Also when the first is dead: what was begun is continued, or goes elsewhere.
        status, stderr = self.end(self.start(*plan(3, 16), "--out", "j.jsonl"))
        self.assertEqual(status, 2, stderr)
        self.assertIn("--resume", stderr)
        self.assertEqual(self.read("j.jsonl.request.json"), asked)


if __name__ == "__main__":
    main()
