# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay transport` loses nothing: kills, interruptions, foreign files, full disks, too little memory."""

import json
import os
import resource
import signal
import subprocess
import time

import numpy as np

from assay_cli import ASSAY, CliTest, main

SCAN = """
[surface]
type = "sample_dkes"
[grid]
n_theta = 9
n_zeta = {n_zeta}
n_xi = {n_xi}
[case]
nu_hat = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2]
er_hat = [-1e-3, 0, 1e-3, 2e-3]
"""
# Cases of some tenths of a second.
SLOW = SCAN.format(n_zeta=31, n_xi=100)
QUICK = SCAN.format(n_zeta=9, n_xi=6)
# One case of several minutes.
LONG = """
[surface]
type = "w7x_eim_sample"
[grid]
n_theta = 45
n_zeta = 75
n_xi = 200
[case]
nu_hat = 1e-3
er_hat = 1e-3
"""


class Kept(CliTest):
    def start(self, *arguments):
        process = subprocess.Popen(
            [ASSAY, "transport", *arguments], cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def lines(self, name):
        """Whole lines of a journal, its first one left out."""
        if not os.path.exists(self.path(name)):
            return 0
        return max(0, self.read(name).count(b"\n") - 1)

    def wait_for(self, process, condition):
        while process.poll() is None and not condition():
            time.sleep(0.005)
        self.assertIsNone(process.poll(), "the program was too fast for this test")

    def arrays(self, name):
        arrays = np.load(self.path(name))
        return {key: arrays[key] for key in ("D11", "D31", "D13", "D33", "residual")}

    def refused(self, *arguments, says, status=2):
        result = self.assay("transport", *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(says, result.stderr)
        return result

    def test_a_kill_costs_the_cases_in_flight_whatever_the_batch(self):
        source = self.write("scan.toml", SLOW)
        kept = 0
        for _ in range(3):
            scan = self.start("scan", source, "--output", "killed.npz", "--threads", "2")
            self.wait_for(scan, lambda: self.lines("killed.npz.journal") >= kept + 2)
            scan.kill()
            scan.wait()
            found = self.lines("killed.npz.journal")
            self.assertGreaterEqual(found, kept + 2)
            kept = found
        resumed = self.run_ok("transport", "scan", source, "--output", "killed.npz")
        self.assertIn(f"{kept} resumed", resumed.stderr)
        self.run_ok("transport", "scan", source, "--output", "whole.npz", "--threads", "1")
        whole = self.arrays("whole.npz")
        for key, value in self.arrays("killed.npz").items():
            np.testing.assert_array_equal(value, whole[key], err_msg=key)

    def test_progress_is_told_as_cases_finish(self):
        scan = self.start("scan", self.write("scan.toml", SLOW), "--threads", "1", "--batch", "32")
        self.assertRegex(scan.stderr.readline(), r"^1 of 18 cases")

    def test_an_interruption_ends_in_the_middle_of_a_case(self):
        source = self.write("long.toml", LONG)
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            for arguments in ((source,), ("converge", source, "--max-points", "4000")):
                process = self.start(*arguments)
                time.sleep(2)  # reading is done, solving is not
                self.assertIsNone(process.poll())
                process.send_signal(signal_number)
                _, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130)
                self.assertEqual(errors, "interrupted\n")
        scan = self.start("scan", self.write("scan.toml", SLOW), "--output", "s.npz")
        self.wait_for(scan, lambda: self.lines("s.npz.journal") >= 1)
        scan.send_signal(signal.SIGINT)
        _, errors = scan.communicate(timeout=60)
        self.assertEqual(scan.returncode, 130)
        self.assertIn("the same command goes on from here", errors)
        self.assertGreaterEqual(self.lines("s.npz.journal"), 1)

    def test_a_file_that_is_no_journal_is_not_touched(self):
        source = self.write("scan.toml", QUICK)
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        for content in ("no newline", "", "a line\n", "a line\nand more", "\n", "0" * 8 + " {}\n"):
            self.write("notes.txt", content)
            self.refused("scan", source, "--journal", "notes.txt", says="not a scan's journal")
            self.assertEqual(self.read("notes.txt").decode(), content)
        self.refused("scan", source, "--journal", "folder", says="folder")
        self.refused("scan", source, "--journal", "fifo", says="regular file")

    def test_a_journal_of_another_scan_says_what_differs(self):
        source = self.write("scan.toml", QUICK)
        self.run_ok("transport", "scan", source, "--journal", "j")
        before = self.read("j")

        def other(text, says):
            changed = self.write("other.toml", text)
            result = self.refused("scan", changed, "--journal", "j", says=says)
            self.assertIn("remove it, or name another", result.stderr)
            self.assertEqual(self.read("j"), before)

        other(QUICK + "[solver]\nadjoint_consistent = true\n", "adjoint_consistent false there, true here")
        other(QUICK + '[solver]\nmethod = "dense"\n', 'method "auto" there, "dense" here')
        other(QUICK.replace("n_xi = 6", "n_xi = 7"), "n_xi 6 there, 7 here")
        other(QUICK.replace("3e-2", "4e-2"), "cases")
        other(QUICK.replace("sample_dkes", "example"), "fields on the grid")
        again = self.run_ok("transport", "scan", source, "--journal", "j")
        self.assertIn("18 resumed", again.stderr)

    def test_a_limit_of_file_sizes_is_an_error_like_any_other(self):
        source = self.write("scan.toml", QUICK)

        def limit():  # as `ulimit -f` leaves it: the signal is not ignored
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

        for out in ("s.h5", "s.nc", "s.npz"):
            result = self.assay("transport", "scan", source, "--output", out, preexec_fn=limit)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("File too large", result.stderr)
            self.assertFalse(os.path.exists(self.path(out)))

    def test_too_little_memory_is_said_before_any_work(self):
        big = LONG.replace("n_theta = 45", "n_theta = 181").replace("n_zeta = 75", "n_zeta = 181")
        source = self.write("big.toml", big)

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        result = self.assay("transport", source, preexec_fn=limit)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, r"181x181x200 needs 5\S* GiB .* 1 thread .*5\S* GiB .*available")
        # Threads that were not asked for are as many as fit; those that were are refused.
        few = self.write("few.toml", QUICK.replace("n_theta = 9", "n_theta = 41"))
        fitting = self.assay(
            "transport", "scan", few, "--threads", "4000", "--json", preexec_fn=limit
        )
        self.assertEqual(fitting.returncode, 0, fitting.stderr)  # no more lanes than cases

    def test_flags_that_an_action_ignores_are_refused(self):
        source = self.write("long.toml", LONG)
        self.refused("--threads", "0", "converge", source, says="--threads")
        self.refused("--batch", "-5", "converge", source, says="--batch")
        self.refused("converge", source, "--threads", "2", says="--threads")
        self.refused("--verbose", "inspect", source, says="--verbose")
        self.refused("--method", "dense", "inspect", source, says="--method")
        database = ("database", "--wout", "x", "--rho", "0.5", "--nu", "1", "--er", "0", "--output", "d.h5")
        self.refused("--plot", *database, says="--plot")
        self.refused("--verbose", *database, says="--verbose")
        self.refused(*database, "--verbose", says="--verbose")

    def test_ranks_converge_once(self):
        environment = dict(
            os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"
        )
        run = subprocess.run(
            ["mpirun", "-n", "2", "--oversubscribe", ASSAY, "transport", "converge", "tokamak", "--nu", "1e-1"],
            capture_output=True, text=True, env=environment, timeout=540,
        )  # fmt: skip
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.count("converged:"), 1)

    def test_outputs_say_where_they_come_from(self):
        source = self.write("scan.toml", QUICK)
        answer = json.loads(self.run_ok("transport", source, "--output", "s.npz", "--json").stdout)
        arrays = np.load(self.path("s.npz"))
        for texts in (
            answer["provenance"],
            {key: arrays[key].tobytes().decode() for key in answer["provenance"]},
        ):
            self.assertRegex(texts["program"], r"^assay \d.* \(commit ")
            self.assertRegex(texts["created"], r"^20\d\d-\d\d-\d\dT")
            self.assertRegex(texts["input_files_sha256"], r"^[0-9a-f]{64}  .*scan.toml$")


if __name__ == "__main__":
    main()
