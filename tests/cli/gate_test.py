# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay compare`, `gate` and `history` on stores whose rows are known, and `gate --run`."""

import json
import math
import os
import stat
import subprocess
import xml.etree.ElementTree as ElementTree

from assay_cli import ASSAY, CliTest, main
from journals import HOSTILE, journal, rounds

BEFORE, NOW = "20260101T000000.000000Z-aaaaaaa", "20260102T000000.000000Z-bbbbbbb"


def check_junit(test, text):
    """The rules every reader of JUnit XML counts on."""
    root = ElementTree.fromstring(text)
    test.assertEqual(root.tag, "testsuites")
    outcomes = {}
    for level in [root, *root]:
        cases = level.findall(".//testcase")
        test.assertEqual(int(level.get("tests")), len(cases))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            test.assertEqual(int(level.get(attribute)), len(level.findall(f".//testcase/{tag}")))
        test.assertGreaterEqual(float(level.get("time")), 0)
    for suite in root:
        test.assertEqual(suite.tag, "testsuite")
        test.assertTrue(suite.get("name"))
        for case in suite:
            test.assertEqual(case.tag, "testcase")
            test.assertTrue(case.get("name") and case.get("classname"))
            test.assertGreaterEqual(float(case.get("time")), 0)
            test.assertLessEqual(len(case), 1)
            for child in case:
                test.assertIn(child.tag, {"failure", "error", "skipped", "system-out"})
                if child.tag != "system-out":
                    test.assertTrue(child.get("message"))
                if child.tag in {"failure", "error"}:
                    test.assertTrue(child.get("type"))
            name = case.get("name").split(" ")[0]
            outcomes[name] = case[0].tag if len(case) else "passed"
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    test.assertEqual(len(set(names)), len(names))
    return outcomes


