# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face transformers on PyTorch, eager and compiled."""

import os
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
import transformers  # noqa: E402

from assay_worker.language import LanguageModel  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


class Eager(LanguageModel):
    def __init__(self, folder, point, cores, count):
        torch.set_num_threads(cores)
        torch.set_grad_enabled(False)
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=DTYPES[point["dtype"]], attn_implementation="sdpa"
        ).eval()
        config = self.model.config
        self.vocabulary = config.vocab_size
        self.cache = transformers.StaticCache(config=config, max_cache_len=point["context"])
        self.cache.early_initialization(
            batch_size=1, num_heads=config.num_key_value_heads, head_dim=config.head_dim,
            dtype=DTYPES[point["dtype"]], device=torch.device("cpu"),
        )  # fmt: skip
        self.position = 0

    def forward_of(self, count):
        return self.model.forward

    def read(self, tokens):
        count = len(tokens)
        positions = torch.arange(self.position, self.position + count)[None]
        self.position += count
        out = self.forward_of(count)(
            input_ids=torch.from_numpy(tokens)[None], position_ids=positions,
            past_key_values=self.cache, use_cache=True, logits_to_keep=1,
        )  # fmt: skip
        return out.logits[0, 0].float().numpy()

    def rewind(self, position):
        self.position = position
        for layer in self.cache.layers:
            layer.cumulative_length.fill_(position)

    def versions(self):
        return {**super().versions(), "torch": torch.__version__, "transformers": transformers.__version__}


class Compiled(Eager):
    """One program for the length that is timed: shapes are static, and so is the cache. Other lengths, a
    prompt before what is timed, are read as they come."""

    def __init__(self, folder, point, cores, count):
        # Read when Inductor is imported; from an empty cache, as for the other cases (torch_peer.py).
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), "inductor")
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        import torch._inductor.config as config

        config.cpp_cache_precompile_headers = False
        config.cpp.vec_isa_ok = True
        torch.compiler.reset()
        super().__init__(folder, point, cores, count)
        self.count = count
        self.compiled = torch.compile(self.model.forward, dynamic=False, fullgraph=True)

    def forward_of(self, count):
        return self.compiled if count == self.count else self.model.forward
