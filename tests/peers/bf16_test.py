# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What bf16 costs, for us and for transformers, by the same weights in f32, on models that have learned something.

Weights by chance have logits that are nearly equal, so that any rounding decides which is greatest: agreement says
little of them (transformers_test.py holds us to the peer's own noise there). Here each model learns a short text first,
as real ones have, and is asked for what follows on a thousand tokens of it."""

import os
import subprocess
import sys
import unittest

ROOT, PROVIDER, FOLDER, ASSAY, PRINT_LOGITS, SIZE = sys.argv[1:7]
sys.argv[1:7] = []
os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
# Steps of learning: gemma4's experts take transformers seconds a step.
STEPS = {
    "tiny": {"llama": 1200, "qwen3": 1200, "gemma3": 400, "qwen3-moe": 1200, "gemma4": 150},
    "160m": {"llama": 50, "qwen3": 50},
}[SIZE]
RATE = {"tiny": 3e-3, "160m": 5e-4}[SIZE]
WINDOW, WINDOWS = 250, 4
BAR = 0.99


def peer(path, dtype=torch.float32):
    return transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype, attn_implementation="eager").eval()


def learned(family):
    """A folder with bf16 weights that have learned the text, and the text's tokens."""
    begin, path = os.path.join(FOLDER, family), os.path.join(FOLDER, family + "-learned")
    subprocess.run([ASSAY, "llm", "init", "--family", family, "--size", SIZE, "--dtype", "f32", "--out", begin],
                   check=True, capture_output=True)  # fmt: skip
    with open(os.path.join(ROOT, "src/models/tokenizer/training_text.txt"), encoding="utf-8") as file:
        text = file.read()
    tokens = torch.tensor(transformers.AutoTokenizer.from_pretrained(begin)(text, add_special_tokens=False).input_ids)
    model = peer(begin).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    generator = torch.Generator().manual_seed(1)
    for step in range(STEPS[family]):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / 10)
        batch = torch.stack([tokens[at : at + 64] for at in torch.randint(0, len(tokens) - 65, (4,), generator=generator)])
        loss = model(batch, labels=batch).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    model.eval().to(torch.bfloat16).save_pretrained(path)
    return path, tokens, loss.item()


def own_logits(path, tokens):
    out = os.path.join(FOLDER, "logits.safetensors")
    subprocess.run([PRINT_LOGITS, path, ",".join(str(t) for t in tokens.tolist()), str(WINDOW), out], check=True)
    return load_file(out)["first"]


def peer_logits(model, tokens):
    with torch.no_grad():
        return model(tokens[None]).logits[0].float()


def agreement(a, b):
    return (a.argmax(-1) == b.argmax(-1)).float().mean().item()


def divergence(exact, logits):
    """Mean KL from the f32 answer, in nats."""
    p, q = exact.double().log_softmax(-1), logits.double().log_softmax(-1)
    return (p.exp() * (p - q)).sum(-1).mean().item()


class Bf16(unittest.TestCase):
    def test_of_models_that_have_learned(self):
        for family in STEPS:
            with self.subTest(family):
                path, tokens, loss = learned(family)
                exact_model, rounded_model = peer(path), peer(path, torch.bfloat16)
                windows = [tokens[i * WINDOW : (i + 1) * WINDOW] for i in range(WINDOWS)]
                exact = torch.cat([peer_logits(exact_model, w) for w in windows])
                theirs = torch.cat([peer_logits(rounded_model, w) for w in windows])
                ours = torch.cat([own_logits(path, w) for w in windows])
                best = exact.topk(2).values
                figures = [(agreement(x, exact), divergence(exact, x)) for x in (ours, theirs)]
                print(f"{family} {SIZE} (loss {loss:.2f}, median lead {(best[:, 0] - best[:, 1]).median():.2f}), "
                      f"{len(exact)} tokens: argmax as in f32 {figures[0][0]:.3f} (transformers' bf16 {figures[1][0]:.3f}), "
                      f"of each other {agreement(ours, theirs):.3f}; KL {figures[0][1]:.1e} ({figures[1][1]:.1e})",
                      flush=True)  # fmt: skip
                self.assertEqual(len(exact), WINDOW * WINDOWS)
                if figures[1][0] >= BAR:
                    self.assertGreaterEqual(figures[0][0], BAR)
                # Two in a hundred is beyond what chance makes of a thousand tokens.
                self.assertGreaterEqual(figures[0][0], figures[1][0] - 0.02)
                self.assertLessEqual(figures[0][1], 1.5 * figures[1][1] + 1e-6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
