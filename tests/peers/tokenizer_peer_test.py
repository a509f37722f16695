# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay llm tokenize against PyPI's tokenizers: python3 tokenizer_peer_test.py ASSAY ROOT COUNT

COUNT random and hostile texts in each style of tokenizer.json, both directions, byte for byte; what is learned from
a text; and, with many, every code point there is. Exits 77, saying why, where there is no tokenizers.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

ASSAY, ROOT, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
del sys.argv[1:4]
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# tokenizers panics on some texts where added tokens strip each other, and Rust would say so at length.
os.environ["RUST_BACKTRACE"] = "0"
peers = os.path.join(os.environ.get("ASSAY_PEERS") or os.path.join(ROOT, ".peers"), "bin/python3")
try:
    import tokenizers
except ModuleNotFoundError:
    if os.access(peers, os.X_OK) and os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(os.path.dirname(peers))):
        os.execv(peers, [peers, __file__, ASSAY, ROOT, str(COUNT)])
    print(f"skipped: no module tokenizers in {peers} or {sys.executable}; `make peers-llm` installs it")
    sys.exit(77)

import tokenizer_strings
import tokenizer_styles
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

MANY = 50_000


def ours(path, values, *options):
    """The command's answers to each value, texts or lists of ids."""
    result = subprocess.run(
        [ASSAY, "llm", "tokenize", "--model", path, "--lines", *options],
        input="".join(json.dumps(value) + "\n" for value in values), capture_output=True, text=True, timeout=3000,
    )  # fmt: skip
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return [json.loads(line) for line in result.stdout.split("\n")[:-1]]


def theirs(function, values):
    """Their answers; None where they panic."""
    answers = []
    for value in values:
        try:
            answers.append(function(value))
        except BaseException as error:  # a panic is no Exception
            if "Panic" not in type(error).__name__:
                raise
            answers.append(None)
    return answers


class TokenizerPeerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def save(self, tokenizer, name):
        path = os.path.join(self.folder, name + ".json")
        tokenizer.save(path)
        return path

    def assert_same(self, style, inputs, own, other):
        self.assertEqual(len(own), len(other))
        for value, a, b in zip(inputs, own, other):
            if b is not None and a != b:
                self.fail(f"{style}: {ascii(value)}\nassay:      {ascii(a)}\ntokenizers: {ascii(b)}")
        self.assertLess(other.count(None), len(other) // 20 + 1, f"{style}: they panic too often to compare")

    def check(self, style, tokenizer, count):
        path = self.save(tokenizer, style)
        texts = list(tokenizer_strings.strings(count, seed=style))
        encoded = theirs(lambda text: tokenizer.encode(text).ids, texts)
        self.assert_same(style, texts, ours(path, texts), encoded)
        plain = theirs(lambda text: tokenizer.encode(text, add_special_tokens=False).ids, texts)
        self.assert_same(style, texts, ours(path, texts, "--no-special"), plain)
        chance = random.Random(style)
        size = tokenizer.get_vocab_size()
        ids = [each for each in encoded if each is not None]
        ids += [[chance.randrange(size) for _ in range(chance.randint(0, 20))] for _ in range(count // 4)]
        for options, skip in ((["--no-special"], True), ([], False)):
            decoded = theirs(lambda each, skip=skip: tokenizer.decode(each, skip_special_tokens=skip), ids)
            self.assert_same(style, ids, ours(path, ids, *options), decoded)

    def test_styles_of_models(self):
        for name in ("llama3", "qwen3", "gemma3", "gpt2", "o200k", "deepseek", "llama2"):
            with self.subTest(name):
                many = name in ("llama3", "qwen3", "gemma3")
                self.check(name, getattr(tokenizer_styles, name)(ROOT), COUNT if many else COUNT // 4)

    def test_options_in_all_combinations(self):
        for number in range(20 if COUNT >= MANY else 4):
            with self.subTest(number):
                self.check(f"odd{number}", tokenizer_styles.odd(ROOT, number), min(COUNT, 3000))

    def test_learning(self):
        lines = tokenizer_styles.text(ROOT)
        text = os.path.join(self.folder, "text.txt")
        with open(text, "w", newline="") as file:
            file.write("".join(lines))
        out = os.path.join(self.folder, "learned")
        subprocess.run([ASSAY, "llm", "train-tokenizer", "--out", out, "--text", text, "--vocabulary", "3000"], check=True)
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = tokenizer_styles.byte_level(tokenizer_styles.LLAMA3)
        trainer = trainers.BpeTrainer(
            vocab_size=3000, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())  # fmt: skip
        tokenizer.train_from_iterator(["".join(lines)], trainer)
        with open(os.path.join(out, "tokenizer.json")) as file:
            learned = json.load(file)["model"]
        expected = json.loads(tokenizer.to_str())["model"]
        self.assertEqual(learned["vocab"], expected["vocab"])
        self.assertEqual(learned["merges"], expected["merges"])
        # And tokenizers reads the file.
        texts = list(tokenizer_strings.strings(300, seed=1))
        read = Tokenizer.from_file(os.path.join(out, "tokenizer.json"))
        self.assertEqual(ours(out, texts), [read.encode(text).ids for text in texts])

    def test_every_code_point(self):
        characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
        if COUNT < MANY:
            characters = random.Random(COUNT).sample(characters, 3000) + characters[:0x600]
        # Which of them a class has is seen in what is replaced; what is not is no token, and left out.
        classes = [f"\\p{{{name}}}" for name in (
            "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn L M N P S Z C").split()]  # fmt: skip
        classes += [r"\s", r"\d", r"\w", r"\S", r"\P{L}", "."]
        texts = ["".join(f"<{c}>" for c in characters[k : k + 64]) for k in range(0, len(characters), 64)]
        for each in classes:
            tokenizer = Tokenizer(models.BPE(vocab={"<": 0, "#": 1, ">": 2}, merges=[]))
            tokenizer.normalizer = normalizers.Replace(Regex(f"<{each}>"), "#")
            path = self.save(tokenizer, "class")
            self.assert_same(each, texts, ours(path, texts), [tokenizer.encode(text).ids for text in texts])
        # Marks in and out of order around each character.
        tokenizer = Tokenizer(models.BPE())
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])  # fmt: skip
        tokenizer_styles.train(tokenizer, ROOT, 600)
        tokenizer.add_tokens([tokenizers.AddedToken("QQ", single_word=True, normalized=False)])
        tokenizer.add_tokens([tokenizers.AddedToken("ZZ", lstrip=True, rstrip=True, normalized=False)])
        path = self.save(tokenizer, "marks")
        texts = [f"e\u0315{c}\u0300\u0327 {c}1 {c}\u0301 x{c}QQ QQ{c} {c}ZZ{c}x" for c in characters]
        own = ours(path, texts)
        self.assert_same("marks", texts, own, theirs(lambda text: tokenizer.encode(text).ids, texts))


if __name__ == "__main__":
    unittest.main()
