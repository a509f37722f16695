# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Tokenizers of PyPI's tokenizers in the styles of the models people have, trained here on any text.

Each is what the model's own tokenizer.json is but for its vocabulary: normaliser, pre-tokeniser, model
options, added tokens, post-processor and decoder.
"""

import pathlib
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# From every plane that has characters, by script.
ALPHABETS = [
    (0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0xC0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA),
    (0x620, 0x64A), (0x905, 0x939), (0xE01, 0xE3A), (0x1100, 0x11FF), (0x3041, 0x3096), (0x30A1, 0x30FA),
    (0x4E00, 0x4E80), (0xAC00, 0xAC80), (0x1D400, 0x1D433), (0x1F600, 0x1F64F), (0x20000, 0x20010),
]  # fmt: skip


def text(root):
    """Lines to train on: the repository's documents, and words of many scripts by chance."""
    lines = []
    for path in sorted(pathlib.Path(root).glob("docs/**/*.md")):
        lines += path.read_text().splitlines(keepends=True)
    chance = random.Random(1)
    words = []
    for first, last in ALPHABETS:
        letters = [chr(chance.randint(first, last)) for _ in range(12)]
        words += ["".join(chance.choices(letters, k=chance.randint(1, 6))) for _ in range(40)]
    for _ in range(2000):
        lines.append(chance.choice(["", " ", "  ", "\t"]).join(chance.choices(words, k=8)) + "\n")
    return lines


def byte_level(pattern, behavior="isolated"):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), behavior=behavior, invert=False),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False),
    ])  # fmt: skip


def train(tokenizer, root, size=3000, alphabet=None, special=()):
    trainer = trainers.BpeTrainer(
        vocab_size=size, show_progress=False, special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet is None else alphabet,
    )  # fmt: skip
    tokenizer.train_from_iterator(text(root), trainer)
    return tokenizer


def special(*names):
    return [AddedToken(name, special=True, normalized=False) for name in names]


def llama3(root):
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = byte_level(LLAMA3)
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, root)
    tokenizer.add_special_tokens(special(
        "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"))  # fmt: skip
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(
            single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
            special_tokens=[("<|begin_of_text|>", tokenizer.token_to_id("<|begin_of_text|>"))]),
    ])  # fmt: skip
    return tokenizer


def qwen3(root):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = byte_level(QWEN)
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, root)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens(special("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    tokenizer.add_tokens([AddedToken(name, normalized=False) for name in (
        "<tool_call>", "</tool_call>", "<think>", "</think>")])  # fmt: skip
    return tokenizer


def gemma3(root):
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", behavior="merged_with_previous", invert=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    names = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", *(f"<0x{byte:02X}>" for byte in range(256))]
    # Words, so that training ends; whole lines are encoded without.
    splitter = tokenizer.pre_tokenizer
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", behavior="merged_with_next", invert=False)
    train(tokenizer, root, alphabet=[], special=names)
    tokenizer.pre_tokenizer = splitter
    tokenizer.add_tokens([AddedToken("▁" * n, normalized=False) for n in range(2, 8)])
    tokenizer.add_tokens([AddedToken("\n" * n, normalized=False) for n in range(2, 8)])
    tokenizer.add_special_tokens(special("<start_of_turn>", "<end_of_turn>"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A", pair="<bos> $A <bos>:1 $B:1",
        special_tokens=[("<bos>", tokenizer.token_to_id("<bos>"))])  # fmt: skip
    return tokenizer


def gpt2(root):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    train(tokenizer, root)
    tokenizer.add_special_tokens(special("<|endoftext|>"))
    return tokenizer


def o200k(root):
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = byte_level(O200K)
    tokenizer.decoder = decoders.ByteLevel()
    return train(tokenizer, root)


def deepseek(root):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"),
        pre_tokenizers.Split(Regex("[一-龥\u3040-\u309f\u30a0-\u30ff]+"), "isolated"),
        pre_tokenizers.Split(Regex(DEEPSEEK), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])  # fmt: skip
    tokenizer.decoder = decoders.ByteLevel()
    return train(tokenizer, root)


def llama2(root):
    """Its decoder strips; unknown characters are left to one token each."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])  # fmt: skip
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    train(tokenizer, root, alphabet=[], special=["<unk>", "<s>", "</s>"])
    tokenizer.pre_tokenizer = None
    return tokenizer


def odd(root, number):
    """What no model has all at once."""
    tokenizer = Tokenizer(models.BPE(
        byte_fallback=number % 2 == 0, fuse_unk=number % 3 == 0, unk_token="<unk>" if number % 4 else None))  # fmt: skip
    steps = [pre_tokenizers.Digits(individual_digits=number % 2 == 1)]
    behaviors = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    behavior = behaviors[number % 5]
    patterns = [Regex(r"\s"), Regex(r"\w{2,3}?"), "a",
                Regex(r"(?:ab|a)*+."), Regex(r"(?=(\d{3})+(?!\d))|x*"), Regex(r"\P{L}+|(?>a+)b"), Regex(r"[^\S\n]")]  # fmt: skip
    steps.append(pre_tokenizers.Split(patterns[number % 7], behavior, invert=number % 3 == 1))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFC(), normalizers.Replace(Regex(r"e+|\p{Mn}"), "é"), normalizers.Prepend("_")][: number % 4])  # fmt: skip
    train(tokenizer, root, alphabet=[], special=["<unk>", "<0x61>", "<0xC3>", "<0xA9>", *(f"<0x{b:02X}>" for b in range(256))][: 4 if number % 3 else 400])  # fmt: skip
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    flags = [dict(lstrip=bool(i & 1), rstrip=bool(i & 2), single_word=bool(i & 4), normalized=bool(i & 8))
             for i in range(16)]  # fmt: skip
    names = ["[A]", "ee", "<é>", "  ", "word", "he", "the", "\n", "[AB]", "[", "ё", "e\u0301x", "XYZ", "12", "■", "_q"]
    for name, flag in zip(names, flags[number % 16 :] + flags[: number % 16]):
        tokenizer.add_tokens([AddedToken(name, special=len(name) % 2 == 0, **flag)])
    tokenizer.decoder = [
        None, decoders.Metaspace("_", prepend_scheme="always"), decoders.Metaspace("e", prepend_scheme="never"),
        decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(), decoders.Replace("th", "TH")]),
        decoders.Sequence([decoders.Strip("e", 2, 0), decoders.Replace(Regex("[aeiou]+"), "<>"), decoders.ByteLevel()]),
    ][number % 5]  # fmt: skip
    return tokenizer


def all_styles(root, odds):
    styles = {f.__name__: f(root) for f in (llama3, qwen3, gemma3, gpt2, o200k, deepseek, llama2)}
    for number in range(odds):
        styles[f"odd{number}"] = odd(root, number)
    return styles
