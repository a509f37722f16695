# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What a reader meets first on the page: nothing that is beside the point, looks and labels that can be
told apart, links, and two runs beside each other."""

import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

from browser import Browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
from journals import journal, row  # noqa: E402

ASSAY = sys.argv[1]
sys.argv[1:3] = []

HERE, ELSEWHERE = "0123456789abcdef", "fedcba9876543210"
MANY = [f"variant-{i:02}" for i in range(70)]
CEILINGS = {
    "fma_f32": 86e9, "fma_f64": 43e9, "exp_f32": 3e9, "add_max_f32": 43e9, "triad": 18e9, "read_16384": 190e9,
    "read_262144": 120e9, "read_1048576": 80e9, "read_4194304": 60e9, "read_134217728": 20e9,
}  # fmt: skip


def commit(i):
    return hashlib.sha1(str(i).encode()).hexdigest()


def run_id(i):
    return f"202601{1 + i // 2:02}T{10 + i % 2:02}0000.000000Z-{commit(i)[:7]}"


def attempts(run, provider, time, n=128, count=6, seed=0, case="matmul", baseline="reference", fingerprint=HERE, status="ok",
             **more):
    """Rows with half a per cent of scatter, the same in every test."""
    for i in range(count):
        t = time * (1 + 0.005 * math.sin(2.4 * i + len(provider)))
        one = row(run_id(run), provider, i, t, status=status, case=case, commit=commit(run),
                  point={"dtype": "f32", "n": n, "seed": seed, **more}, machine={"fingerprint": fingerprint})  # fmt: skip
        one["provenance"].update(baseline=baseline, time_start=f"2026-01-{1 + run // 2:02}T{10 + run % 2:02}:00:00Z")
        if status == "ok":
            one["work"] = {"flops": 2.0 * n**3, "bytes": 12.0 * n**2}
            one["metrics"].update(flop_rate=2 * n**3 / t, peak_rss_steady=1e7)
        yield one


def laboratory():
    yield from attempts(0, "reference", 1e-3, case="elsewhere", fingerprint=ELSEWHERE, count=1)
    for i in range(40):  # the last but one is a tenth slower than the one before
        for provider, time in (("reference", 1e-3), ("fast", 1.1e-4 if i >= 38 else 1e-4)):
            yield from attempts(i, provider, time)
    for n in (64, 128, 256):  # the newest run that is about the cases
        yield from attempts(40, "reference", 1e-3 * (n / 128) ** 3, n)
        yield from attempts(40, "fast", 1e-4 * (n / 128) ** 3, n)
        yield from attempts(40, "too-fast", 1e-6 * (n / 128) ** 3, n)  # than the machine can be
        yield from attempts(40, "nowhere", 1, n, count=1, status="env_missing")
        for i, provider in enumerate(MANY):
            yield from attempts(40, provider, 1e-4 * (1 + 0.1 * i) * (n / 128) ** 3, n, count=2, case="many")
        yield from attempts(40, "reference", 1e-3 * (n / 128) ** 3, n, count=2, case="many")
    yield from attempts(40, "fast", 1e-4, 100, case="odd", k=7)  # a point that has what others have not
    for n in (64, 128, 256):
        yield from attempts(40, "fast", 1e-4 * n, n, case="odd")
    for seed in range(16):  # a thing against itself, newer than all
        for provider in ("fast", "fast@b"):
            yield from attempts(41, provider, 1e-4, seed=seed, baseline="fast", count=6)


def setUpModule():
    global FOLDER, PAGE, ENVIRONMENT
    FOLDER = tempfile.TemporaryDirectory(prefix="assay-reading-")
    machines = FOLDER.name + "/machines"
    ENVIRONMENT = {**os.environ, "ASSAY_MACHINE_DIR": machines}
    os.makedirs(f"{machines}/{HERE}")
    with open(f"{machines}/{HERE}/ceilings.json", "w") as file:
        json.dump({"measured": "2026-01-01T00:00:00Z", "machine": HERE, "instruction_set": "example",
                   "groups": [{"cores": 2, "clock_hz": 2.6e9, "rates": CEILINGS}]}, file)  # fmt: skip
    by_run = {}
    for one in laboratory():
        by_run.setdefault(one["run_id"], []).append(one)
    os.mkdir(FOLDER.name + "/rows")
    for name, rows in by_run.items():
        for order, one in enumerate(rows):
            one["order"] = order
        with open(f"{FOLDER.name}/rows/{name}.jsonl", "wb") as file:
            file.write(journal(rows))
    PAGE = FOLDER.name + "/site.html"
    subprocess.run([ASSAY, "site", FOLDER.name + "/rows", "--out", PAGE, "--commit-url",
                    "https://example.org/x?y=1&z=/commit/{commit}"], check=True, env=ENVIRONMENT)  # fmt: skip


def tearDownModule():
    FOLDER.cleanup()


class Reading(unittest.TestCase):
    width, height, phone = 1366, 900, False

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(False, cls.width, cls.height, cls.phone)
        cls.addClassCleanup(cls.browser.close)
        cls.browser.open("file://" + PAGE)

    def tearDown(self):
        self.assertEqual(self.browser.console, [])

    def go(self, fragment):
        self.browser.go(fragment)
        self.browser.draw_all()

    def run_(self, expression):
        return self.browser.run(expression)

    def texts(self, selector):
        return self.run_(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def assert_apart(self, selector, least):
        """Texts of a chart do not lie on one another."""
        boxes = self.run_(f"""[...document.querySelectorAll({json.dumps(selector)})].map(e => e.getBoundingClientRect())
            .map(r => [r.left, r.top, r.right, r.bottom])""")
        self.assertGreaterEqual(len(boxes), least)
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
                self.assertTrue(apart, (a, b))


class Laptop(Reading):
    def test_what_is_beside_the_point_is_shown_on_demand(self):
        for view in ("#/overview", "#/results", "#/case/matmul"):
            self.go(view)
            tables = " ".join(self.texts(".table, .tiles, .legend, .main-svg text"))
            self.assertNotIn("@b", tables, view)
            self.assertNotIn("nowhere", tables, view)
            (note,) = self.texts(".aside")
            self.assertIn("fast@b", note)
            self.assertIn("measured nowhere: nowhere", note)
        self.run_("document.querySelector('.aside button').click()")
        self.assertIn("all=1", self.run_("location.hash"))
        self.run_("document.querySelector('[data-table=r] input').focus()")
        self.browser.type("@b")
        self.assertTrue(any("fast@b" in text for text in self.texts("[data-table=r] tbody tr")))

    def test_a_comparison_with_itself_hides_no_result(self):
        self.go("#/case/matmul")
        self.assertEqual(self.texts(".lead strong"), ["reference"])
        rows = [text for text in self.texts("[data-table=r] tbody tr") if "n = 128" in text and text.count("fast")]
        self.assertTrue(any("faster" in text for text in rows), rows)
        self.assertFalse(any("seed" in text for text in self.texts("[data-table=r] tbody tr")))

    def test_the_parameter_drawn_first_is_a_size(self):
        for view, chart in (("#/case/matmul", "time"), ("#/sweep/matmul", "byrun")):
            self.go(view)
            self.assertEqual(self.run_("document.getElementById('x').value"), "n")
            self.assertNotIn("seed", self.run_("[...document.getElementById('x').options].map(o => o.value)"))
            points = self.run_(f"document.querySelector('[data-chart={chart}]').data.reduce((most, t) => Math.max(most, t.x.length), 0)")
            self.assertEqual(points, 3, view)

    def test_the_line_drawn_first_is_the_longest(self):
        for view, chart in (("#/case/odd", "time"), ("#/sweep/odd", "byrun")):
            self.go(view)
            self.assertEqual(self.run_(f"document.querySelector('[data-chart={chart}]').data[0].x.length"), 3, view)

    def test_no_two_series_look_alike(self):
        self.go("#/case/many")
        looks = self.run_("""[...document.querySelector('[data-chart=time]').parentElement.querySelectorAll('.legend svg')]
            .map(s => [...s.querySelectorAll('path')].map(p => ['d', 'fill', 'stroke-dasharray'].map(a => p.getAttribute(a)).join()).join())""")
        self.assertEqual(len(looks), 71)
        self.assertEqual(len(set(looks)), 71)
        drawn = self.run_("""document.querySelector('[data-chart=time]').data
            .map(t => [t.line.color, t.line.dash, t.marker.symbol].join())""")
        self.assertEqual(len(set(drawn)), 71)
        self.assertGreaterEqual(len({(colour, symbol) for colour, _, symbol in (one.split(",") for one in drawn)}), 64)

    def test_labels_of_forty_commits_are_apart(self):
        self.go("#/history/matmul")
        self.assertGreater(self.run_("document.querySelector('[data-chart=history]').data[0].x.length"), 39)
        self.assert_apart("[data-chart=history] .xtick text", 8)
        self.go("#/sweep/matmul?provider=fast&fix.n=128")
        self.assert_apart("[data-chart=across] .xtick text", 4)

    def test_the_roofline_speaks(self):
        self.go("#/roofline")
        self.assertEqual(self.run_("document.getElementById('machine').selectedOptions[0].textContent.slice(0, 2)"), "M2")
        labels = self.texts("[data-chart=roof] .annotation-text")
        for name in ("memory", "memory, reads alone", "1 MiB a core, cached", "multiply-add f32"):
            self.assertIn(name, labels)
        self.assertFalse(any("read_" in label or "fma" in label for label in labels))
        self.assert_apart("[data-chart=roof] .annotation-text", 8)
        self.assertIn("too-fast", self.texts("[data-chart=roof]")[0] + " ".join(self.texts(".legend .name")))
        note = " ".join(self.texts(".note"))
        self.assertIn("3 dots above the roof", note)
        self.assertIn("too-fast", note)
        hover = self.run_("document.querySelector('[data-chart=roof]').data.flatMap(t => t.text)")
        self.assertEqual(sum("above the roof" in text for text in hover), 3)

    def test_commits_are_links(self):
        for view in ("#/overview", "#/runs"):
            self.go(view)
            links = self.run_("""[...document.querySelectorAll('main a[target=_blank]')].map(a => [a.href, a.rel, a.textContent])""")
            self.assertTrue(links, view)
            for href, rel, text in links:
                self.assertRegex(href, r"^https://example\.org/x\?y=1&z=/commit/[0-9a-f]{40}$")
                self.assertIn(text, href)
                self.assertIn("noopener", rel)
        for template in ("javascript:alert(1)//{commit}", "https://x/\"onclick={commit}", "https://x/", "ftp://x/{commit}",
                         "https://x/{commit} y", "https://x/<{commit}>"):  # fmt: skip
            refused = subprocess.run([ASSAY, "site", FOLDER.name + "/rows", "--out", FOLDER.name + "/no.html", "--commit-url", template],
                                     capture_output=True, text=True, env=ENVIRONMENT)  # fmt: skip
            self.assertEqual(refused.returncode, 2, template)
            self.assertFalse(os.path.exists(FOLDER.name + "/no.html"))

    def test_run_against_run(self):
        self.go("#/runs")
        choice = lambda name: self.run_(f"document.getElementById('{name}').value")
        self.assertEqual(choice("to"), run_id(40))  # the newest is about the machine alone
        self.run_(f"""(() => {{ const s = document.getElementById('to'); s.value = {json.dumps(run_id(38))};
                      s.dispatchEvent(new Event('change')); }})()""")
        self.run_(f"""(() => {{ const s = document.getElementById('from'); s.value = {json.dumps(run_id(37))};
                      s.dispatchEvent(new Event('change')); }})()""")
        kept = self.run_("location.hash")
        fast = lambda: [text for text in self.texts("[data-table=pair] tbody tr") if "fast" in text][0]
        self.assertRegex(fast(), r"1\.10\d \[1\.0\d\d, 1\.1\d\d\]slower")
        self.assertIn("2 rows in both: 1 slower, 0 faster, 0 perhaps, 1 without a difference", " ".join(self.texts(".note")))
        compared = json.loads(subprocess.run([ASSAY, "compare", run_id(37), run_id(38), FOLDER.name + "/rows", "--json"],
                                             check=True, capture_output=True, text=True, env=ENVIRONMENT).stdout)  # fmt: skip
        theirs = [c for c in compared["comparisons"] if c["provider"] == "fast"][0]
        self.assertIn(f"{theirs['ratio']:.3f} [{theirs['low']:.3f}, {theirs['high']:.3f}]", fast())
        self.run_("document.querySelector('.swap').click()")
        self.assertRegex(fast(), r"0\.9\d\d \[0\.\d+, 0\.\d+\]faster")
        self.go("#/overview")
        self.go(kept)
        self.assertEqual((choice("from"), choice("to")), (run_id(37), run_id(38)))
        self.assertRegex(fast(), "slower")
        self.go(state := f"#/runs?from={run_id(3)}&to={run_id(39)}")  # any two
        self.assertRegex(fast(), "slower", state)


class Phone(Reading):
    width, height, phone = 390, 844, True

    def test_results_are_cards_with_their_verdict(self):
        for view, table in (("#/results", "all"), ("#/case/matmul", "r"), ("#/runs", "pair")):
            self.go(view)
            boxes = self.run_(f"""[...document.querySelectorAll('[data-table={table}] tbody tr')].map(r => {{
                const card = r.getBoundingClientRect(), v = r.querySelector('.card-verdict').getBoundingClientRect(),
                      p = r.querySelector('.card-head').getBoundingClientRect();
                return [v.left, v.right, Math.abs(v.top - p.top), v.height, card.height, r.querySelector('.card-verdict').textContent]; }})""")
            self.assertGreater(len(boxes), 0)
            for left, right, beside, height, card, text in boxes:
                self.assertGreaterEqual(left, 0)
                self.assertLessEqual(right, self.width)
                self.assertLess(beside, 8)
                self.assertGreater(height, 8)
                self.assertTrue(text)
        self.go("#/results")
        self.run_("""(() => { const s = document.querySelector('[data-table=all] .only-narrow select'); s.value = 'Ratio.u';
                     s.dispatchEvent(new Event('change')); })()""")
        self.assertIn("all.s=Ratio.u", self.run_("location.hash"))
        self.assertIn("too-fast", self.texts("[data-table=all] tbody tr")[0])

    def test_the_heat_map_can_be_read(self):
        self.go("#/case/matmul")
        cells = self.run_("""[...document.querySelectorAll('.heat td')].map(c => [c.textContent, c.getBoundingClientRect().width,
            parseFloat(getComputedStyle(c).fontSize)])""")
        self.assertEqual(len(cells), 6)
        for text, width, size in cells:
            self.assertRegex(text, r"^[0-9.e-]+$")
            self.assertGreater(width, 40)
            self.assertGreaterEqual(size, 11)

    def test_labels_are_apart_here_too(self):
        self.go("#/history/matmul")
        self.assert_apart("[data-chart=history] .xtick text", 2)
        self.go("#/roofline")
        self.assert_apart("[data-chart=roof] .annotation-text", 2)


if __name__ == "__main__":
    unittest.main()
