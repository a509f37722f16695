# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays for tests."""

import importlib.util

import pytest


def needs(module):
    """Skips a test, by name, where a framework is not installed (make peers)."""
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(missing, reason=f"no module {module}: `make peers` installs it")
