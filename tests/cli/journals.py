# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Journals whose rows are known, written independently of the program that reads them."""

import hashlib
import json
import math

HOSTILE = [
    "<script>alert(1)</script>", "a\"b'c|d`e&amp;]]>", "\u202egnp.exe", "bell\x07\x1b[2Jnul\x00end",
    "=HYPERLINK(\"http://x\")", "two\nlines\r\nmore\t", "x" * 10_000, "e\u0301\U0001f600\u200b",
]  # fmt: skip


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def line(one):
    text = json.dumps(one, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f'{text[:-1]},"check":"{crc32c(text.encode()):08x}"}}\n'


def journal(rows):
    return "".join(line(one) for one in rows).encode()


def row(run, provider, number, time, status="ok", case="matmul", commit=None, message="off by 3", point=None,
        machine=None, cores=2):
    measured = status in ("ok", "wrong_result")
    point = point or {"dtype": "f32", "n": 64, "seed": 0}
    identity = json.dumps([case, point, provider, "cpu", cores, number, 0], sort_keys=True, separators=(",", ":"),
                          ensure_ascii=False)
    return {
        "schema": 1, "run_id": run, "attempt_id": hashlib.sha256(identity.encode()).hexdigest()[:16],
        "suite": "semiring", "case": case, "point": point, "provider": provider, "platform": "cpu",
        "machine": machine or {"fingerprint": "0123456789abcdef"}, "cores": cores, "round": number, "try": 0,
        "order": number, "status": status,
        "failure": None if status == "ok" else {
            "phase": "judge", "code": "value", "message": message, "signal": None, "exit_code": None,
            "stderr_tail": "",
        },
        "metrics": {
            "steady_time": time, "steady_time_min": 0.99 * time, "steady_time_p95": 1.02 * time,
        } if measured else {},
        "samples": {}, "fidelity": None, "work": None,
        "provenance": {
            "commit": commit or run.split("-")[1], "dirty": False, "isolation": "process", "baseline": "steady",
            "primary_metric": "steady_time", "mode": "standard",
        },
    }  # fmt: skip


def rounds(run, provider, time=1e-3, count=12, **options):
    # Scatter of half a per cent, without random numbers: the same in every run of the test.
    shift = sum(provider.encode()) % 7
    scatter = lambda i: 1 + 0.005 * math.sin(2.4 * i + shift)
    return [row(run, provider, i, time * scatter(i), **options) for i in range(count)]
