# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A folder with a model of Llama's or Qwen3's family as a GGUF file, without a tokenizer."""

import glob
import json
import os

import gguf
import numpy as np

from assay_worker import safetensors
from assay_worker.language import slowed_down

TYPES = {
    "f32": gguf.GGMLQuantizationType.F32,
    "f16": gguf.GGMLQuantizationType.F16,
    "bf16": gguf.GGMLQuantizationType.BF16,
}
LAYER_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip
OTHER_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}  # fmt: skip


def gguf_name(name):
    if name in OTHER_NAMES:
        return OTHER_NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[rest.removesuffix('.weight')]}.weight"


def widened(array):
    """Brain floats are ndarrays of uint16."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return array.astype(np.float32)


def interleaved(matrix, heads):
    """llama.cpp pairs neighbours where Llama's files pair the halves of a head."""
    rows = matrix.shape[0] // heads // 2
    return matrix.reshape(heads, 2, rows, -1).swapaxes(1, 2).reshape(matrix.shape)


def write_gguf(folder, dtype, path):
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    family, rope = config["model_type"], config["rope_parameters"]
    heads, kv_heads, width = (config[k] for k in ("num_attention_heads", "num_key_value_heads", "head_dim"))
    writer = gguf.GGUFWriter(path, family)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("none")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(width)
    writer.add_value_length(width)
    writer.add_rope_dimension_count(width)
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    if rope["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", slowed_down(rope, width))
    for shard in sorted(glob.glob(os.path.join(glob.escape(folder), "*.safetensors"))):
        for name, array in safetensors.read(shard).items():
            if family == "llama" and name.endswith((".q_proj.weight", ".k_proj.weight")):
                array = interleaved(array, heads if ".q_proj." in name else kv_heads)
            if array.ndim == 1:  # norms, which llama.cpp wants in f32
                writer.add_tensor(gguf_name(name), widened(array))
                continue
            # Shape in elements and the type in words: GGUF knows brain floats, NumPy does not.
            writer.add_tensor(gguf_name(name), array.view(np.uint8), raw_dtype=TYPES[dtype])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_file(folder, dtype):
    """Beside the folder, made once."""
    path = f"{os.path.normpath(folder)}.gguf"
    if not os.path.exists(path):
        temporary = f"{path}.{os.getpid()}"
        write_gguf(folder, dtype, temporary)
        os.replace(temporary, path)
    return path
