# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The code of docs/python.md runs as it stands there."""

import os
import shutil
import subprocess
import sys

import pytest
from arrays import needs
from examples import page

PROGRAM = shutil.which(os.environ.get("ASSAY_PROGRAM", "assay"))


def run(folder, *command):
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(folder)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("number", [pytest.param(i, marks=[needs("torch")] if "import assay, numpy, torch" in text else [])
                                    for i, (name, text) in enumerate(page()) if not name])
def test_what_is_shown_runs(number, tmp_path):
    (tmp_path / "shown.py").write_text(page()[number][1])
    assert run(tmp_path, "shown.py")


@pytest.mark.skipif(PROGRAM is None, reason="no program assay: ASSAY_PROGRAM, or `make install`")
def test_a_bench_and_a_test_of_it(tmp_path):
    for name, text in page():
        if name:
            (tmp_path / name).write_text(text.replace("rounds=10", "rounds=2"))
    assert "verdict" in run(tmp_path, "softmax_bench.py")
    assert "1 passed" in run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_softmax.py")
