#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Our kernels beside OpenBLAS, BLIS, PyTorch and PyG on 1, 4, 8, 16 cores, in the same rounds.

    semiring_cores.py --program build/bench/semiring_cores [--cores 1,4,8,16] [--rounds 3] \
                      [--seconds 0.3] [--openblas FILE] [--blis FILE]

Each contender is a process of its own that lives through all rounds and sleeps while another one is
measured; a pause between two lets threads that still spin come to rest. A figure is the median over
rounds of the median call, and in parentheses of the fastest one. PyTorch and PyG take part where
they can be imported, with the code of the laboratory's own providers.
"""

import argparse
import functools
import os
import statistics
import subprocess
import sys
import time

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")


def edge_point(reduce, n, k, d):
    return {"n": n, "k": k, "d": d, "dtype": "f32", "reduce": reduce, "degrees": "full", "seed": 0}


def serve(peer):
    """A contender in Python: the same lines as semiring_cores.cc answers."""
    sys.path.insert(0, PYTHON)
    import numpy as np

    from assay_worker.edges import make_inputs
    from assay_worker.peer import start_peer

    arrays = functools.lru_cache(1)(lambda *sizes: make_inputs(edge_point("sum", *sizes), 0))
    for line in sys.stdin:
        what, kind, *numbers, threads, seconds = line.split()
        x, y, z = map(int, numbers)
        if what == "matmul":
            framework = start_peer("dense_matmul", peer, int(threads))
            dtype = np.float64 if kind == "f64" else np.float32
            random = np.random.default_rng(1)
            inputs = [framework.take(random.standard_normal(s, dtype)) for s in ((x, y), (y, z))]
            function = framework.matmul({"algebra": "real", "dtype": kind})
        else:
            framework = start_peer("ell_edge_aggregate", peer, int(threads))
            inputs = framework.take_edges(edge_point(kind, x, y, z), *arrays(x, y, z))
            function = framework.edges(edge_point(kind, x, y, z))
        function(*inputs)
        times, start = [], time.perf_counter()
        while len(times) < 2 or time.perf_counter() - start < float(seconds):
            before = time.perf_counter()
            function(*inputs)
            times.append(time.perf_counter() - before)
        print(min(times), statistics.median(times), flush=True)


class Contender:
    def __init__(self, name, command, only=None, **environment):
        self.name, self.only = name, only
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **environment},
        )  # fmt: skip

    def ask(self, line):
        """(fastest, median), or None if it has given up."""
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().split()
        except BrokenPipeError:
            return None
        return tuple(map(float, answer)) if len(answer) == 2 else None


def steal():
    with open("/proc/stat") as stat:
        return int(stat.readline().split()[8])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--serve")
    parser.add_argument("--program", default="build/bench/semiring_cores")
    parser.add_argument("--cores", default="1,4,8,16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--openblas", default="libopenblas.so.0")
    parser.add_argument("--blis", default="libblis.so.4")
    parser.add_argument("--sizes", default="1024,2048,4096")
    parser.add_argument("--edges", default="16384,262144")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if arguments.serve:
        return serve(arguments.serve)
    me = [sys.executable, os.path.abspath(__file__), "--serve"]
    program = arguments.program
    contenders = [
        Contender("ours", [program]),
        Contender("OpenBLAS", [program, arguments.openblas], "matmul", OPENBLAS_CORETYPE="SkylakeX"),
        Contender("BLIS", [program, arguments.blis], "matmul", BLIS_ARCH_TYPE="0"),
        Contender("torch", me + ["torch"]),
        Contender("pyg", me + ["pyg"], "edges"),
    ]
    contenders = [c for c in contenders if not arguments.only or c.name in arguments.only.split(",")]
    cores = [int(c) for c in arguments.cores.split(",")]
    sizes = [int(n) for n in arguments.sizes.split(",") if n]
    questions = [f"matmul {t} {n} {n} {n}" for t in ("f32", "f64") for n in sizes]
    questions += [f"edges {r} {n} 16 64" for n in arguments.edges.split(",") if n for r in ("sum", "max")]
    print(f"{'milliseconds':<28}" + "".join(f"{c.name:>20}" for c in contenders), "  steal", flush=True)
    for question in questions:
        for count in cores:
            answers = {c.name: [] for c in contenders}
            before = steal()
            for _ in range(arguments.rounds):
                for c in contenders:
                    if c.only and not question.startswith(c.only):
                        continue
                    answer = c.ask(f"{question} {count} {arguments.seconds}")
                    if answer:
                        answers[c.name].append(answer)
                    time.sleep(0.03)
            line = f"{question + ' on ' + str(count):<28}"
            for c in contenders:
                got = answers[c.name]
                text = ""
                if got:
                    best = statistics.median(a[0] for a in got) * 1e3
                    typical = statistics.median(a[1] for a in got) * 1e3
                    text = f"{typical:.3f} ({best:.3f})"
                line += f"{text:>20}"
            print(line, f"{steal() - before:>7}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
