# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""One Python provider of the cases about language models against plain f64 NumPy."""

import json
import os
import shutil
import sys
import unittest

ROOT, PROVIDER, FOLDER, ASSAY = sys.argv[1:5]
sys.argv[1:5] = []
sys.path.insert(0, os.path.join(ROOT, "python"))
import numpy as np  # noqa: E402
import tiny_model  # noqa: E402
from assay_worker import language, safetensors  # noqa: E402
from assay_worker.graph_inputs import widened  # noqa: E402
from assay_worker.workload import ProviderFailure  # noqa: E402

JUDGED_SET = 2
PROMPT, TOKENS, CONTEXT = 20, 3, 64
COMPILES_FOR_LONG = PROVIDER == "torch-compile"
FAMILIES = ("qwen3",) if COMPILES_FOR_LONG else ("qwen3", "llama")
DTYPES = {"torch-compile": ("bf16",), "onnxruntime": ("f32",)}.get(PROVIDER, ("f32", "bf16", "f16"))
# Of the logits' size: sums in f32; roundings to the dtype, which is as far as the judge goes too.
RELATIVE = {"f32": 2e-5, "bf16": 0.1, "f16": 0.02}
ROPES = (
    {"rope_theta": 500.0, "rope_type": "default"},
    {"rope_theta": 500.0, "rope_type": "linear", "factor": 3.0},
    {"rope_theta": 500.0, "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 32},
)  # fmt: skip


def folder_of(family, dtype):
    path = os.path.join(FOLDER, f"{family}-{dtype}")
    if not os.path.exists(path):
        tiny_model.init(ASSAY, path, family, dtype)
    return path


def as_transformers_writes(config, rope):
    config["rope_parameters"] = rope


def as_published(config, rope):
    """Meta's and Qwen's layout; older files say `type` for `rope_type`."""
    del config["rope_parameters"]
    config["torch_dtype"] = config.pop("dtype")
    config["rope_theta"] = rope["rope_theta"]
    scaling = {key: value for key, value in rope.items() if key not in ("rope_theta", "rope_type")}
    config["rope_scaling"] = {"type": rope["rope_type"], **scaling} if scaling else None
    if config["model_type"] == "llama":
        del config["head_dim"]  # hidden_size over heads in the tiny one


def folder_with(family, layout, rope):
    """The tiny model in f32 with another rotary embedding."""
    path = os.path.join(FOLDER, f"{family}-{layout.__name__}-{rope['rope_type']}")
    shutil.copytree(folder_of(family, "f32"), path)
    tiny_model.edit_config(path, lambda config: layout(config, rope))
    return path


def norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def frequencies(rope, width):
    plain = rope["rope_theta"] ** (-np.arange(0, width, 2) / width)
    if rope["rope_type"] == "default":
        return plain
    if rope["rope_type"] == "linear":
        return plain / rope["factor"]
    waves = rope["original_max_position_embeddings"] * plain / (2 * np.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    kept = np.clip((waves - low) / (high - low), 0, 1)
    return plain * (kept + (1 - kept) / rope["factor"])


def logits(folder, tokens):
    """Of every token, all at once."""
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    weights = safetensors.read(os.path.join(folder, "model.safetensors"))
    epsilon, width = config["rms_norm_eps"], config["head_dim"]

    def w(name):
        return widened(np.asarray(weights[name])).astype(np.float64)

    angles = np.arange(len(tokens))[:, None] * frequencies(config["rope_parameters"], width)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]

    def turned(heads):
        first, second = heads[..., : width // 2], heads[..., width // 2 :]
        return np.concatenate((first * cos - second * sin, second * cos + first * sin), -1)

    x = w("model.embed_tokens.weight")[tokens]
    for i in range(config["num_hidden_layers"]):
        def of(name):
            return w(f"model.layers.{i}.{name}.weight")

        h = norm(x, of("input_layernorm"), epsilon)
        q, k, v = ((h @ of(f"self_attn.{n}_proj").T).reshape(len(tokens), -1, width) for n in "qkv")
        if config["model_type"] == "qwen3":
            q, k = (norm(y, of(f"self_attn.{n}_norm"), epsilon) for y, n in ((q, "q"), (k, "k")))
        q, k = turned(q), turned(k)
        group = q.shape[1] // k.shape[1]
        k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
        scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(width)
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        x = x + np.einsum("hij,jhd->ihd", shares, v).reshape(len(tokens), -1) @ of("self_attn.o_proj").T
        h = norm(x, of("post_attention_layernorm"), epsilon)
        gate = h @ of("mlp.gate_proj").T
        x = x + (gate / (1 + np.exp(-gate)) * (h @ of("mlp.up_proj").T)) @ of("mlp.down_proj").T
    head = "model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"
    return norm(x, w("model.norm.weight"), epsilon) @ w(head).T


class LanguagePeer(unittest.TestCase):
    def check(self, case, folder, dtype, said_plainly=None):
        """`said_plainly`: a folder with the same model, as transformers writes it."""
        point = {"model": folder, "dtype": dtype, "prompt": PROMPT, "context": CONTEXT, "seed": 1}
        if case == "llm_decode":
            point["tokens"] = TOKENS
        workload = language.make(case, PROVIDER, point, 1)
        for slot in range(2):
            workload.load(slot, slot)
        for slot in (0, 1, 0):  # called more than once: caches must be what they were
            workload.call(slot)
        workload.load(1, JUDGED_SET)
        workload.poison_outputs()
        workload.call(1)
        got = workload.outputs()["logits"].astype(np.float64)
        is_decode = case == "llm_decode"
        tokens = workload.drawn("prompt", PROMPT, 0 if is_decode else JUDGED_SET)
        if is_decode:
            tokens = np.concatenate((tokens, workload.drawn("tokens", TOKENS, JUDGED_SET)))
        expected = logits(said_plainly or folder, tokens)[PROMPT if is_decode else PROMPT - 1 :]
        self.assertEqual(got.shape, expected.shape)
        size = np.sqrt((expected**2).mean())
        difference = np.abs(got - expected).max() / size
        print(f"{case} {os.path.basename(folder)} {dtype}: {difference:.1e}")
        self.assertLessEqual(difference, RELATIVE[dtype])

    def test_answers(self):
        for case in ("llm_prefill", "llm_decode", "llm_prefill_sequential"):
            for family in FAMILIES:
                for dtype in DTYPES:
                    if COMPILES_FOR_LONG and case == "llm_prefill_sequential":
                        continue  # the same program as llm_decode's
                    with self.subTest(case=case, family=family, dtype=dtype):
                        self.check(case, folder_of(family, dtype), dtype)

    @unittest.skipIf(COMPILES_FOR_LONG, "hf-eager reads the same")
    def test_rotary_embeddings_in_both_layouts(self):
        for family in FAMILIES:
            for rope in ROPES:
                plain = folder_with(family, as_transformers_writes, rope)
                for folder in (plain, folder_with(family, as_published, rope)):
                    with self.subTest(folder=folder):
                        if (PROVIDER, family, rope["rope_type"]) == ("llama-cpp", "qwen3", "llama3"):
                            self.check_refusal(folder, "llama3 of models of llama, not qwen3")
                        else:
                            self.check("llm_prefill", folder, "f32", plain)

    @unittest.skipUnless(PROVIDER in ("llama-cpp", "onnxruntime"), "transformers knows them all")
    def test_other_rotary_embeddings_are_refused_by_name(self):
        for layout in (as_transformers_writes, as_published):
            rope = {"rope_theta": 500.0, "rope_type": "dynamic", "factor": 2.0}
            self.check_refusal(folder_with("llama", layout, rope), "not dynamic")

    def check_refusal(self, folder, word):
        point = {"model": folder, "dtype": "f32", "prompt": PROMPT, "context": CONTEXT, "seed": 1}
        with self.assertRaisesRegex(ProviderFailure, word) as caught:
            language.make("llm_prefill", PROVIDER, point, 1)
        self.assertEqual((caught.exception.status, caught.exception.code), ("skipped", "provider_not_applicable"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
