# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The package's types, as mypy --strict sees them."""

import pathlib
import subprocess
import sys

import assay


def mypy(*arguments, folder):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_package_is_strict(tmp_path):
    assert (pathlib.Path(assay.__file__).parent / "py.typed").exists()
    done = mypy("-p", "assay", folder=tmp_path)
    assert done.returncode == 0, done.stdout


def test_a_wrong_call_is_seen(tmp_path):
    (tmp_path / "wrong.py").write_text("import assay\nassay.set_threads('many')\n")
    done = mypy("wrong.py", folder=tmp_path)
    assert done.returncode == 1 and "set_threads" in done.stdout
