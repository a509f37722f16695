# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Providers of case files that are functions in Python: f(inputs, point) → an array, or a dict of them."""

import hashlib
import importlib
import importlib.util
import os
import sys

import numpy as np

from assay_worker.own_inputs import make_inputs
from assay_worker.workload import ProviderFailure, Workload

_modules = {}  # by path: a setup and a function of one file share what it keeps
_is_forked = False  # this process is a child of the one that measures


def _note_fork():
    global _is_forked
    _is_forked = True


os.register_at_fork(after_in_child=_note_fork)


def leave_if_forked():
    """A function that forks may come back in both processes. The child would go on with what its parent does, and fork
    again in every further call: it ends here."""
    if _is_forked:
        os.write(2, b"assay_worker: a function came back in a process that it had forked, which ends here\n")
        os._exit(1)


def alone(function, *arguments):
    """What it returns, in the process that called it."""
    try:
        return function(*arguments)
    finally:
        leave_if_forked()


def load_function(reference):
    """The function that {"file": …, "name": …} names."""
    path, name = reference["file"], reference["name"]
    if path not in _modules:
        sys.path.insert(0, os.path.dirname(path))
        own_name = f"assay_own_{len(_modules)}_{os.path.splitext(os.path.basename(path))[0]}"
        spec = importlib.util.spec_from_file_location(own_name, path)
        if spec is None:
            raise ProviderFailure("failed", "function_missing", f"not a Python file: {path!r}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[own_name] = module
        alone(spec.loader.exec_module, module)
        _modules[path] = module
    function = getattr(_modules[path], name, None)
    if not callable(function):
        raise ProviderFailure("failed", "function_missing", f"no function {name!r} in {path!r}")
    return function


def dotted_function(name):
    """torch.cuda.synchronize: the attribute of the longest module that can be imported."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        if callable(found):
            return found
    raise ProviderFailure("env_missing", "module_missing", f"no function {name!r}")


def as_array(value):
    """An array of any framework as NumPy's."""
    if hasattr(value, "detach"):  # torch, wherever it lies
        value = value.detach().cpu().numpy()
    elif hasattr(value, "get") and hasattr(value, "__cuda_array_interface__"):  # cupy
        value = value.get()
    array = np.asarray(value)
    return array.astype(array.dtype.newbyteorder("="), copy=False)  # whatever order its bytes have


def is_done(value):
    """Whether a value is there already: an array of NumPy, a tensor of torch in this memory."""
    return type(value) is np.ndarray or (type(value).__module__ == "torch" and value.device.type == "cpu")


def computed(result):
    """What a function returned, with everything that was put off computed: a lazy array is not an answer yet."""
    if isinstance(result, dict):
        return {name: value if is_done(value) else as_array(value) for name, value in result.items()}
    return result if is_done(result) else as_array(result)


def named_outputs(result, outputs):
    """What a function returned, as name → ndarray."""
    names = [output["name"] for output in outputs]
    if not isinstance(result, dict):
        if len(names) != 1:
            kind = type(result).__name__
            raise ProviderFailure("failed", "output_form", f"several outputs are returned as a dict, not as {kind}")
        result = {names[0]: result}
    missing = [name for name in names if name not in result]
    if missing:
        raise ProviderFailure("failed", "output_form", f"the function returned no {missing[0]!r}")
    arrays = {name: as_array(result[name]) for name in names}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise ProviderFailure("failed", "output_form", f"{name!r} is no array of numbers but {array.dtype}")
    return arrays


class OwnWorkload(Workload):
    judged_again = True

    def __init__(self, definition, provider, point):
        self.definition, self.point = definition, point
        self.function = load_function(provider["python"])
        self.setup = load_function(provider["setup"]) if provider["setup"] else None
        self.synchronise = dotted_function(provider["synchronise"]) if provider["synchronise"] else None
        self.files = sorted({part["file"] for part in (provider["python"], provider["setup"]) if part})
        self.slots, self.result = [None, None], None

    def load(self, slot, input_set):
        inputs = make_inputs(self.definition, self.point, self.definition["sets"][input_set])
        for array in inputs.values():
            array.flags.writeable = False  # whoever changes them would compute something else next time
        if self.setup is not None:
            inputs = alone(self.setup, inputs, dict(self.point))
        self.slots[slot] = inputs
        if self.synchronise is not None:
            self.synchronise()

    def call(self, slot):
        try:
            result = self.function(self.slots[slot], self.point)
        finally:
            if _is_forked:
                leave_if_forked()
        if self.synchronise is not None:
            self.synchronise()
        else:
            result = computed(result)
        self.result = result

    def poison_outputs(self):
        self.result = None

    def outputs(self):
        return named_outputs(self.result, self.definition["outputs"])

    def versions(self):
        hashes = {}
        for path in self.files:
            with open(path, "rb") as file:
                hashes[os.path.basename(path)] = "sha256:" + hashlib.sha256(file.read()).hexdigest()
        return hashes


def make(definition, provider_id, point):
    for provider in definition["providers"]:
        if provider["id"] == provider_id:
            return OwnWorkload(definition, provider, point)
    raise ProviderFailure("failed", "unknown_provider", f"no provider of that name: {provider_id!r}")
