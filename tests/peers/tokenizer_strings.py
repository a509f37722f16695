# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Random and hostile texts for tokenizers."""

import random

PIECES = [
    "", " ", "  ", "   ", "\t", "\n", "\r\n", "\r", "\n\n\n", "\v\f", "\0", "\x85", "\u00a0", "\u2028", "\u3000", "\u200b",
    "\ufeff", "\ufffd", "\ufffe", "\U0010ffff", "▁", "▁▁", "'s", "'S", "'ſ", "'ll", "'RE", "'Ve", "K", "'", "''", "1234567",
    "3.14", "²½Ⅷ", "٣٤٥", "𝟘𝟙", "über", "e\u0301", "e\u0327\u0301", "\u0301", "\u0344", "\u1e9b\u0323", "각", "\u1100\u1161\u11a8",
    "\uac00\u11a8", "가\u1161", "Å", "\u212b", "क्षि", "ศิลปะ", "日本語", "漢字かな", "🙂", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪",
    "שָׁלוֹם", "السَّلَامُ", "ﷺ", "ﬁ", "ß", "ẞ", "İ", "ǅ", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>",
    "<|eot_id|>", "<start_of_turn>", "<bos>", "<unk>", "<0x41>", "<think>", "</think>", "<|im_", "|>", "[A]", "[AB]", "word",
    "the", "he", "hello", "HeLLo", "world", "XYZ", "12", "■", "_q", "_", "ee", "<é>", "e\u0301x", "ё", "th", "TH", "x", "aab", "ab",
    "def f(x):\n    return x", "{\"a\": [1, 2]}", "http://a.b/c?d=e&f", "$x_1^2$", "—", "…", "“q”", "!!!", "?!", "#", "\\", "//",
    "\u0378", "\u0e3a", "\U000e0001", "\U000f0000", "\U0001faf8", "\U0001fae9", "\u1c89", "\U00010d4a", "\U000323b0", "\U00011938",
    "\u08d3", "\u0eba", "\U00011de0", "\u16ff",
]  # fmt: skip
PLANES = [(0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x1FFFF), (0x20000, 0x3FFFF),
          (0xE0000, 0x10FFFF)]  # fmt: skip
MARKS = [*range(0x300, 0x370), *range(0x591, 0x5C8), *range(0x64B, 0x660), *range(0x1DC0, 0x1E00), 0x3099, 0x309A]


def strings(count, seed):
    chance = random.Random(seed)
    for _ in range(count):
        kind = chance.random()
        if kind < 0.5:
            separator = chance.choice(["", "", " ", "  ", "\n"])
            yield separator.join(chance.choices(PIECES, k=chance.randint(0, 12)))
        elif kind < 0.65:  # any code points, of one plane or of all
            planes = PLANES if chance.random() < 0.5 else [chance.choice(PLANES)]
            yield "".join(chr(chance.randint(*chance.choice(planes))) for _ in range(chance.randint(0, 30)))
        elif kind < 0.75:  # letters with many marks
            base = chance.choices("aeioucnsAEÅки각かक", k=chance.randint(1, 5))
            yield "".join(c + "".join(map(chr, chance.choices(MARKS, k=chance.randint(0, 4)))) for c in base)
        elif kind < 0.85:  # long runs
            pieces = [chance.choice(PIECES) * chance.randint(1, 40) for _ in range(chance.randint(1, 3))]
            yield "".join(pieces)
        elif kind < 0.95:  # ASCII noise
            yield "".join(chr(chance.randint(0, 127)) for _ in range(chance.randint(0, 60)))
        else:
            words = chance.choices(PIECES, k=chance.randint(20, 80))
            yield " ".join(words)
