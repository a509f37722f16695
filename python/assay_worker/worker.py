# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a spec, measures its points, writes the reports."""

import importlib
import json
import os
import sys

from assay_worker.measure import Phases, measure_attempt
from assay_worker.workload import ProviderFailure

# The module that knows the Python providers of a case: make(case, provider, point, cores) → Workload.
MODULE_OF_CASE = {
    "semiring_matmul": "assay_worker.semiring",
    "dense_matmul": "assay_worker.semiring",
    "ell_edge_aggregate": "assay_worker.edges",
    "transport_solve": "assay_worker.transport",
    "transport_scan": "assay_worker.transport",
    "transport_workflow": "assay_worker.transport",
    "einsum_pair": "assay_worker.einsum",
    "einsum_network": "assay_worker.einsum",
    "einsum_expression": "assay_worker.einsum",
    "decompose_cp": "assay_worker.decompose",
    "decompose_tucker": "assay_worker.decompose",
    "mp2_energy": "assay_worker.mp2",
    "egraph_saturation": "assay_worker.saturation",
    "graph_fusion": "assay_worker.graphs",
    "graph_blocks": "assay_worker.graphs",
    "llm_prefill": "assay_worker.language",
    "llm_prefill_sequential": "assay_worker.language",
    "llm_decode": "assay_worker.language",
}


def check_pinned(cpus):
    if cpus and os.sched_getaffinity(0) != set(cpus):
        raise RuntimeError("the process is not pinned to its core group")


def factory(spec, point):
    def make():
        if spec.get("definition") is not None:  # of a case file, which says all of it
            own = importlib.import_module("assay_worker.own")
            return own.make(spec["definition"], spec["provider"], point)
        name = MODULE_OF_CASE.get(spec["case"])
        if name is None:
            message = f"the Python worker knows no case {spec['case']!r}"
            raise ProviderFailure("failed", "unknown_provider", message)
        module = importlib.import_module(name)
        arguments = spec["case"], spec["provider"], point, spec["cores"]
        if spec["platform"] == "cpu":
            return module.make(*arguments)
        return module.make(*arguments, spec["platform"])

    return make


def write_report(path, report):
    temporary = f"{path}.tmp"
    # Errors may quote names of files that are no UTF-8, of which os.fsdecode makes what no JSON has.
    with open(temporary, "w", encoding="utf-8", errors="replace") as file:
        json.dump(report, file, ensure_ascii=False)
    os.replace(temporary, path)


def main(argv):
    if len(argv) != 2:
        print("usage: python -m assay_worker SPEC", file=sys.stderr)
        return 2
    with open(argv[1]) as file:
        spec = json.load(file)
    if spec["protocol"] != 1:
        print(f"assay_worker: unknown protocol {spec['protocol']}", file=sys.stderr)
        return 1
    check_pinned(spec["cpus"])
    directory = spec["directory"]
    # What frameworks compile and keep goes where the attempt's files go: no attempt finds anything
    # of an earlier one, and nothing stays behind.
    os.environ["TMPDIR"] = directory
    for index, point in enumerate(spec["points"]):
        phases = Phases(os.path.join(directory, "phase"))
        output = os.path.join(directory, f"output-{index}.safetensors")
        report = measure_attempt(
            factory(spec, point), spec["settings"], spec["deterministic"], output, phases
        )
        write_report(os.path.join(directory, f"report-{index}.json"), report)
    return 0
