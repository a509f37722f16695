# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Python providers of llm_prefill, llm_prefill_sequential and llm_decode (docs/methods/language_models.md).

A framework is a module with a class: it takes a model's folder, reads tokens behind those that are in its one
cache, and forgets the last of them. What is timed is the same for all and stands here.
"""

import importlib
import os

import numpy as np

from assay_worker import philox
from assay_worker.peer import unknown
from assay_worker.workload import Workload

FRAMEWORKS = {
    "hf-eager": ("assay_worker.language_torch", "Eager"),
    "torch-compile": ("assay_worker.language_torch", "Compiled"),
    "onnxruntime": ("assay_worker.language_onnx", "Onnx"),
    "llama-cpp": ("assay_worker.language_llama", "LlamaCpp"),
}
WEIGHTS_VERSION = 1  # as in src/cases/llm/model_point.cc


def model_folder(point):
    """Where the model is: made by the runner before the first attempt."""
    if "/" in point["model"]:
        return point["model"]
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):
        cache = os.path.join(os.environ["HOME"], ".cache")
    name = f"{point['model']}-{point['dtype']}-{point['seed']}-{WEIGHTS_VERSION}"
    return os.path.join(cache, "assay", "models", name)


class LanguageModel:
    """One model in one framework, with one cache of `point["context"]` tokens."""

    vocabulary: int

    def __init__(self, folder, point, cores, count):
        """Fixes the threads. What is timed reads `count` tokens at once."""

    def read(self, tokens):
        """Puts tokens (an int64 ndarray) behind those that are there; the last one's logits, as an f32 ndarray."""

    def rewind(self, position):
        """Forgets all tokens from that position on."""

    def versions(self):
        return {"numpy": np.__version__}


class LanguageWorkload(Workload):
    def __init__(self, model, case, point):
        self.model, self.case, self.point = model, case, point
        self.slots, self.logits = [None, None], None

    def drawn(self, name, count, input_set):
        stream = philox.input_stream(self.point["seed"], name, input_set)
        return philox.uniform_below(philox.raw(stream, count), self.model.vocabulary).astype(np.int64)

    def prompt(self, input_set):
        drawn = self.drawn("prompt", self.point["prompt"], input_set)
        if "ids" not in self.point:
            return drawn
        given = np.array(self.point["ids"].split(","), dtype=np.int64)
        if input_set > 0:  # an answer that was kept is a wrong one
            given[-1] = drawn[-1]
        return given

    def load(self, slot, input_set):
        is_decode = self.case == "llm_decode"
        prompt = self.prompt(0 if is_decode else input_set)
        if not is_decode:
            self.slots[slot] = prompt
            return
        self.slots[slot] = self.drawn("tokens", self.point["tokens"], input_set)
        self.model.rewind(0)
        self.model.read(prompt)

    def call(self, slot):
        tokens = self.slots[slot]
        if self.case == "llm_prefill":
            self.model.rewind(0)
            self.logits = [self.model.read(tokens)]
            return
        is_decode = self.case == "llm_decode"
        self.model.rewind(self.point["prompt"] if is_decode else 0)
        said = [self.model.read(tokens[i : i + 1]) for i in range(len(tokens))]
        self.logits = said if is_decode else said[-1:]

    def poison_outputs(self):
        self.logits = None

    def outputs(self):
        return {"logits": np.stack(self.logits)}

    def versions(self):
        return self.model.versions()


def make(case, provider, point, cores, platform="cpu"):
    if provider not in FRAMEWORKS or platform != "cpu":
        raise unknown(case, provider)
    module, name = FRAMEWORKS[provider]
    count = point["prompt"] if case == "llm_prefill" else 1
    model = getattr(importlib.import_module(module), name)(model_folder(point), point, cores, count)
    return LanguageWorkload(model, case, point)
