# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Runs by name, from a file; and stores that have each row as soon as it is made."""

import json
import os
import signal
import sqlite3
import subprocess
import time

from assay_cli import ALONE, ASSAY, CliTest, main

FILE = """# What we measure every night.
[configs.small]
cases = ["semiring_matmul"]
points = [{n = 16, algebra = "real"}, {n = 8, algebra = "real"}]
providers = ["reference", "naive"]
rounds = 2
steady = "1ms"
max_steal = "100%"
max_foreign = 1

[configs.large]
cases = "semiring_matmul"
points = '{"n":24,"algebra":"real"}'
providers = "naive"
rounds = 3
steady = 0.001
batches = 5
warm_up = 0
seed = 7
settle = "1ms"
max_steal = 1.0
max_foreign = 1.0
"""


class Configs(CliTest):
    def setUp(self):
        super().setUp()
        self.write("f.toml", FILE)

    def rows(self, folder="results"):
        rows = []
        for name in sorted(os.listdir(self.path(folder))):
            if name.endswith(".jsonl"):
                rows += [json.loads(line) for line in self.read(os.path.join(folder, name)).splitlines()]
        return rows

    def test_each_configuration_is_a_run_with_its_name(self):
        result = self.run_ok("run", "--config", "f.toml", "large", "small", "--json", "--strict")
        self.assertNotIn("not reached", result.stderr)
        first, second = json.loads(result.stdout)
        self.assertEqual((first["label"], second["label"]), ("large", "small"))
        rows = self.rows()
        self.assertEqual(len({row["run_id"] for row in rows}), 2)
        small = [row for row in rows if row["provenance"]["label"] == "small"]
        large = [row for row in rows if row["provenance"]["label"] == "large"]
        self.assertEqual((len(small), len(large), len(rows)), (8, 3, 11))
        self.assertEqual({row["point"]["n"] for row in small}, {8, 16})
        self.assertEqual({row["point"]["n"] for row in large}, {24})
        asked = large[0]["provenance"]["request"]
        self.assertEqual((asked["settle_s"], asked["order_seed"], asked["settings"]["steady_s"]), (1e-3, 7, 1e-3))
        self.assertEqual(asked["settings"]["batches"], 5)
        self.assertEqual(asked["settings"]["warm_up_calls"], 0)

    def test_all_and_what_is_typed_goes_first(self):
        plans = json.loads(self.run_ok("run", "--config", "f.toml", "--all", "--rounds", "4", "--dry-run", "--json").stdout)
        self.assertEqual([(plan["label"], plan["attempts"]) for plan in plans], [("large", 4), ("small", 16)])
        self.assertEqual(self.run_ok("run", "--config", "f.toml", "all", "--dry-run").stdout.count("configuration "), 2)

    def refused(self, text, says, *names):
        self.write("bad.toml", text)
        result = self.assay("run", "--config", "bad.toml", *(names or ("--all",)))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertFalse(os.path.exists(self.path("results")), "nothing was begun")

    def test_mistakes_are_told_with_their_line_before_anything_runs(self):
        self.refused(FILE.replace("settle =", "setle ="), "bad.toml:20: configs.large.setle: unknown key")
        self.refused(FILE.replace("rounds = 3", 'rounds = "3"'), "bad.toml:15: configs.large.rounds: expected an integer")
        self.refused(FILE.replace('providers = "naive"', "providers = [1]"), "bad.toml:14: configs.large.providers")
        self.refused(FILE.replace('cases = "semiring_matmul"\n', ""), "configs.large.cases: missing key")
        self.refused(FILE.replace('cases = "semiring_matmul"', 'cases = "no_such_case"'), "[configs.large]")
        self.refused(FILE.replace('providers = "naive"', 'providers = "nobody"'), "[configs.large]", "small", "large")
        self.refused(FILE + "[other]\nx = 1\n", "unknown key")
        self.refused("x = [", "not valid TOML")
        self.refused("", "configs")
        self.refused(FILE, "no such configuration (it has large, small): 'medium'", "medium")
        self.write("bad.toml", FILE)
        for arguments, says in (((), "large, small"), (("all", "--out", "j.jsonl"), "a folder"),
                                (("small", "--label", "x"), "--label"), (("small", "--resume", "x"), "--resume")):
            result = self.assay("run", "--config", "bad.toml", *arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(says, result.stderr)

    def stored(self):
        try:
            with sqlite3.connect(f"file:{self.path('a.db')}?mode=ro", uri=True) as store:
                return store.execute("select count(*) from attempt").fetchone()[0]
        except sqlite3.Error:
            return 0

    def test_rows_are_in_the_store_as_they_are_made_and_after_a_kill(self):
        run = ("run", "semiring_matmul", "--points", '{"n":16,"algebra":"real"}', "--providers", "reference,naive",
               "--rounds", "30", "--steady", "50ms", "--max-steal", "100%", "--max-foreign", "100%")  # fmt: skip
        runner = subprocess.Popen(
            [ASSAY, *run, "--out", "j.jsonl", "--store", "sqlite:a.db"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **ALONE, "ASSAY_LOCK_DIR": self.folder},
        )  # fmt: skip
        while self.stored() < 3 and runner.poll() is None:
            time.sleep(0.01)
        self.assertIsNone(runner.poll(), "the store had them only when the run was over")
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        journal = self.read("j.jsonl").count(b"\n")
        self.assertIn(self.stored(), (journal - 1, journal))  # the last one may have been on its way
        self.assertLess(journal, 60)
        self.run_ok("run", "--resume", "j.jsonl", "--store", "sqlite:a.db")
        self.assertEqual(self.stored(), 60)
        self.run_ok("store", "verify", "sqlite:a.db")
        self.run_ok("store", "export", "sqlite:a.db", "--out", "back")
        self.assertEqual(self.read(os.path.join("back", os.listdir(self.path("back"))[0])), self.read("j.jsonl"))


if __name__ == "__main__":
    main()
