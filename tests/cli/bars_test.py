# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay bars`: what it prints, how it exits, and that docs/performance.md is made of the rows beside it."""

import gzip
import json
import os

from assay_cli import ROOT, CliTest, main
from journals import journal, row

BARS = """
title = "Ours"
[[table]]
title = "Products"
case = "matmul"
provider = "simd"
[[table.bar]]
what = "against naive"
over = {{provider = "naive"}}
at_most = {limit}
"""


class Bars(CliTest):
    def setUp(self):
        super().setUp()
        rows = [row("20260101T000000.000000Z-aaaaaaa", provider, r, time * (1 + 0.001 * (r % 3) * (provider == "simd"))) for r in range(10)
                for provider, time in (("naive", 2e-3), ("simd", 1e-3))]  # fmt: skip
        self.write("rows.jsonl.gz", gzip.compress(journal(rows)))

    def bars(self, limit, *flags):
        self.write("bars.toml", BARS.format(limit=limit))
        return self.assay("bars", "bars.toml", "rows.jsonl.gz", *flags)

    def test_strict_says_by_its_exit_status_how_bars_stand(self):
        for limit, word, status in ((0.6, "met", 0), (0.4, "missed", 1), (0.5005, "open", 3)):
            result = self.bars(limit)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(word, result.stdout)
            self.assertEqual(self.bars(limit, "--strict").returncode, status)
        self.write("wrong.jsonl", journal([row("20260102T000000.000000Z-bbbbbbb", "simd", 0, 1e-3, status="wrong_result")]))
        self.assertEqual(self.assay("bars", "bars.toml", "rows.jsonl.gz", "wrong.jsonl", "--strict").returncode, 4)

    def test_json_and_markdown(self):
        (bar,) = json.loads(self.bars(0.4, "--json").stdout)["bars"]
        self.assertEqual(bar["verdict"], "missed")
        self.assertAlmostEqual(bar["figures"][0]["value"], 0.5, delta=2e-3)
        page = self.bars(0.4, "--markdown").stdout
        self.assertIn("## Missed", page)
        self.assertEqual(self.bars(0.4, "--markdown", "--out", "page.md").returncode, 0)
        self.assertEqual(self.read("page.md").decode(), page)

    def test_mistakes_are_named(self):
        for text, words in (("titel = 1", "title: missing key"), ("title = \"x\"", "there is none"), ("][", "not valid TOML")):
            self.write("bad.toml", text)
            result = self.assay("bars", "bad.toml", "rows.jsonl.gz")
            self.assertEqual(result.returncode, 2, text)
            self.assertIn(words, result.stderr)
        self.write("bars.toml", BARS.format(limit=1).replace('"matmul"', '"matmull"'))
        unknown = self.assay("bars", "bars.toml", "rows.jsonl.gz")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("no case 'matmull'", unknown.stderr)
        self.write("torn.jsonl.gz", gzip.compress(journal([row("20260101T000000.000000Z-aaaaaaa", "simd", 0, 1e-3)]))[:-9])
        self.write("bars.toml", BARS.format(limit=1))
        torn = self.assay("bars", "bars.toml", "torn.jsonl.gz")
        self.assertEqual(torn.returncode, 2)
        self.assertIn("torn.jsonl.gz: not whole, or damaged", torn.stderr)
        self.write("bomb.jsonl.gz", gzip.compress(bytes(80 << 20)))
        self.assertIn("times its size", self.assay("bars", "bars.toml", "bomb.jsonl.gz").stderr)
        self.write("none.jsonl.gz", b"")
        self.assertIn("not gzip: 'none.jsonl.gz'", self.assay("bars", "bars.toml", "none.jsonl.gz").stderr)
        self.assertEqual(self.assay("bars", "bars.toml", "nowhere.jsonl").returncode, 2)
        for flag in ("--out", "--resume"):
            refused = self.assay("run", *(["harness_spin", "--quick"] if flag == "--out" else []), flag, "rows.jsonl.gz")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("a run writes plain journals", refused.stderr)

    def test_the_page_is_made_of_its_rows(self):
        docs = os.path.join(ROOT, "docs")
        made = self.assay("bars", f"{docs}/bars.toml", f"{docs}/performance", "--markdown")
        self.assertEqual(made.returncode, 0, made.stderr)
        with open(f"{docs}/performance.md") as page:
            self.assertEqual(page.read(), made.stdout, "`make performance` makes it anew")


if __name__ == "__main__":
    main()
