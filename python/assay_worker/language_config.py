# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""config.json of Llama and Qwen3, in one form whoever wrote it."""

import json
import math
import os

import numpy as np

from assay_worker.workload import ProviderFailure

ROPE_TYPES = ("default", "linear", "llama3")


def read_config(folder):
    """As transformers 5 writes it, with what a file may leave out.

    Published files have rope_theta and rope_scaling beside the rest, and often no head_dim.
    """
    with open(os.path.join(folder, "config.json")) as file:
        config = {key: value for key, value in json.load(file).items() if value is not None}
    heads = config["num_attention_heads"]
    usual = {
        "num_key_value_heads": heads,
        "head_dim": 128 if config["model_type"] == "qwen3" else config["hidden_size"] // heads,
        "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False,
    }
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    usual_rope = {"rope_theta": config.get("rope_theta", 10000.0), "rope_type": rope.get("type", "default")}
    rope = usual_rope | rope
    if rope["rope_type"] not in ROPE_TYPES:
        message = f"models of rope_type {', '.join(ROPE_TYPES)} are written for it, not {rope['rope_type']}"
        raise ProviderFailure("skipped", "provider_not_applicable", message)
    return usual | config | {"rope_parameters": rope}


def slowed_down(rope, width):
    """By how much each pair of a head turns slower than the base says."""
    pairs = np.arange(width // 2)
    if rope["rope_type"] == "default":
        return np.ones(len(pairs))
    if rope["rope_type"] == "linear":
        return np.full(len(pairs), float(rope["factor"]))
    frequencies = rope["rope_theta"] ** (-2 * pairs / width)  # Llama 3.1
    waves = rope["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    kept = np.clip((waves - low) / (high - low), 0, 1)
    return 1 / (kept + (1 - kept) / rope["factor"])
