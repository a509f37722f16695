# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What judges language models (src/cases/llm/oracle) against Hugging Face transformers in f64, which
computes norms, rotary embeddings and softmax in f32 all the same."""

import os
import subprocess
import sys
import unittest

ROOT, PROVIDER, FOLDER, ASSAY, PRINT_PLAIN_LOGITS = sys.argv[1:6]
sys.argv[1:6] = []
os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
FAMILIES = ("llama", "qwen3", "gemma3", "qwen3-moe", "gemma4")
LENGTH = 70  # windows of tiny models have 16
# What the peer rounds to f32 in each of a few layers, of logits of size 1.
LARGEST_DIFFERENCE = 3e-5


class Oracle(unittest.TestCase):
    def test_logits(self):
        for family in FAMILIES:
            with self.subTest(family):
                path = os.path.join(FOLDER, family)
                subprocess.run([ASSAY, "llm", "init", "--family", family, "--dtype", "f32", "--seed", "5",
                                "--out", path], check=True, capture_output=True)  # fmt: skip
                model = transformers.AutoModelForCausalLM.from_pretrained(
                    path, dtype=torch.float64, attn_implementation="eager", experts_implementation="eager"
                ).eval()
                generator = torch.Generator().manual_seed(1)
                tokens = torch.randint(0, model.config.vocab_size, (LENGTH,), generator=generator)
                with torch.no_grad():
                    expected = model(tokens[None]).logits[0].double()
                out = os.path.join(FOLDER, "logits.safetensors")
                text = ",".join(str(token) for token in tokens.tolist())
                subprocess.run([PRINT_PLAIN_LOGITS, path, text, out], check=True)
                difference = (load_file(out)["logits"] - expected).abs().max().item()
                size = expected.square().mean().sqrt().item()
                print(f"{family}: {difference:.1e} of {size:.2g}")
                self.assertLessEqual(difference, LARGEST_DIFFERENCE * max(1, size))


if __name__ == "__main__":
    unittest.main()
