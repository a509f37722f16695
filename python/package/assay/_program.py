# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The program `assay`, which is the laboratory: started, and its errors as exceptions."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ._errors import DiskError, EnvironmentError, InternalError, UserError
from ._texts import text

_USAGE, _ENVIRONMENT, _BUG, _INTERRUPTED = 2, 5, 70, 130  # docs/exits.md


@dataclass(frozen=True)
class Finished:
    """What the program printed, and its exit status: 0, 1, 3 or 4, which are answers and no errors."""

    status: int
    output: str
    notes: str


def path() -> str:
    """The program: what ASSAY_PROGRAM names, else `assay` in PATH. Raises EnvironmentError."""
    named = os.environ.get("ASSAY_PROGRAM")
    found = shutil.which(named or "assay")
    if found is None:
        where = f"ASSAY_PROGRAM names '{named}'" if named else "no 'assay' in PATH"
        raise EnvironmentError(f"assay.lab needs the program assay ('make build', 'make install'): {where}")
    return found


def option(name: str, value: str) -> str:
    """--name=value, whatever the value begins with. Raises UserError for an empty one, which would be none."""
    if not text(value, name):
        raise UserError(f"{name}: nothing was given")
    return f"--{name}={value}"


def _said(done: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    """The kind of an error and its message: the last line, an object where the program knows ASSAY_ERRORS."""
    line = done.stderr.strip().rpartition("\n")[2]
    try:
        said = json.loads(line)
        return said["kind"], said["message"]
    except (ValueError, TypeError, KeyError):
        return "", line.removeprefix("assay: ") or f"exit status {done.returncode}"


def run(*command: str, operands: Sequence[str] = ()) -> Finished:
    """Starts it, with this interpreter for everything that is measured in Python unless ASSAY_PYTHON says another.

    `command` and its options come first; `operands` (sources, cases) may begin with "-".
    """
    arguments = [*command, *(["--", *operands] if operands else [])]
    surroundings = {"ASSAY_PYTHON": sys.executable, **os.environ, "ASSAY_ERRORS": "json"}
    program = path()
    try:
        done = subprocess.run([program, *arguments], env=surroundings, capture_output=True, encoding="utf-8",
                              errors="replace", check=False)
    except OSError as error:
        why = f"cannot start '{program}': {error.strerror}"
        raise UserError(f"{why}: what was given is too long") if error.errno == errno.E2BIG else EnvironmentError(why) from None
    kind, message = _said(done)
    if kind == "disk":
        raise DiskError(message)
    if done.returncode == _USAGE:
        raise UserError(message)
    if done.returncode == _ENVIRONMENT:
        raise EnvironmentError(message)
    if done.returncode == _INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode == _BUG or done.returncode not in (0, 1, 3, 4):
        raise InternalError(f"assay {' '.join(arguments)}: {message}")
    return Finished(done.returncode, done.stdout, done.stderr)
