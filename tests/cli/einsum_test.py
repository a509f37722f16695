# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay einsum as a user types it, held to NumPy."""

import json
import os

import numpy as np

from assay_cli import CliTest, full_disk, main


class Einsum(CliTest):
    def einsum(self, *arguments, environment=None, **options):
        cache = {"XDG_CACHE_HOME": self.folder, **(environment or {})}
        return self.assay("einsum", *arguments, environment=cache, **options)

    def ok(self, *arguments, **options):
        result = self.einsum(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, *arguments, says, status=2, **options):
        result = self.einsum(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(says.lower(), result.stderr.lower())

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def test_files_in_and_out(self):
        rng = np.random.default_rng(0)
        a, b = rng.standard_normal((5, 7)), np.asfortranarray(rng.standard_normal((7, 4)))
        files = self.save("a.npy", a), self.save("b.npy", b)
        self.ok("ij,jk->ki", "--operands", *files, "--out", self.path("c.npy"))
        np.testing.assert_allclose(np.load(self.path("c.npy")), (a @ b).T, rtol=1e-13)

    def test_explain_as_json(self):
        plan = json.loads(
            self.ok("bij,bjk->bik", "--shapes", "4x8x8,4x8x8", "--explain", "--analyze", "--json")
        )
        self.assertEqual(plan["mac"], 4 * 8**3)
        self.assertEqual(plan["flop"], 2 * plan["mac"])
        self.assertEqual(plan["steps"][0]["kernel"], plan["steps"][0]["measured_kernel"])
        for key in ("expression", "backend", "peak_bytes", "objective", "optimal"):
            self.assertIn(key, plan)

    def test_objectives_memory_and_backends(self):
        thc = ("iP,sP,PQ,jQ,tQ,ti,sj->", "--shapes",
               "300x2000,50x2000,2000x2000,300x2000,50x2000,50x300,50x300")  # fmt: skip
        plan = json.loads(self.ok(*thc, "--explain", "--json", "--objective", "mac"))
        self.assertEqual(plan["mac"], 464015000)
        self.refused(*thc, "--memory", "1MiB", says="operands and result alone take")
        self.refused(*thc, "--objective", "speed", says="'speed'")
        self.refused(*thc, "--backend", "cuda", says="cuda", status=5)
        self.refused(*thc, says="cuda", status=5, environment={"ASSAY_EINSUM_BACKEND": "cuda"})

    def test_what_cannot_be_understood(self):
        self.refused(says="an expression or a subcommand")
        self.refused("ij,jk->ik", says="--shapes or by --operands")
        self.refused("ij,jk->ik", "--shapes", "3x4,5x6", says="label 'j' has extent 4 on axis 1 of operand 0")
        self.refused("i", "--shapes", "3xx4", says="'3xx4'")
        self.refused("i", "--operands", "none.npy", says="none.npy")
        self.refused("i", "--shapes", "3", "--calibration", "none.json", says="none.json")
        self.refused("cp", self.save("x.npy", np.ones((2, 2))), says="--rank")
        self.refused("mp2", says="one of --b, --synthetic and --chain")

    def test_options_that_contradict_or_mean_nothing_are_refused(self):
        tensor, vector = self.save("x.npy", np.ones((3, 3, 3))), self.save("v.npy", np.ones(3))
        for name in ("tucker", "tt"):
            self.refused(name, tensor, "--ranks", "2", "--tolerance", "0.1", says="--ranks excludes --tolerance")
        self.refused("tt", vector, "--ranks", "2", says="a vector has one core and no ranks, got 2")
        self.refused("cp", tensor, "--rank", "1", "--restarts", "-3", says="--restarts is at least 0, not -3")
        self.refused("cp", tensor, "--rank", "1", "--seed", "-1", says="--seed must be an integer from 0")
        self.refused("i", "--shapes", "3", "--seed", "99999999999999999999999", says="--seed must be")
        for option in (("--basis", "6-31g"), ("--spacing", "2")):
            self.refused("mp2", "--synthetic", "2,3,4", *option, says=f"{option[0]} requires --chain")
        self.refused("mp2", "--chain", "2", "--occupied", vector, says="--occupied requires --b")

    def test_another_machines_calibration_is_refused(self):
        part = {"shapes": 1, "fixed_s": 1, "per_call_s": 1, "rate_flop_per_s": 1, "half_m": 1,
                "half_n": 1, "half_k": 1, "exposed": 1, "bandwidth_b_per_s": 1,
                "cache_bandwidth_b_per_s": 1, "cache_bytes": 1, "per_jump_s": 1, "band": 1}  # fmt: skip
        names = ("gemm", "small-gemm", "thin-gemm", "gemv", "loops", "permute", "gett")
        parts = {name: {"f32": part, "f64": part} for name in names}
        file = self.write("c.json", json.dumps({
            "format": 2, "fingerprint": "0" * 16, "blas": "x", "threads": 1, "parts": parts}))  # fmt: skip
        self.refused("i", "--shapes", "3", "--threads", "1", "--calibration", file, says="of another machine")

    def test_decompositions_and_energies(self):
        n = np.arange(8)
        x = 1 / (n[:, None, None] + n[None, :, None] + n[None, None, :] + 1.0)
        file = self.save("x.npy", x)
        tucker = json.loads(self.ok("tucker", file, "--ranks", "2", "--json", "--out", self.path("t")))
        self.assertAlmostEqual(tucker["relative_error"], 3.1196238715e-2, delta=1e-11)
        core, u = np.load(self.path("t.core.npy")), [np.load(self.path(f"t.factor{m}.npy")) for m in range(3)]
        rebuilt = np.einsum("rst,ar,bs,ct->abc", core, *u)
        error = np.linalg.norm(rebuilt - x) / np.linalg.norm(x)
        self.assertAlmostEqual(error, tucker["relative_error"], delta=1e-11)
        train = json.loads(self.ok("tt", file, "--ranks", "2", "--json"))
        self.assertAlmostEqual(train["relative_error"], 2.7986648192e-2, delta=1e-11)
        self.assertGreater(json.loads(self.ok("cp", file, "--rank", "3", "--json"))["fit"], 0.98)
        energy = json.loads(self.ok("mp2", "--synthetic", "5,19,72", "--json"))
        self.assertAlmostEqual(energy["mp2"], -6.817539626584236, delta=1e-11)

    def test_a_product_of_nothing_can_be_given(self):
        self.ok("->", "--shapes", "scalar", "--out", self.path("s.npy"))
        self.assertEqual(np.load(self.path("s.npy")).shape, ())
        self.ok(",->", "--shapes", "scalar,scalar")

    def test_too_little_memory_is_said(self):
        self.refused("ab,bc->ac", "--shapes", "2000000x2000000,2000000x2000000", "--out", self.path("x.npy"),
                     says="memory", status=5)  # fmt: skip

    def test_a_number_that_is_none_is_named(self):
        b = np.full((2, 3, 4), 0.1)
        b[1, 2, 3] = np.nan
        files = {"--b": b, "--occupied": np.array([-1.0, -0.5]), "--virtual": np.array([0.5, 0.6, 0.7])}
        arguments = [word for name, array in files.items() for word in (name, self.save(name + ".npy", array))]
        self.refused("mp2", *arguments, says="B[1, 2, 3] is nan")

    def test_without_a_home_contractions_go_on(self):
        result = self.assay("einsum", "ij,jk->ik", "--shapes", "3x3,3x3", "--json",
                            environment={"HOME": "", "XDG_CACHE_HOME": "", "XDG_STATE_HOME": "",
                                         "ASSAY_MACHINE_DIR": ""})  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["mac"], 27)

    def test_without_its_file_of_orders_contractions_go_on(self):
        os.mkdir(self.path("assay"))
        orders = self.path("assay/einsum-paths")

        def warned(says):
            result = self.einsum("ij,jk,kl->il", "--shapes", "3x3,3x3,3x3", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("orders of contractions are not kept", result.stderr)
            self.assertIn(says, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertEqual(json.loads(result.stdout)["mac"], 54)

        os.mkfifo(orders)
        warned("not a regular file")
        os.remove(orders)
        os.mkdir(orders)
        warned("not a regular file")
        os.rmdir(orders)
        os.symlink("/dev/full", orders)  # what can neither be read nor written
        warned("not a regular file")
        os.remove(orders)

    def test_a_full_folder_of_orders_is_said_once(self):
        result = self.einsum("ij,jk,kl->il", "--shapes", "3x3,3x3,3x3", "--json", **full_disk())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("orders of contractions are not kept", result.stderr)
        self.assertEqual(json.loads(result.stdout)["mac"], 54)

    def test_a_pipe_is_no_operand(self):
        os.mkfifo(self.path("pipe.npy"))
        self.refused("ij->ji", "--operands", self.path("pipe.npy"), says="not a regular file")

    def test_what_is_no_label_is_echoed_as_typed(self):
        self.refused("é,é->", "--shapes", "3,3", says="'é' is no label at character 0 of 'é,é->'")

    def test_every_subcommand_has_examples_of_its_own(self):
        for name in ("calibrate", "cp", "tucker", "tt", "mp2"):
            examples = self.ok(name, "--help").partition("Examples:")[2]
            self.assertTrue(examples, name)
            for line in filter(None, map(str.strip, examples.splitlines())):
                self.assertTrue(line.startswith(f"assay einsum {name}"), line)

    def test_a_budget_is_for_the_search(self):
        ring = [f"{{{i}}}{{{(i + 1) % 30}}}{{{30 + i}}}{{{30 + (i * 7 + 3) % 30}}}" for i in range(30)]
        network = (",".join(ring) + "->", "--shapes", ",".join(["2x2x2x2"] * 30))
        few = ("--objective", "mac", "--tries", "1", "--explain", "--json")
        once = json.loads(self.ok(*network, *few))
        more = json.loads(self.ok(*network, *few, "--budget", "1"))
        self.assertLessEqual(more["mac"], once["mac"])
        self.refused(*network, "--budget", "-1", says="--budget is from 0")


if __name__ == "__main__":
    main()
