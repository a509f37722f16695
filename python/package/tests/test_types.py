# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The package's types, as mypy --strict sees them."""

import pathlib
import pkgutil
import subprocess
import sys

import assay
from examples import NOTEBOOKS, cells, docstrings, page


def mypy(*arguments, folder):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_package_is_strict(tmp_path):
    assert (pathlib.Path(assay.__file__).parent / "py.typed").exists()
    done = mypy("-p", "assay", folder=tmp_path)
    assert done.returncode == 0, done.stdout


def test_a_wrong_call_is_seen(tmp_path):
    (tmp_path / "wrong.py").write_text("import assay\nassay.set_threads('many')\nassay.einsm('ij->', 1)\n")
    done = mypy("wrong.py", folder=tmp_path)
    assert done.returncode == 1 and "set_threads" in done.stdout and '"einsm"' in done.stdout


# What examples define needs no types; and of torch and jax, which may be missing and whose own types take minutes, nothing is known.
EXAMPLES = ("--allow-untyped-defs", "--allow-incomplete-defs", "--allow-untyped-calls", "--allow-untyped-decorators",
            "--allow-subclassing-any", "--check-untyped-defs")
FRAMEWORKS = "[mypy]\n[mypy-torch.*,jax.*]\nfollow_imports = skip\nignore_missing_imports = True\n"


def test_what_is_shown_is_typed(tmp_path):
    (tmp_path / "mypy.ini").write_text(FRAMEWORKS)
    shown = {f"notebook_{name}": "\n".join(code for code, _ in cells(name)) for name in NOTEBOOKS}
    shown |= {name.removesuffix(".py") if name else f"page_{i}": code for i, (name, code) in enumerate(page())}
    for module in ("assay", *(f"assay.{each.name}" for each in pkgutil.iter_modules(assay.__path__) if each.name not in ("_core", "_cuda"))):
        try:
            shown |= {f"docstring_{name.replace('.', '_')}": code for name, code in docstrings(module)}
        except ModuleNotFoundError:
            continue  # torch or jax is not there
    for name, code in shown.items():
        (tmp_path / f"{name}.py").write_text(code)
    done = mypy("--config-file", "mypy.ini", *EXAMPLES, *(f"{name}.py" for name in shown), folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert len(shown) > 20
