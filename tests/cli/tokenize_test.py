# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay llm tokenize and train-tokenizer as a user types them."""

import json
import os

from assay_cli import CliTest, main


class TokenizeTest(CliTest):
    def setUp(self):
        super().setUp()
        self.run_ok(
            "llm", "train-tokenizer", "--out", "tiny", "--vocabulary", "600", "--special", "<s>,</s>", "--begin", "<s>")  # fmt: skip

    def test_there_and_back(self):
        text = "Where there's a clock,\n\n there is 12345 — émoji 🙂."
        ids = self.run_ok("llm", "tokenize", "--model", "tiny", "--text", text).stdout.split()
        self.assertEqual(ids[0], "600")
        back = self.run_ok("llm", "tokenize", "--model", "tiny", "--decode", " ".join(ids), "--no-special").stdout
        self.assertEqual(back, text + "\n")
        back = self.run_ok("llm", "tokenize", "--model", "tiny/tokenizer.json", "--decode", ",".join(ids)).stdout
        self.assertEqual(back, "<s>" + text + "\n")
        plain = self.run_ok("llm", "tokenize", "--model", "tiny", "--text", text, "--no-special").stdout.split()
        self.assertEqual(plain, ids[1:])

    def test_standard_input_and_json(self):
        answer = json.loads(self.run_ok("llm", "tokenize", "--model", "tiny", "--json", input="the the</s>").stdout)
        self.assertEqual(answer["count"], len(answer["ids"]))
        self.assertEqual(answer["tokens"][0], "<s>")
        self.assertEqual(answer["tokens"][-1], "</s>")
        self.assertEqual("".join(answer["tokens"][1:-1]), "theĠthe")
        decoded = json.loads(self.run_ok("llm", "tokenize", "--model", "tiny", "--json", "--decode", "601").stdout)
        self.assertEqual(decoded, {"ids": [601], "text": "</s>"})

    def test_lines(self):
        texts = ["a", "", "line\nof\0text", "é" * 50]
        lines = "".join(json.dumps(text) + "\n" for text in texts)
        ids = self.run_ok("llm", "tokenize", "--model", "tiny", "--lines", "--no-special", input=lines).stdout
        back = self.run_ok("llm", "tokenize", "--model", "tiny", "--lines", input=ids).stdout
        self.assertEqual([json.loads(line) for line in back.split("\n")[:-1]], texts)

    def refused(self, *arguments, **options):
        result = self.assay("llm", *arguments, **options)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def test_what_is_wrong_is_named(self):
        tokenize = ("tokenize", "--model", "tiny")
        self.assertIn("ids of tokens, got 'x'", self.refused(*tokenize, "--decode", "1 x"))
        self.assertIn("no token has the id 602", self.refused(*tokenize, "--decode", "602"))
        self.assertIn("nowhere", self.refused("tokenize", "--model", "nowhere", "--text", "a"))
        self.assertIn("line 2: ", self.refused(*tokenize, "--lines", input='"a"\n{\n'))
        self.assertIn("ids below 602, got 602", self.refused(*tokenize, "--lines", input="[1, 602]\n"))
        self.assertIn("got {}", self.refused(*tokenize, "--lines", input="{}\n"))
        bad = os.fsdecode(b"ab\xff")
        self.assertIn("text: not UTF-8 at byte 2: 0xff", self.refused(*tokenize, "--text", bad))
        self.write("broken.json", self.read("tiny/tokenizer.json")[:2000])
        self.assertIn("broken.json: ", self.refused("tokenize", "--model", "broken.json", "--text", "a"))
        unknown = json.loads(self.read("tiny/tokenizer.json"))
        unknown["normalizer"] = {"type": "Lowercase"}
        self.write("lower.json", json.dumps(unknown))
        self.assertIn(
            'lower.json: normalizer.type: expected NFC, Replace, Prepend or Sequence, got "Lowercase"',
            self.refused("tokenize", "--model", "lower.json", "--text", "a"))  # fmt: skip
        self.assertIn("--style", self.refused("train-tokenizer", "--out", "x", "--style", "gpt5"))
        self.assertIn("from 256 to", self.refused("train-tokenizer", "--out", "x", "--vocabulary", "10"))

    def test_training_is_the_same_everywhere(self):
        self.write("corpus.txt", "the cat sat on the mat, the cat sat there\n" * 3)
        for folder in ("one", "two"):
            self.run_ok(
                "llm", "train-tokenizer", "--out", folder, "--text", "corpus.txt", "--vocabulary", "270",
                "--style", "qwen3")  # fmt: skip
        self.assertEqual(self.read("one/tokenizer.json"), self.read("two/tokenizer.json"))
        tokens = json.loads(self.run_ok("llm", "tokenize", "--model", "one", "--json", "--text", " the cat").stdout)
        self.assertEqual(tokens["tokens"], ["Ġthe", "Ġcat"])


if __name__ == "__main__":
    main()