class Gate(CliTest):
    def store(self, name, rows):
        self.write(name + ".jsonl", journal(rows))
        self.run_ok("store", "ingest", f"sqlite:{name}.db", name + ".jsonl")
        return name + ".db"

    def situations(self):
        """One row got 10 % slower, one wrong, one vanished, one recovered; one is new, one as it was."""
        before = (
            rounds(BEFORE, "steady") + rounds(BEFORE, "slower") + rounds(BEFORE, "wrong")
            + rounds(BEFORE, "vanished") + rounds(BEFORE, "recovered", status="crashed")
        )  # fmt: skip
        now = (
            rounds(NOW, "steady") + rounds(NOW, "slower", time=1.1e-3)
            + rounds(NOW, "wrong", status="wrong_result") + rounds(NOW, "recovered")
            + rounds(NOW, "arrived")
        )  # fmt: skip
        return self.store("before", before), self.store("now", now)

    def gate(self, *arguments, status):
        result = self.assay("gate", *arguments)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout

    def test_the_number_of_rows_hides_nothing(self):
        """Six attempts a side, whose own p cannot be small: every row ten times slower, or one of many."""
        for count, slower in ((47, 47), (100, 1)):
            points = [{"dtype": "f32", "n": n, "seed": 0} for n in range(count)]
            before = [one for point in points for one in rounds(BEFORE, "simd", count=6, point=point)]
            now = [one for i, point in enumerate(points)
                   for one in rounds(NOW, "simd", time=1e-2 if i < slower else 1e-3, count=6, point=point)]  # fmt: skip
            self.write(f"before{count}.jsonl", journal(before))
            self.write(f"now{count}.jsonl", journal(now))
            sources = ("--baseline", f"before{count}.jsonl", "--current", f"now{count}.jsonl")
            gate = json.loads(self.gate(*sources, "--json", status=1))
            verdicts = [one["verdict"] for one in gate["rows"]]
            self.assertEqual(verdicts.count("REGRESSED"), slower)
            self.assertEqual(verdicts.count("PASS"), count - slower)
            compared = self.assay("compare", f"before{count}.jsonl", f"now{count}.jsonl", "--json")
            rows = json.loads(compared.stdout)["comparisons"]
            self.assertEqual(sum(one["differs"] for one in rows), slower)
            for one in rows:  # no verdict contradicts the interval beside it
                self.assertEqual(one["low"] <= 1 <= one["high"], one["verdict"] == "no difference shown")

    def test_every_situation_gets_its_verdict_and_the_worst_decides(self):
        before, now = self.situations()
        text = self.gate("--baseline", before, "--current", now, "--junit", "gate.xml", "--out", "gate.json", status=4)
        expected = {
            "steady": "PASS", "slower": "REGRESSED", "wrong": "BROKEN", "vanished": "DROPPED",
            "recovered": "RECOVERED", "arrived": "NEW",
        }  # fmt: skip
        artifact = json.loads(self.read("gate.json"))
        self.assertEqual({r["provider"]: r["verdict"] for r in artifact["rows"]}, expected)
        self.assertEqual(artifact["exit_status"], 4)
        for provider, verdict in expected.items():
            self.assertRegex(text, rf"(?m)^  {provider} .*{verdict}$")
        self.assertIn("uncalibrated", text)
        slower = [r for r in artifact["rows"] if r["provider"] == "slower"][0]
        self.assertAlmostEqual(slower["ratio"], 1.1, delta=0.01)
        self.assertLess(slower["low"], slower["ratio"])
        self.assertGreater(slower["high"], slower["ratio"])
        self.assertLessEqual(slower["p_adjusted"], 0.05)
        self.assertEqual(slower["pairing"], "unpaired")
        outcomes = check_junit(self, self.read("gate.xml"))
        self.assertEqual(outcomes["slower"], "failure")
        self.assertEqual(outcomes["wrong"], "failure")
        self.assertEqual(outcomes["vanished"], "skipped")
        self.assertEqual(outcomes["steady"], "system-out")
        self.assertEqual(outcomes["recovered"], "system-out")
        self.assertEqual(self.gate("--baseline", before, "--current", now, "--json", status=4), self.read("gate.json").decode())

    def test_exit_statuses(self):
        ok = self.store("ok", rounds(BEFORE, "p"))
        same = self.store("same", rounds(NOW, "p"))
        slower = self.store("slower", rounds(NOW, "p", time=1.1e-3))
        near = self.store("near", rounds(NOW, "p", time=1.05e-3))
        late = self.store("late", rounds(NOW, "p", status="timeout"))
        skipped = self.store("skipped", rounds(NOW, "p", status="skipped"))
        self.gate("--baseline", ok, "--current", same, status=0)
        self.gate("--baseline", ok, "--current", slower, status=1)
        self.gate("--baseline", ok, "--current", near, status=3)
        self.gate("--baseline", ok, "--current", late, status=4)
        self.gate("--baseline", ok, "--current", skipped, status=3)
        self.gate("--baseline", late, "--current", ok, status=0)
        self.gate("--baseline", ok, "--current", ok, status=2)
        # Thresholds are flags.
        self.gate("--baseline", ok, "--current", slower, "--delta", "15%", status=0)
        self.gate("--baseline", ok, "--current", near, "--delta", "2%", status=1)
        self.gate("--baseline", ok, "--current", slower, "--alpha", "1e-9", status=3)
        self.gate("--baseline", ok, "--current", near, "--rule", "min-p95", status=0)
        self.gate("--baseline", ok, "--current", self.store("slow", rounds(NOW, "p", time=1.2e-3)), "--rule", "min-p95", status=1)

    def test_the_floor_of_a_calibrated_machine_counts(self):
        calibrated = rounds(NOW, "p", time=1.1e-3)
        for one in calibrated:
            one["provenance"]["calibration"] = {"floor": 0.2, "comparisons": 100, "measured": "2026-01-01T00:00:00Z"}
        before, now = self.store("ok", rounds(BEFORE, "p")), self.store("now", calibrated)
        text = self.gate("--baseline", before, "--current", now, status=0)
        self.assertIn("A/A floor of 20 %", text)
        self.assertNotIn("uncalibrated", text)

    def test_runs_and_commits_of_one_store(self):
        rows = rounds(BEFORE, "p") + rounds(NOW, "p", time=1.1e-3)
        store = self.store("all", rows)
        self.gate("--baseline", "20260101", "--current", "20260102", "--source", store, status=1)
        self.gate("--baseline", "aaaaaaa", "--current", "commit:bbbb", "--source", store, status=1)
        refused = self.assay("gate", "--baseline", "2026", "--current", "20260102", "--source", store)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("ambiguous", refused.stderr)
        self.assertIn("'2026'", refused.stderr)
        for wrong in ("p", "nothing"):
            refused = self.assay("gate", "--baseline", wrong, "--current", "20260102", "--source", store)
            self.assertEqual(refused.returncode, 2)
            self.assertEqual(refused.stderr.count("\n"), 1)

    def test_a_baseline_can_be_looked_at_before_anything_is_measured(self):
        store = self.store("all", rounds(BEFORE, "p") + rounds(NOW, "p"))
        for baseline in (store, "20260101", "aaaaaaa"):
            done = self.run_ok("gate", "--baseline", baseline, "--source", store, "--dry-run")
            self.assertRegex(done.stdout, r"^baseline: \d+ rows in .*\n$")
        for wrong in ("p", "nothing", "none.db"):
            refused = self.assay("gate", "--baseline", wrong, "--source", store, "--dry-run")
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn(wrong, refused.stderr)
        self.assertEqual(self.assay("gate", "--run", "semiring_matmul", "--baseline", store, "--dry-run").returncode, 2)

    def test_hostile_names_everywhere(self):
        for i, name in enumerate(HOSTILE):
            before = rounds(BEFORE, name, case=name) + rounds(BEFORE, "fine")
            now = rounds(NOW, name, case=name, status="wrong_result", message=name) + rounds(NOW, "fine")
            old, new = self.store(f"a{i}", before), self.store(f"b{i}", now)
            text = self.gate("--baseline", old, "--current", new, "--junit", "g.xml", "--out", "g.json", status=4)
            json.loads(self.read("g.json"))
            check_junit(self, self.read("g.xml"))
            printed_by = [
                ("compare", old, new), ("export", new), ("export", new, "--format", "trace"), ("report", new),
            ]  # fmt: skip
            if "\0" not in name:  # which no argument can hold
                printed_by += [("history", name, old, new), ("bundle", name, new)]
            outputs = [self.run_ok(*command).stdout for command in printed_by]
            for printed in (text, self.read("g.xml").decode(), *outputs):
                self.assertTrue(printed)
                for forbidden in ("\x1b", "\u202e", "\x00", "\x07"):
                    self.assertNotIn(forbidden, printed)
            exported = self.run_ok("export", new, "--format", "junit").stdout
            check_junit(self, exported)
            self.assertNotIn("<script>", exported)

    def test_compare(self):
        paired = [r for n in ("a", "b") for r in rounds(NOW, n, time=1e-3 if n == "a" else 2e-3)]
        store = self.store("paired", paired + rounds(BEFORE, "a"))
        result = json.loads(self.run_ok("compare", "a", "b", store, "--json").stdout)["comparisons"]
        self.assertEqual([(c["pairing"], c["verdict"]) for c in result], [("paired", "b is slower")])
        result = json.loads(self.run_ok("compare", "20260101", "20260102", store, "--json").stdout)["comparisons"]
        by = {c["provider"]: c for c in result}
        self.assertEqual(by["a"]["pairing"], "unpaired")
        self.assertEqual(by["a"]["verdict"], "no difference shown")
        self.assertGreater(by["a"]["minimum_detectable_effect"], 0)
        self.assertGreater(by["a"]["rounds_needed"], 0)
        self.assertTrue(by["b"]["verdict"].startswith("only in"))
        text = self.run_ok("compare", "20260101", "20260102", store).stdout
        self.assertIn("12 unpaired", text)
        self.assertRegex(text, r"≥ [0-9.]+ %")
        for arguments in (("a", "nobody"), ("a", "a"), ("a", "20260102"), ("a", "")):
            refused = self.assay("compare", *arguments, store)
            self.assertEqual(refused.returncode, 2, arguments)
            self.assertEqual(refused.stderr.count("\n"), 1)

    def test_history(self):
        rows = []
        for i in range(24):
            time = 1e-3 * (1.1 if i >= 14 else 1) * (1 + 0.004 * math.sin(1.7 * i))
            rows += rounds(f"202601{i + 1:02}T000000.000000Z-c{i:06}", "p", time=time, commit=f"c{i:06}")
        store = self.store("history", rows)
        series = json.loads(self.run_ok("history", "matmul", store, "--json").stdout)["series"]
        self.assertEqual(len(series), 1)
        self.assertEqual(len(series[0]["points"]), 24)
        self.assertEqual([c["to"] for c in series[0]["changes"]], ["c000014"])
        self.assertIn("slower since c000014", self.run_ok("history", "matmul", store).stdout)
        self.assertEqual(self.assay("history", "nothing", store).returncode, 2)
        self.assertEqual(self.assay("history", "matmul", store, "--point", "[]").returncode, 2)

    # A worker that runs the real one and then reports the times it is told to, with a little spread: what these
    # tests ask is what is made of times, and the times of a busy machine would answer differently each day.
    def telling_worker(self, name, seconds):
        path = self.write(
            name,
            "#!/usr/bin/python3\n"
            "import glob, json, math, os, subprocess, sys\n"
            f"status = subprocess.run([{os.path.join(os.path.dirname(ASSAY), 'assay-worker')!r}, *sys.argv[1:]]).returncode\n"
            "folder = os.path.dirname(sys.argv[1])\n"
            "for path in glob.glob(os.path.join(folder, 'report-*.json')):\n"
            "    report = json.load(open(path))\n"
            f"    report['steady_s'] = [{seconds!r} * (1 + 0.01 * math.sin(1.7 * i)) for i in range(len(report['steady_s']))]\n"
            "    json.dump(report, open(path, 'w'))\n"
            "sys.exit(status)\n",
        )
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def fast_worker(self):
        return self.telling_worker("fast-worker", 2e-5)

    def slow_worker(self):
        return self.telling_worker("slow-worker", 3e-5)

    MEASURE = ("--points", '{"n":48,"algebra":"real"}', "--providers", "naive", "--steady", "5ms",
               "--max-steal", "100%", "--max-foreign", "100%", "--cores", "1")  # fmt: skip

    def test_gate_run_measures_both_sides_in_the_same_rounds(self):
        result = self.assay(
            "gate", "--run", "semiring_matmul", *self.MEASURE, "--baseline",
            self.fast_worker(), "--current", self.slow_worker(),
            "--out", "g.json", "--junit", "g.xml", "--budget", "60s",
        )  # fmt: skip
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        gate = json.loads(self.read("g.json"))
        self.assertEqual([r["verdict"] for r in gate["rows"]], ["REGRESSED"])
        self.assertEqual(gate["rows"][0]["pairing"], "paired")
        self.assertEqual(gate["looks"], 2)
        self.assertGreater(gate["rows"][0]["ratio"], 1.2)
        check_junit(self, self.read("g.xml"))
        refused = self.assay("gate", "--run", "semiring_matmul", "--baseline", "no-such-thing", "--metric", "colour")
        self.assertIn("unknown metric: 'colour'", refused.stderr)
        refused = self.assay("gate", "--run", "semiring_matmul", "--baseline", "no-such-thing")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("'no-such-thing'", refused.stderr)

    def test_history_confirm_builds_both_commits(self):
        git = lambda *a: subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *a],
            cwd=self.folder, check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
        git("init", "-q", ".")
        commits = []
        for i in range(12):
            self.write("number", str(i))
            git("add", "number")
            git("commit", "-qm", str(i))
            commits.append(git("rev-parse", "HEAD"))
        self.run_ok(*self.SMALL, "--cores", "1", "--out", "first.jsonl")
        with open(self.path("first.jsonl")) as file:
            template = [json.loads(line) for line in file][0]
        rows = []
        for i, commit in enumerate(commits):
            time = 1e-5 * (1.5 if i >= 6 else 1) * (1 + 0.004 * math.sin(1.7 * i))
            rows += rounds(
                f"202601{i + 1:02}T000000.000000Z-{commit[:7]}", "naive", time=time, commit=commit,
                case="semiring_matmul", point=template["point"], machine=template["machine"], cores=1,
            )  # fmt: skip
        store = self.store("history", rows)
        fast, slow = self.fast_worker(), self.slow_worker()
        build = f'mkdir -p build && if [ $(cat number) -ge 6 ]; then cp "{slow}" build/assay-worker; else cp "{fast}" build/assay-worker; fi'
        result = self.assay(
            "history", "semiring_matmul", store, "--confirm", "--build", build, "--steady", "5ms", "--max-steal",
            "100%", "--max-foreign", "100%", "--rounds", "12", "--out", "confirm.json", environment={"XDG_CACHE_HOME": self.path("cache")},
        )  # fmt: skip
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("confirmed", result.stdout)
        self.assertIn("building commit", result.stderr)
        confirmation = json.loads(self.read("confirm.json"))["confirmations"][0]
        self.assertEqual(confirmation["to"], commits[6][:7])
        self.assertEqual(git("worktree", "list").count("\n"), 0)  # none left behind
        self.assertEqual(len(os.listdir(self.path("cache/assay/builds"))), 2)
        # A build that fails says so in one line, and leaves nothing.
        failed = self.assay(
            "history", "semiring_matmul", store, "--confirm", "--build", "echo no compiler here >&2; exit 3",
            environment={"XDG_CACHE_HOME": self.path("cache")},
        )  # fmt: skip
        self.assertEqual(failed.returncode, 2)
        self.assertIn("no compiler here", failed.stderr)
        self.assertEqual(git("worktree", "list").count("\n"), 0)


if __name__ == "__main__":
    main()
