# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Random pairs against NumPy: einsum_pairs.py PROGRAM [--count 200] [--seed 1] [--rounds 7] [--most 1.5]

Contracts random pairs of tensors by PROGRAM (bench/einsum_pairs.cc) and by numpy.einsum with and without
optimize, on one thread, results C-contiguous, the fastest of interleaved rounds of each. Prints those that
are slower than NumPy, the quantiles of the ratio, and how often predictions were kept; exits with 1 where
a ratio is above --most.
"""

import argparse
import os
import subprocess
import sys
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np  # noqa: E402


def random_pair(random):
    """Labels of four groups in random orders; tensors of up to 2^21 elements, 2^26 products."""
    while True:
        count = random.integers(2, 7)
        labels = [chr(ord("a") + i) for i in range(count)]
        extents = {label: int(random.choice([2, 3, 4, 5, 8, 12, 16, 24, 32, 50, 64, 100])) for label in labels}
        groups = {label: random.choice(["batch", "m", "n", "k"]) for label in labels}
        terms = [
            [label for label in labels if groups[label] in ("batch", own, "k")] for own in ("m", "n")
        ]
        output = [label for label in labels if groups[label] != "k"]
        for term in (*terms, output):
            random.shuffle(term)
        size = lambda term: int(np.prod([extents[label] for label in term], dtype=np.int64))  # noqa: E731
        if not all(terms) or size(labels) > 2**26 or max(map(size, (*terms, output))) > 2**21:
            continue
        if size(labels) < 2**10:
            continue
        text = f"{''.join(terms[0])},{''.join(terms[1])}->{''.join(output)}"
        return text, [[extents[label] for label in term] for term in terms]


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("the program ended")
        return answer.split()


def fastest(call, count):
    best = float("inf")
    for _ in range(count):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most", type=float, default=1.5)
    options = parser.parse_args()
    random, ours = np.random.default_rng(options.seed), Ours(options.program)
    ratios, off = [], []
    for _ in range(options.count):
        text, shapes = random_pair(random)
        dtype = str(random.choice(["f32", "f64"]))
        operands = [np.random.rand(*shape).astype({"f32": "f4", "f64": "f8"}[dtype]) for shape in shapes]
        spelled = ",".join("x".join(map(str, shape)) for shape in shapes)
        kernel, predicted = ours.ask(f"plan {text} {spelled} {dtype}")
        calls = [
            lambda: np.ascontiguousarray(np.einsum(text, *operands, optimize=True)),
            lambda: np.ascontiguousarray(np.einsum(text, *operands, optimize=False)),
        ]
        one = min(fastest(call, 1) for call in calls)
        count = max(1, min(20, int(2e-3 / max(one, 1e-6))))
        mine, theirs = float("inf"), float("inf")
        for _ in range(options.rounds):
            mine = min(mine, float(ours.ask(f"time {count}")[0]))
            for call in calls:
                if theirs == float("inf") or one < 0.05:
                    theirs = min(theirs, fastest(call, count))
        ratios.append(mine / theirs)
        off.append(mine / float(predicted))
        if ratios[-1] > 1:
            print(f"{ratios[-1]:6.2f}  {text} {spelled} {dtype} {kernel}  ours {mine * 1e6:.1f} us, "
                  f"numpy {theirs * 1e6:.1f} us, predicted {float(predicted) * 1e6:.1f} us", flush=True)
    for name, values in (("ours/numpy", ratios), ("ours/predicted", off)):
        quantiles = np.quantile(values, [0, 0.1, 0.5, 0.9, 1])
        print(name, " ".join(f"{q:.2f}" for q in quantiles), "(least, 10 %, median, 90 %, most)")
    over = sum(ratio > options.most for ratio in ratios)
    print(f"{over} of {len(ratios)} above {options.most}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
