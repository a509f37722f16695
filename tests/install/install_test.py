# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a folder of its own, and uses the libraries as a stranger would: the programs of
examples/libraries are copied away, configured and built against the installation alone, and run."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, CMAKE = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)

# What each example must print, in this order. Numbers that a library computes are exact here or known from
# elsewhere: 3 + 2 + 1 + 2 hours; the softmax of −8 and −9; 1/(1 + j)·1/(1 + j + k)·1/(1 + k) summed.
EXPECTED = {
    "shortest_paths": [r"from town 0 to town 4: 8 hours", r"roads: 8 and 5 hours", r"over 1: 73\.1 %", r"over 2: 26\.9 %"],
    "contraction": [r"ij,jk,kl->il", r"first element: %s" % re.escape("%.6f" % sum(
        1 / ((1 + j) * (1 + j + k) * (1 + k)) for j in range(10) for k in range(200))),
        r"2 results, 1 shared, 1 contractions saved"],
    "flux_surface": [r"1e-03", r"1e\+00", r"L33", r"dD11/dnu at 1e-2: (\S+), by a difference \1", r"energy integral"],
    "chip_times": [r"matmul  256\^3", r"matmul 1024\^3", r"4096 bytes, ring .* sums right",
                   r"4194304 bytes, recursive_doubling.* sums right"],
    "rewriting": [r"saturated", r"\(/ \(\* x 2\) 2\) = x", r"3 steps, each by its rule"],
    "compiled_graph": [r"matmul", r"; verified", r"0\.2119 0\.2119 0\.5761"],
}


def run(*command, check=True):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


class Installation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="assay-install-")
        root = pathlib.Path(cls.folder.name)
        cls.root, cls.prefix = root, root / "prefix"
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def configure(self, source, *options, check=True):
        build = source.with_name(source.name + "-build")
        return build, run(CMAKE, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                          "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options, check=check)

    def test_examples_build_and_say_what_is_right(self):
        source = self.root / "examples"
        shutil.copytree(SOURCE / "examples/libraries", source)
        build, _ = self.configure(source)
        commands = (build / "compile_commands.json").read_text()
        self.assertNotIn(str(SOURCE), commands)
        run(CMAKE, "--build", build, "-j", "2")
        self.assertEqual({pathlib.Path(entry["file"]).stem for entry in json.loads(commands)}, set(EXPECTED))
        for program, lines in EXPECTED.items():
            with self.subTest(program=program):
                out = run(build / program).stdout
                self.assertRegex(out, re.compile(".*".join(lines), re.S))

    def consumer(self, name, component):
        source = self.root / name
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES CXX)\n"
            f"find_package(assay CONFIG REQUIRED COMPONENTS {component})\n")
        return source

    def test_the_chip_and_the_egraph_need_neither_highway_nor_openmp(self):
        without = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("hwy", "OpenMP", "Threads")]
        self.configure(self.consumer("chip_only", "chip"), *without)
        self.configure(self.consumer("egraph_only", "egraph"), *without)
        _, done = self.configure(self.consumer("einsum_only", "einsum"), *without, check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_an_unknown_component_is_named(self):
        _, done = self.configure(self.consumer("unknown", "warp"), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no component 'warp'", done.stderr)

    def test_the_program_runs_from_there(self):
        done = run(self.prefix / "bin/assay", "list", "dense_matmul")
        self.assertIn("dense_matmul", done.stdout)


unittest.main()
