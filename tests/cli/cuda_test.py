# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Platform cuda on a machine without a GPU: said once, never a fallback, and no CUDA library in sight."""

import json
import os
import subprocess

from assay_cli import ASSAY, CliTest, main

# Whatever this machine has, these tests see no GPU.
NO_GPU = {"ASSAY_NVML": "/nonexistent/libnvidia-ml.so"}


class Cuda(CliTest):
    def cuda_rows(self, *arguments):
        result = self.assay(
            "run", "semiring_matmul", "--platforms", "cuda", "--points", '[{"n":16},{"n":8}]',
            "--rounds", "2", "--out", "rows.jsonl", *arguments, environment=NO_GPU,
        )  # fmt: skip
        self.assertEqual(result.returncode, 3, result.stderr)  # nothing at all was measured
        return result, [json.loads(line) for line in self.read("rows.jsonl").splitlines()]

    def test_without_a_device_each_provider_says_so_once(self):
        result, rows = self.cuda_rows("--providers", "assay,torch,jax,triton")
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertEqual((row["status"], row["failure"]["code"]), ("skipped", "no_device"))
            self.assertEqual(row["platform"], "cuda")
            self.assertEqual(row["metrics"].get("steady_time"), None)
        for provider in ("assay", "torch", "jax", "triton"):
            self.assertRegex(result.stdout, rf"{provider} .*skipped: no_device")

    def test_beside_what_was_measured_it_is_one_line(self):
        result = self.run_ok(
            "run", "semiring_matmul", "--platforms", "cpu,cuda", "--points", '[{"n":16,"algebra":"real"}]',
            "--providers", "reference,assay,triton", "--rounds", "1", "--steady", "1ms", "--max-steal", "100%",
            "--max-foreign", "100%", "--out", "rows.jsonl", environment=NO_GPU,
        )  # fmt: skip
        absent = [line for line in result.stdout.splitlines() if "no NVIDIA GPU" in line]
        self.assertEqual(absent, ["left out: assay, triton (this machine has no NVIDIA GPU)"])

    def test_a_plain_run_is_on_the_cpu(self):
        self.run_ok(*self.SMALL, "--out", "rows.jsonl", environment=NO_GPU)
        platforms = {json.loads(line)["platform"] for line in self.read("rows.jsonl").splitlines()}
        self.assertEqual(platforms, {"cpu"})

    def test_the_list_says_that_there_is_no_gpu(self):
        cases = json.loads(self.run_ok("list", "dense_matmul", "--json", environment=NO_GPU).stdout)
        on_gpu = [p for p in cases[0]["providers"] if p["platform"] == "cuda"]
        self.assertIn("assay", {p["id"] for p in on_gpu})
        for provider in on_gpu:
            self.assertFalse(provider["available"])
            self.assertIn("no NVIDIA GPU", provider["reason"])

    def test_a_contraction_takes_the_faster_place_that_is_here(self):
        none = dict(NO_GPU, CUDA_VISIBLE_DEVICES="")
        words = ("einsum", "ij,jk->ik", "--shapes", "8x8,8x8", "--device")
        explained = self.run_ok(*words, "auto", "--explain", environment=none).stdout
        self.assertRegex(explained, "device: not chosen, (no NVIDIA GPU here|this build has no CUDA)")
        self.run_ok(*words, "auto", "--out", "c.npy", environment=none)
        json.loads(self.run_ok(*words, "auto", "--json", environment=none).stdout)["device"]["why"]
        refused = self.assay(*words, "cuda", environment=none)
        self.assertEqual(refused.returncode, 5, refused.stderr)
        self.assertRegex(refused.stderr, r"no NVIDIA GPU here \(no_device\): |this build has no assay-einsum-cuda")

    def test_a_run_with_swept_caches_can_be_asked_for_again(self):
        self.cuda_rows("--providers", "assay", "--flush-l2")
        report = self.run_ok("report", "rows.jsonl", environment=NO_GPU).stdout
        self.assertIn("--flush-l2", report)

    def test_programs_for_the_cpu_link_no_cuda(self):
        folder = os.path.dirname(ASSAY)
        for name in ("assay", "assay-worker", "assay-transport"):
            linked = subprocess.run(
                ["ldd", os.path.join(folder, name)], capture_output=True, text=True, check=True
            ).stdout
            for library in ("libcuda", "libcudart", "libcublas", "libnvidia"):
                self.assertNotIn(library, linked)

    def test_the_worker_for_the_gpu_says_why_it_cannot(self):
        worker = os.path.join(os.path.dirname(ASSAY), "assay-worker-cuda")
        if not os.path.exists(worker):
            self.skipTest("built where nvcc is found")
        hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        smoke = subprocess.run([worker, "--smoke"], env=hidden, capture_output=True, text=True)
        self.assertEqual(smoke.returncode, 1)
        self.assertTrue(smoke.stderr.strip())
        point = {"algebra": "real", "dtype": "f32", "n": 8, "regime": "unit", "seed": 0}
        settings = {"warm_up_calls": 1, "batches": 5, "steady_s": 0.0, "batch_min_s": 0.0, "batch_min_ticks": 1}
        spec = {
            "protocol": 1, "case": "semiring_matmul", "provider": "assay", "platform": "cuda", "cores": 1,
            "cpus": [], "points": [point], "deterministic": False, "settings": settings, "directory": self.folder,
        }  # fmt: skip
        self.write("spec.json", json.dumps(spec))
        subprocess.run([worker, self.path("spec.json")], env=hidden, check=True)
        report = json.loads(self.read("report-0.json"))
        self.assertEqual((report["status"], report["code"]), ("skipped", "no_device"))


main()
