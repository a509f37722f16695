# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A folder with a model of Llama's or Qwen3's family as a GGUF file, without a tokenizer."""

import contextlib
import glob
import hashlib
import os
import tempfile

import gguf
import numpy as np

from assay_worker import safetensors
from assay_worker.language_config import read_config, slowed_down
from assay_worker.workload import ProviderFailure

FILE_VERSION = 1  # counts changes of what write_gguf() makes of the same folder
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


def shards_of(folder):
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.safetensors")))


def write_gguf(folder, dtype, path):
    config = read_config(folder)
    family, rope = config["model_type"], config["rope_parameters"]
    heads, kv_heads, width = (config[k] for k in ("num_attention_heads", "num_key_value_heads", "head_dim"))
    if family != "llama" and rope["rope_type"] == "llama3":
        message = f"llama.cpp takes rope_type llama3 of models of llama, not {family}"
        raise ProviderFailure("skipped", "provider_not_applicable", message)
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
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", slowed_down(rope, width).astype(np.float32))
    for shard in shards_of(folder):
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


def made_of(folder, dtype):
    """Another word for other files, and for another dtype."""
    parts = [FILE_VERSION, dtype]
    for path in (os.path.join(folder, "config.json"), *shards_of(folder)):
        status = os.stat(path)
        parts += [os.path.basename(path), status.st_size, status.st_mtime_ns]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def gguf_file(folder, dtype):
    """Beside the folder; made anew when the folder has changed."""
    beside = f"{os.path.abspath(folder)}.assay-"
    path = f"{beside}{made_of(folder, dtype)}.gguf"
    if os.path.exists(path):
        return path
    # Whole or not there, and of one process each: others may be making the same.
    with tempfile.TemporaryDirectory(prefix=os.path.basename(beside), dir=os.path.dirname(beside)) as made:
        unfinished = os.path.join(made, "gguf")
        write_gguf(folder, dtype, unfinished)
        os.replace(unfinished, path)
    for other in glob.glob(f"{glob.escape(beside)}*.gguf"):
        if other != path:
            with contextlib.suppress(FileNotFoundError):  # another process was first
                os.remove(other)
    return path
