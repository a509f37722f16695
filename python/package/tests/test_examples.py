# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil

import assay
import pytest
from arrays import needs

NEEDS = {"_fx_program": "torch", "_fx_views": "torch", "_pt2": "torch", "_semiring_jax": "jax", "_semiring_torch": "torch", "_torch_compile": "torch"}
NAMES = [module.name for module in pkgutil.iter_modules(assay.__path__) if module.name not in ("_core", "_cuda")]
MODULES = ["assay", *(pytest.param(f"assay.{name}", marks=[needs(NEEDS[name])] if name in NEEDS else [])
                      for name in NAMES)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.failed == 0


def test_everything_public_is_described():
    for name in assay.__all__:
        assert getattr(assay, name).__doc__, name
