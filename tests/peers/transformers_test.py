# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Language models against Hugging Face transformers on the same weights, in both directions: folders
that `assay llm init` writes, and folders that transformers writes."""

import json
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
FAMILIES = ("llama", "qwen3", "gemma3", "qwen3-moe", "gemma4")
ROUTED = ("qwen3-moe", "gemma4")
LENGTH = 100 if SIZE == "tiny" else 40
CHUNKS = (1, 7, 64, LENGTH) if SIZE == "tiny" else (7, LENGTH)
LARGEST_DIFFERENCE = 1e-4


def folder_of(family, dtype):
    """A folder that Assay wrote; made once."""
    path = os.path.join(FOLDER, f"{family}-{dtype}")
    if not os.path.exists(path):
        subprocess.run([ASSAY, "llm", "init", "--family", family, "--size", SIZE, "--dtype", dtype,
                        "--seed", "5", "--out", path], check=True, capture_output=True)  # fmt: skip
    return path


def peer(path, dtype=torch.float32):
    """What transformers makes of the folder, and every tensor of it was wanted."""
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        path, dtype=dtype, attn_implementation="eager", output_loading_info=True)  # fmt: skip
    assert not any(info.values()), info
    return model.eval()


def some_tokens(vocabulary, count, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, vocabulary, (count,), generator=generator)


def own_logits(path, tokens, chunk):
    """Twice, by one session."""
    out = os.path.join(FOLDER, "logits.safetensors")
    text = ",".join(str(token) for token in tokens.tolist())
    subprocess.run([PRINT_LOGITS, path, text, str(chunk), out], check=True)
    logits = load_file(out)
    return logits["first"], logits["second"]


def peer_logits(model, tokens):
    with torch.no_grad():
        return model(tokens[None]).logits[0].float()


def peer_says(model, tokens, count):
    """Greedily, whatever it says."""
    model.generation_config.eos_token_id = None
    said = model.generate(tokens[None], attention_mask=torch.ones_like(tokens)[None],
                          max_new_tokens=count, do_sample=False, pad_token_id=0)  # fmt: skip
    return said[0, len(tokens) :]


def divergence(p, q):
    """KL of q's distribution from p's, in nats, of the median position."""
    p, q = p.double().log_softmax(-1), q.double().log_softmax(-1)
    return (p.exp() * (p - q)).sum(-1).median().item()


class Transformers(unittest.TestCase):
    def test_logits_in_f32(self):
        for family in FAMILIES:
            with self.subTest(family):
                path = folder_of(family, "f32")
                model = peer(path)
                tokens = some_tokens(model.config.vocab_size, LENGTH)
                expected = peer_logits(model, tokens)
                for chunk in CHUNKS:
                    first, second = own_logits(path, tokens, chunk)
                    difference = (first - expected).abs().max().item()
                    print(f"{family} {SIZE} f32 in chunks of {chunk}: {difference:.2e}")
                    self.assertLessEqual(difference, LARGEST_DIFFERENCE)
                    self.assertTrue(torch.equal(first, second))

    def test_logits_in_bf16(self):
        # Judged by the same weights in f32: rounding to bf16 may not cost more than it costs the peer.
        for family in FAMILIES:
            with self.subTest(family):
                path = folder_of(family, "bf16")
                tokens = some_tokens(peer(path).config.vocab_size, LENGTH)
                exact = peer_logits(peer(path), tokens)
                theirs = peer_logits(peer(path, torch.bfloat16), tokens)
                ours = own_logits(path, tokens, LENGTH)[0]
                # Random weights make near ties, which any rounding decides: where first and second are
                # further apart than the peer's own noise explains, there is one answer.
                best = exact.topk(2).values
                noise = (theirs - exact).square().mean(-1).sqrt().median()
                clear = best[:, 0] - best[:, 1] > 6 * noise
                right = (ours.argmax(-1) == exact.argmax(-1))[clear].float().mean().item()
                figures = {}
                for name, logits in (("ours", ours), ("theirs", theirs)):
                    agreement = (logits.argmax(-1) == exact.argmax(-1)).float().mean().item()
                    figures[name] = (agreement, divergence(exact, logits))
                same = (ours.argmax(-1) == theirs.argmax(-1)).float().mean().item()
                print(f"{family} {SIZE} bf16: argmax as in f32 {figures['ours'][0]:.3f} "
                      f"(transformers {figures['theirs'][0]:.3f}), as transformers' bf16 {same:.3f}; "
                      f"KL {figures['ours'][1]:.1e} (transformers {figures['theirs'][1]:.1e}); "
                      f"{right:.3f} of {int(clear.sum())} clear ones of {LENGTH}")  # fmt: skip
                self.assertGreater(clear.sum(), LENGTH // 4)
                # Where rounding makes a router choose other experts, that is another model.
                self.assertGreaterEqual(right, 0.9 if family in ROUTED else 0.99)
                self.assertLessEqual(figures["ours"][1], 1.5 * figures["theirs"][1] + 1e-6)
                self.assertGreaterEqual(figures["ours"][0], figures["theirs"][0] - 2 / LENGTH)

    def test_greedy_tokens(self):
        for family in FAMILIES:
            with self.subTest(family):
                path = folder_of(family, "f32")
                model = peer(path)
                prompt = some_tokens(model.config.vocab_size, 9, seed=2)
                count = 32 if SIZE == "tiny" else 12
                expected = peer_says(model, prompt, count)
                said = subprocess.run(
                    [ASSAY, "llm", "generate", "--model", path, "--max-tokens", str(count), "--json",
                     "--ignore-end", "--tokens", ",".join(str(t) for t in prompt.tolist())],
                    check=True, capture_output=True, text=True)  # fmt: skip
                self.assertEqual(json.loads(said.stdout)["tokens"], expected.tolist())

    @unittest.skipIf(SIZE != "tiny", "one size is enough")
    def test_folders_that_transformers_writes(self):
        for family in FAMILIES:
            with self.subTest(family):
                path = os.path.join(FOLDER, f"{family}-theirs")
                model = peer(folder_of(family, "f32"))
                model.save_pretrained(path, max_shard_size="300KB")
                self.assertGreater(len([f for f in os.listdir(path) if f.endswith(".safetensors")]), 1)
                tokens = some_tokens(model.config.vocab_size, 20, seed=3)
                first, _ = own_logits(path, tokens, 20)
                difference = (first - peer_logits(model, tokens)).abs().max().item()
                self.assertLessEqual(difference, LARGEST_DIFFERENCE)


    @unittest.skipIf(SIZE != "tiny", "one size is enough")
    def test_texts(self):
        prompt = "Grüße, 世界! It's 1999 again."
        for family in FAMILIES:
            with self.subTest(family):
                path = folder_of(family, "f32")
                tokenizer = transformers.AutoTokenizer.from_pretrained(path)
                ids = tokenizer(prompt, return_tensors="pt").input_ids[0]
                said = subprocess.run(
                    [ASSAY, "llm", "generate", "--model", path, "--max-tokens", "16", "--json",
                     "--ignore-end", "--prompt", prompt],
                    check=True, capture_output=True, text=True)  # fmt: skip
                told = json.loads(said.stdout)
                self.assertEqual(told["prompt"], ids.tolist())
                expected = peer_says(peer(path), ids, 16)
                self.assertEqual(told["text"], tokenizer.decode(expected, skip_special_tokens=True))

    @unittest.skipIf(SIZE != "tiny", "one size is enough")
    def test_text_part_of_models_that_see(self):
        sight = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1,
                 "num_attention_heads": 2, "patch_size": 14}  # fmt: skip
        kinds = {
            "gemma3": (transformers.Gemma3Config, transformers.Gemma3ForConditionalGeneration,
                       {**sight, "image_size": 28}),
            "gemma4": (transformers.Gemma4Config, transformers.Gemma4ForConditionalGeneration,
                       {**sight, "num_key_value_heads": 2, "head_dim": 16}),
        }  # fmt: skip
        for family, (config, kind, vision) in kinds.items():
            with self.subTest(family):
                text = peer(folder_of(family, "f32"))
                whole = kind(config(text_config=text.config.to_dict(), vision_config=vision)).eval()
                whole.model.language_model.load_state_dict(text.model.state_dict())
                path = os.path.join(FOLDER, f"{family}-whole")
                whole.save_pretrained(path)
                tokens = some_tokens(text.config.vocab_size, 20, seed=4)
                first, _ = own_logits(path, tokens, 20)
                difference = (first - peer_logits(whole, tokens)).abs().max().item()
                self.assertLessEqual(difference, LARGEST_DIFFERENCE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
