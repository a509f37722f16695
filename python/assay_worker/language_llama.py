# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""llama.cpp, by the C functions that llama-cpp-python binds. Weights are those of the folder, as GGUF."""

import ctypes
import os

import llama_cpp
import numpy as np

from assay_worker.language import LanguageModel
from assay_worker.language_gguf import gguf_file

CACHE_TYPES = {"f32": 0, "f16": 1, "bf16": 30}  # enum ggml_type


@llama_cpp.llama_log_callback
def _be_quiet(level, text, data):
    pass


class LlamaCpp(LanguageModel):
    def __init__(self, folder, point, cores, count):
        llama_cpp.llama_log_set(_be_quiet, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        model = llama_cpp.llama_model_default_params()
        model.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(os.fsencode(gguf_file(folder, point["dtype"])), model)
        if not self.model:
            raise RuntimeError("llama.cpp does not load the model")
        context = llama_cpp.llama_context_default_params()
        context.n_ctx = point["context"]
        context.n_batch = context.n_ubatch = min(point["context"], 512)
        context.n_threads = context.n_threads_batch = cores
        context.type_k = context.type_v = CACHE_TYPES[point["dtype"]]
        if point["dtype"] == "f32":
            context.flash_attn_type = 0  # which rounds to f16
        self.context = llama_cpp.llama_init_from_model(self.model, context)
        if not self.context:
            raise RuntimeError("llama.cpp makes no context")
        self.batch_size = context.n_batch
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))

    def read(self, tokens):
        for begin in range(0, len(tokens), self.batch_size):
            some = tokens[begin : begin + self.batch_size].astype(np.int32)
            pointer = some.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
            status = llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(pointer, len(some)))
            if status != 0:
                raise RuntimeError(f"llama_decode returned {status}")
        logits = llama_cpp.llama_get_logits_ith(self.context, -1)
        return np.ctypeslib.as_array(logits, (self.vocabulary,)).copy()

    def rewind(self, position):
        llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(self.context), 0, position, -1)

    def versions(self):
        return {**super().versions(), "llama_cpp": llama_cpp.__version__}
