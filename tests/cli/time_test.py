# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Commands, timed: what is asked becomes a case file and rows; what is wrong becomes one line; nothing survives."""

import glob
import json
import os
import signal
import subprocess
import time

from assay_cli import ALONE, ASSAY, CliTest, main

CALM = ("--max-steal", "100%", "--max-foreign", "100%", "--quiet")
ONCE = ("--runs", "1", *CALM)
SECONDS = 60  # that something may take to appear, or to be gone


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return ") Z " not in file.read()
    except OSError:
        return False


class Time(CliTest):
    def time(self, *arguments, status=0, **options):
        result = self.assay("time", *arguments, **options)
        self.assertEqual(result.returncode, status, (arguments, result.stderr, result.stdout))
        return result

    def rows(self, pattern="results/*.jsonl"):
        rows = []
        for path in sorted(glob.glob(self.path(pattern))):
            with open(path) as file:
                rows += [json.loads(line) for line in file]
        return rows

    def exported(self, *arguments, **options):
        self.time(*arguments, "--export-json", "out.json", **options)
        return json.loads(self.read("out.json"))["results"]

    def lines(self, name):
        return self.read(name).decode().splitlines() if os.path.exists(self.path(name)) else []

    def wait_for(self, happens):
        until = time.monotonic() + SECONDS
        while not happens():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def refused(self, says, *arguments, **options):
        result = self.time(*arguments, status=2, **options)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("assay: "), lines)
        self.assertIn(says, lines[0])
        self.assertEqual(result.stdout, "")
        self.assertEqual(glob.glob(self.path("results/*.jsonl*")), [])
        self.assertEqual(glob.glob(self.path("results/cases/*")), [])

    def test_two_commands_leave_rows_and_a_case_file(self):
        first = self.time("true", "sleep 0.01", "--rounds", "2", "--steady", "30ms", *CALM)
        rows = self.rows()
        self.assertEqual([(r["provider"], r["round"]) for r in sorted(rows, key=lambda r: (r["provider"], r["round"]))],
                         [("sleep-0.01", 0), ("sleep-0.01", 1), ("true", 0), ("true", 1)])
        for row in rows:
            self.assertEqual((row["status"], row["suite"], row["case"]), ("ok", "own", "time"))
            self.assertEqual(row["fidelity"]["status"], "no_oracle")
            self.assertEqual(row["provenance"]["baseline"], "true")
            self.assertGreater(row["metrics"]["shell_time"], 0)
            runs = row["samples"]["steady_s"]
            self.assertGreaterEqual(len(runs), 1)
            for name in ("user_time", "system_time", "run_peak_rss", "exit_code"):
                self.assertEqual(len(row["samples"][name]), len(runs), name)
            self.assertEqual(row["samples"]["batch_calls"], 1)
        self.assertIn("-N", first.stdout)  # `true` is shorter than its shell, or nearly
        longer = self.time("sleep 0.02", "sleep 0.01", "--rounds", "2", "--steady", "30ms", "--out", "o", *CALM)
        self.assertIn("1 (baseline)", longer.stdout)
        self.assertIn("no oracle", longer.stdout)
        # The same line finds the same file; another makes another.
        self.time("true", "sleep 0.01", "--rounds", "2", "--steady", "30ms", *CALM)
        files = glob.glob(self.path("results/cases/time-*.toml"))
        self.assertEqual(len(files), 1)
        self.time("true", *ONCE)
        self.assertEqual(len(glob.glob(self.path("results/cases/time-*.toml"))), 2)
        # From there on it is a case like any other.
        self.run_ok("run", files[0], "--rounds", "1", "--steady", "1ms", *CALM, "--out", "again.jsonl")
        self.assertEqual({r["provider"] for r in self.rows("again.jsonl")}, {"true", "sleep-0.01"})
        self.assertIn("sleep 0.01", self.run_ok("list", files[0]).stdout)
        self.assertIn("sleep-0.01", self.run_ok("report", "results").stdout)

    def test_a_ratio_to_nothing_is_not_shown(self):
        # A shell that takes longer with nothing to do: what it starts is over before that.
        self.write("slow.sh", '[ -z "$2" ] && sleep 0.05\nexec sh -c "$2"\n')
        shell = ("--shell", "sh " + self.path("slow.sh"), "--rounds", "2", "--steady", "30ms", *CALM)
        table = self.time("true", "sleep 0.3", *shell).stdout
        self.assertEqual(table.count("nothing to compare"), 2, table)
        self.assertIn("less than the start of its shell", table)
        told = json.loads(self.time("true", "sleep 0.3", *shell, "--json", "--out", "j").stdout)["results"]
        self.assertEqual([(r["is_shell_alone"], r["ratio"], r["verdict"]) for r in sorted(told, key=lambda r: r["provider"])],
                         [(False, None, "nothing to compare"), (True, None, "nothing to compare")])

    def test_what_makes_no_sense_is_one_line(self):
        for says, *arguments in (
            ("command is required", ),
            ("a command is empty", " "),
            ("'c' is one too many", "true", "false", "-n", "a", "-n", "b", "-n", "c"),
            ("the same one twice: 'a'", "true", "false", "-n", "a", "-n", "a"),
            ("--label: an empty one", "true", "-n", ""),
            ("no such program: 'nosuchprogram'", "-N", "nosuchprogram --x"),
            ("no such program: './here'", "-N", "./here"),
            ("a quote that does not end", "-N", "echo 'a"),
            ("--shell: no such program: 'nosuchshell'", "--shell", "nosuchshell", "true"),
            ("-N is --shell none", "-N", "--shell", "bash", "true"),
            ("no command has the parameter: '{x}'", "-L", "x", "1,2", "echo {y}"),
            ("MIN is more than MAX: 3 and 1", "-P", "x", "3", "1", "echo {x}"),
            ("must be more than 0, got '0'", "-P", "x", "1", "3", "-D", "0", "echo {x}"),
            ("must be more than 0, got '-1'", "-P", "x", "1", "3", "-D", "-1", "echo {x}"),
            ("more than 10000 values", "-P", "x", "1", "1000000", "echo {x}"),
            ("more than 10000 values", "-P", "x", "0", "1", "-D", "0.000001", "echo {x}"),
            ("at most 64 commands", "-P", "x", "1", "65", "echo {x}"),
            ("expected a number, got 'a'", "-P", "x", "a", "3", "echo {x}"),
            ("expected a number, got '1e3'", "-P", "x", "1", "1e3", "echo {x}"),
            ("expected a number, got '99999999999999999999'", "-P", "x", "1", "99999999999999999999", "echo {x}"),
            ("needs --parameter-scan", "-D", "2", "echo"),
            ("a parameter twice: 'x'", "-L", "x", "1", "-L", "x", "2", "echo {x}"),
            ("an empty value in '1,,2'", "-L", "x", "1,,2", "echo {x}"),
            ("the same value twice: '1'", "-L", "x", "1,2,1", "echo {x}"),
            ("got '1x'", "-L", "1x", "1", "echo {1x}"),
            ("more than 10000 combinations", "-P", "x", "1", "200", "-L", "y", ",".join(map(str, range(99))), "echo {x}{y}"),
            ("--baseline: no command is called that: 'c'", "true", "false", "--baseline", "c"),
            ("--input: no such file: 'none'", "--input", "none", "cat"),
            ("--output: cannot be written: 'none/out'", "--output", "none/out", "echo"),
            ("--export-json: cannot be written: 'none/x.json'", "--export-json", "none/x.json", "true"),
            ("--export-markdown: cannot be written: '.'", "--export-markdown", ".", "true"),
            ("one thing goes to standard output", "--export-json", "-", "--json", "true"),
            ("--runs must be from 1", "--runs", "0", "true"),
            ("--warm-up must be from 0", "--warm-up", "-1", "true"),
            ("without --rounds", "--runs", "3", "--rounds", "3", "true"),
            ("without --min-runs", "--runs", "3", "--min-runs", "3", "true"),
            ("--min-runs is more than --max-runs", "--min-runs", "30", "--max-runs", "20", "true"),
            ("--precision must be more than 0", "--precision", "0%", "true"),
            ("--prepare: one for all commands or one for each of 3, got 2", "a", "b", "c", "-p", "x", "-p", "y"),
            ("a name begins with a letter", "--case", "9 x", "true"),
            ("there is another case of that name", "--case", "dense_matmul", "true"),
            ("not a name for a parameter", "-L", "min", "1,2", "echo {min}", "printf {min}"),
            ("a word has 1 to 200 bytes", "-L", "x", "a\x01b,c", "echo {x}", "printf {x}"),
            ("not UTF-8", b"echo \xff"),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.refused(says, *arguments)

    def test_a_command_that_fails_ends_it(self):
        result = self.time("sleep 0.01", "echo so it is >&2; exit 7", *CALM, "--steady", "1ms", status=1)
        last = result.stderr.splitlines()[-1]
        self.assertIn("exit status 7: so it is", last)
        self.assertIn("--ignore-failure", last)
        self.assertIn("echo so it is", last)
        rows = [r for r in self.rows() if r["status"] != "interrupted"]
        failed = [r for r in rows if r["status"] == "failed"]
        self.assertEqual(len(failed), 1)
        self.assertEqual(failed[0]["failure"]["code"], "exit_code")
        self.assertLessEqual(len(rows), 2)  # nobody waited for the other nine rounds
        result = self.time("kill -SEGV $$", *ONCE, "--out", "signal.jsonl", status=1)
        self.assertIn("signal 11", result.stderr)
        result = self.time("nosuchprogram", *ONCE, "--out", "missing.jsonl", status=1)
        self.assertIn("exit status 127", result.stderr)

    def test_failures_can_be_counted(self):
        results = self.exported("exit 3", "kill -9 $$", "-i", *ONCE)
        self.assertEqual([r["exit_codes"] for r in results], [[3], [137]])
        table = self.time("exit 3", "-i", *ONCE, "--out", "b.jsonl").stdout
        self.assertIn("1 of 1 runs did not end with exit status 0", " ".join(table.split()))
        self.assertEqual({r["status"] for r in self.rows()}, {"ok"})

    def test_a_check_judges(self):
        self.write("expected", "5\n")
        check = ("--check", "cmp out expected")
        self.time("echo 5 > out", "printf '5\\n' > out", *check, "-r", "2", *CALM)
        for row in self.rows():
            self.assertEqual((row["status"], row["fidelity"]["status"]), ("ok", "pass"))
            self.assertIn("cmp out expected", row["fidelity"]["oracle"])
        wrong = self.time("echo 5 > out", "echo 6 > out", "-n", "right", "-n", "wrong", *check, "-r", "6", *CALM,
                          "--out", "wrong.jsonl", "--json", status=4)  # fmt: skip
        by = {r["provider"]: r for r in json.loads(wrong.stdout)["results"]}
        self.assertEqual((by["right"]["status"], by["wrong"]["status"]), ("ok", "wrong_result"))
        self.assertIsNone(by["wrong"]["ratio"])
        row = [r for r in self.rows("wrong.jsonl") if r["provider"] == "wrong"][0]
        self.assertIn("check 'cmp out expected': exit status 1: out expected differ", row["failure"]["message"])
        self.assertGreater(len(row["samples"]["steady_s"]), 0)  # it keeps its times

    def test_hooks_run_beside_the_clock(self):
        add = "echo {0} >> log"
        self.time("echo run >> log", "-p", add.format("prepare"), "-C", add.format("conclude"), "-s", add.format("setup"),
                  "-c", add.format("cleanup"), "--check", add.format("check"), "-w", "1", "-r", "2", *CALM)  # fmt: skip
        attempt = ["setup", "prepare", "run", "conclude", "prepare", "run", "check", "conclude", "cleanup"]
        self.assertEqual(self.lines("log"), 2 * attempt)
        for row in self.rows():
            self.assertEqual(len(row["samples"]["steady_s"]), 1)

    def test_a_hook_takes_no_time_of_the_run(self):
        self.time("-N", "true", "-p", "sleep 0.3", "-r", "1", *CALM)
        row = self.rows()[0]
        self.assertEqual(row["status"], "ok", row["failure"])
        self.assertGreaterEqual(row["provenance"]["phases_s"]["runs"] - row["samples"]["steady_s"][0], 0.3)

    def test_one_hook_for_each_command(self):
        self.time("true", "false || true", "-p", "echo a >> log", "-p", "echo b >> log", *ONCE)
        self.assertEqual(sorted(self.lines("log")), ["a", "b"])

    def test_hooks_that_fail_are_named_and_cleanup_still_runs(self):
        for option in ("prepare", "conclude", "setup", "cleanup"):
            result = self.time("true", f"--{option}", "echo why >&2; exit 2", *ONCE, "--out", f"{option}.jsonl", status=1)
            self.assertIn(f"{option}: exit status 2: why", result.stderr.splitlines()[-1])
            self.assertEqual(self.rows(f"{option}.jsonl")[0]["failure"]["code"], f"{option}_failed")
        self.time("exit 1", "-c", "touch cleaned", *ONCE, "--out", "c.jsonl", status=1)
        self.assertTrue(os.path.exists(self.path("cleaned")))

    def test_what_a_setup_starts_lives_as_long_as_the_attempt(self):
        self.time('kill -0 "$(cat pid)"', "-s", "sleep 1000 & echo $! > pid", *ONCE)
        pid = int(self.read("pid"))
        self.wait_for(lambda: not is_alive(pid))

    def test_input_and_output(self):
        self.write("in", "one two\n")
        self.time("cat", "--input", "in", "--output", "copy", *ONCE)
        self.assertEqual(self.read("copy"), b"one two\n")
        self.time("[ -p /dev/stdout ] && head -c 1000000 /dev/zero", "--output", "pipe", *ONCE, "--out", "b.jsonl")
        self.time("if read line; then exit 1; fi; if (: < /dev/tty) 2> /dev/null; then exit 2; fi", *ONCE, "--out", "c.jsonl")
        result = self.time("rm in", "--input", "in", "-r", "2", *CALM, "--out", "d.jsonl", status=1)
        self.assertIn("cannot be started: input 'in'", result.stderr)

    def test_runs_where_it_was_typed(self):
        self.time("pwd -P > where", *ONCE)
        self.assertEqual(self.read("where").decode().strip(), os.path.realpath(self.folder))
        script = self.write("prog", "#!/bin/sh\nprintf '%s|' \"$@\" > words\n")
        os.chmod(script, 0o755)
        self.time("-N", "./prog 'a b' \"c\\\"d\" e\\ f {print} ''", *ONCE)
        self.assertEqual(self.read("words"), b'a b|c"d|e f|{print}||')

    def test_braces_that_are_no_parameters_stay(self):
        self.time("echo a b | awk '{print $2}' > got; n=5; echo ${n} {seed} {x} >> got", *ONCE)
        self.assertEqual(self.lines("got"), ["b", "5 {seed} {x}"])

    def test_case_files_lie_beside_the_journal(self):
        os.mkdir(self.path("a"))
        self.time("true", *ONCE, "--out", "a/j.jsonl")
        self.time("true", *ONCE, "--out", "b")
        self.assertEqual(len(glob.glob(self.path("a/cases/*.toml"))), 1)
        self.assertEqual(len(glob.glob(self.path("b/cases/*.toml"))), 1)
        self.assertEqual(glob.glob(self.path("results")), [])

    def test_nothing_survives(self):
        self.time("setsid sleep 1000 & echo $! > pid; sh -c 'trap \"\" TERM HUP; sleep 1000 & echo $! > deep' & wait $!",
                  *ONCE)  # fmt: skip
        for name in ("pid", "deep"):
            pid = int(self.read(name))
            self.wait_for(lambda: not is_alive(pid))

    def test_interrupted_keeps_what_is_complete(self):
        environment = {**os.environ, **ALONE, "ASSAY_LOCK_DIR": self.folder}
        command = "if [ -e stop ]; then trap '' TERM INT HUP; echo $$ > pid; sleep 1000; fi"
        process = subprocess.Popen([ASSAY, "time", "true", command, *CALM, "--steady", "1ms", "--rounds", "4", "--out", "j.jsonl"],
                                   cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.wait_for(lambda: len(self.lines("j.jsonl")) >= 2)
        self.write("stop", "")
        self.wait_for(lambda: self.lines("pid") != [])
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("assay run --resume j.jsonl", errors)
        pid = int(self.read("pid"))
        self.wait_for(lambda: not is_alive(pid))
        os.remove(self.path("stop"))
        self.run_ok("run", "--resume", "j.jsonl", "--quiet")
        done = [r for r in self.rows("j.jsonl") if r["status"] == "ok"]
        self.assertEqual(len(done), 8)

    def test_a_launcher_that_dies_is_a_row(self):
        result = self.time("kill -9 $PPID; sleep 1000", *ONCE, status=1)
        self.assertIn("assay-launch", result.stderr)
        self.assertEqual(self.rows()[0]["failure"]["code"], "launcher_gone")

    def test_values_of_one_command_are_compared(self):
        results = self.exported("-P", "x", "0.3", "0.7", "-D", "0.2", "test {x} != {n}", "-L", "n", "1,2", *ONCE)
        self.assertEqual([r["command"] for r in results][:3], ["test 0.3 != 1", "test 0.3 != 2", "test 0.5 != 1"])
        self.assertEqual(results[3]["parameters"], {"x": "0.5", "n": "2"})
        self.assertEqual(len({r["provider"] for r in self.rows()}), 6)
        self.assertEqual({json.dumps(r["point"]) for r in self.rows()}, {"{}"})
        labelled = self.exported("-P", "x", "-1", "1", "test {x}", "-n", "at {x}", *ONCE, "--out", "b.jsonl")
        self.assertEqual([r["command"] for r in labelled], ["at -1", "at 0", "at 1"])

    def test_several_commands_are_compared_at_each_value(self):
        results = self.exported("-P", "x", "1", "2", "test {x} -gt 0", "test 0 -lt {x}", "-p", "echo {x} >> log", *ONCE)
        self.assertEqual([(r["command"], r["parameters"]["x"]) for r in results],
                         [("test {x} -gt 0", "1"), ("test 0 -lt {x}", "1"), ("test {x} -gt 0", "2"), ("test 0 -lt {x}", "2")])  # fmt: skip
        self.assertEqual(sorted(r["point"]["x"] for r in self.rows()), [1, 1, 2, 2])
        self.assertEqual(sorted(self.lines("log")), ["1", "1", "2", "2"])
        listed = self.exported("-L", "w", "a,b", "test {w} != c", "test c != {w}", "-N", *ONCE, "--out", "b.jsonl")
        self.assertEqual([r["parameters"]["w"] for r in listed], ["a", "a", "b", "b"])

    def test_names_are_made_fit_and_kept_apart(self):
        long = "true " + "x" * 100
        names = ("true", "true", long, long + "y", "true ∑ # ü", "test -n x", "true;")
        self.time(*names, *ONCE)
        providers = [r["provider"] for r in self.rows()]
        self.assertEqual(len(set(providers)), len(names))
        for provider in providers:
            self.assertLessEqual(len(provider), 32)
        texts = {r["provenance"]["versions"]["command"] for r in self.rows()}
        self.assertEqual(texts, set(names))  # in full

    def test_the_baseline_is_who_is_said(self):
        said = self.time("true", "test 1", "-n", "a", "-n", "b b", "--baseline", "b b", *ONCE, "--json").stdout
        self.assertEqual({r["baseline"] for r in json.loads(said)["results"]}, {"b-b"})

    def test_exports_are_hyperfines(self):
        results = self.exported("true", "sleep 0.01", "-n", "first", "-r", "3", *CALM, "--export-markdown", "out.md")
        self.assertEqual(list(results[0]), ["command", "mean", "stddev", "median", "user", "system", "min", "max", "times", "exit_codes"])
        self.assertEqual([r["command"] for r in results], ["first", "sleep 0.01"])
        for r in results:
            self.assertEqual((len(r["times"]), r["exit_codes"]), (3, [0, 0, 0]))
            self.assertEqual(r["median"], sorted(r["times"])[1])
            self.assertAlmostEqual(r["mean"], sum(r["times"]) / 3, 12)
        lines = self.lines("out.md")
        self.assertTrue(lines[0].startswith("| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |"), lines[0])
        self.assertEqual([line.count("|") for line in lines], 4 * [7])
        # What we write, we read: every run is there.
        self.run_ok("import", "out.json", "--out", "back.jsonl")
        back = self.rows("back.jsonl")
        self.assertEqual(sorted(t for r in back for t in r["samples"]["steady_s"]), sorted(t for r in results for t in r["times"]))
        printed = self.time("true", *ONCE, "--export-json", "-", "--out", "c.jsonl")
        self.assertEqual(len(json.loads(printed.stdout)["results"]), 1)
        self.assertIn("true", printed.stderr)  # the table

    def test_one_run_has_no_deviation(self):
        self.assertIsNone(self.exported("true", *ONCE)[0]["stddev"])

    def test_how_many_runs(self):
        for number, (expected, *options) in enumerate((
            ((7, 7), "--runs", "7"), ((10, 50), "--runs", "50"), ((12, 12), "--min-runs", "12", "--steady", "0s"),
            ((3, 3), "--max-runs", "3"), ((10, 10), "--max-runs", "20"),
        )):  # fmt: skip
            self.time("-N", "true", *options, *CALM, "--out", f"{number}.jsonl")
            rows = self.rows(f"{number}.jsonl")
            self.assertEqual((len(rows), sum(len(r["samples"]["steady_s"]) for r in rows)), expected, options)
        self.time("-N", "true", "--max-runs", "60", *CALM, "--out", "m.jsonl")
        self.assertLessEqual(sum(len(r["samples"]["steady_s"]) for r in self.rows("m.jsonl")), 60)

    def test_without_a_shell_there_is_no_shell_time(self):
        self.time("-N", "true", *ONCE)
        row = self.rows()[0]
        self.assertNotIn("shell_time", row["metrics"])
        self.assertIn("true", row["provenance"]["versions"])
        self.time("true", "--shell", "bash --norc", *ONCE, "--out", "b.jsonl")
        self.assertIn("bash", self.rows("b.jsonl")[0]["provenance"]["versions"])
        result = self.time("true", "--shell", "false", *ONCE, "--out", "c.jsonl", status=1)
        self.assertIn("shell 'false' with nothing to do: exit status 1", result.stderr)

    def test_memory_is_the_commands_own(self):
        self.time("-N", "true", "python3 -c 'x = b\"1\" * (100 << 20)'", *ONCE)
        by = {r["provider"]: r["metrics"]["peak_rss_steady"] for r in self.rows()}
        self.assertLess(by["true"], 8e6)
        self.assertGreater([v for k, v in by.items() if k != "true"][0], 100 << 20)

    def test_the_environment_is_the_users(self):
        self.time("test $OMP_NUM_THREADS = 37 && test $OTHER = x", *ONCE, environment={"OMP_NUM_THREADS": "37", "OTHER": "x"})

    def test_options_of_a_command_in_a_case_file(self):
        good = 'case = "c"\n[providers.a]\ncommand = "true"\n'
        self.write("c.toml", good)
        self.run_ok("run", "c.toml", "--rounds", "1", *CALM)
        # Hooks beside a command with tensors take none of its time either, and nobody calls that a lie.
        tensors = 'case = "d"\noracle = "none"\n[inputs.x]\nshape = [4]\ndtype = "f32"\n[outputs.y]\nshape = [4]\ndtype = "f32"\n'
        self.write("d.toml", tensors + '[providers.a]\ncommand = "cp {x} {y}"\nprepare = "sleep 0.1"\n')
        self.run_ok("run", "d.toml", "--rounds", "1", "--batches", "5", "--steady", "1ms", *CALM, "--out", "d.jsonl")
        row = self.rows("d.jsonl")[0]
        self.assertEqual((row["status"], row["samples"]["batch_calls"] >= 1), ("ok", True), row["failure"])
        for piece, says in (
            ('command = "true"\nshell = "none"', "a command is a list of words"),
            ('command = ["true"]\nshell = "sh"', "a list of words is run without one"),
            ('command = ""', "expected 1 to 65536 bytes"),
            ('command = 3', "expected an array of strings"),
            ('command = "true"\nwarm_up = -1', "expected 0 to 10000"),
            ('command = "true"\nignore_failure = 1', "ignore_failure"),
            ('command = "true"\nsynchronise = "a.b"', "unknown key"),
            ('command = "true"\n[providers.b]\ncommand = "true"\ncheck = "x"', "all commands have a check or none"),
            ('command = "true"\n[oracle]\npython = "f.py:f"', "there are no [outputs]"),
            ('command = "true"\n[providers.b]\nlibrary = "./x.so"', "provider 'b' is no command"),
        ):  # fmt: skip
            self.write("c.toml", good.replace('command = "true"', piece))
            result = self.assay("run", "c.toml")
            self.assertEqual(result.returncode, 2, (piece, result.stderr))
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(says, result.stderr)


if __name__ == "__main__":
    main()
