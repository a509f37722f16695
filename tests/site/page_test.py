# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The page of ten thousand rows, opened from disk in a browser and used as a reader would."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from browser import Browser

ASSAY, EXAMPLE_ROWS = sys.argv[1:3]
sys.argv[1:3] = []

# The strings of many_rows.cc, as far as they can break something; what the page shows of them is
# printable(): marks that turn or hide text are spelled out.
HOSTILE = [
    "<script>document.title='broken'</script>",
    "\"><img src=x onerror=\"document.title='broken'\">",
    "</script><script>document.title='broken'</script>",
    "__proto__",
    "constructor",
]
VIEWS = ["overview", "results", "case", "history", "runs", "sweep", "roofline", "calibration", "rows"]


def setUpModule():
    global FOLDER, PAGE, EMPTY
    FOLDER = tempfile.TemporaryDirectory(prefix="assay-site-")
    environment = {**os.environ, "ASSAY_MACHINE_DIR": FOLDER.name + "/machines"}
    rows = FOLDER.name + "/rows"
    subprocess.run([EXAMPLE_ROWS, rows, "10000"], check=True, env=environment)
    PAGE = FOLDER.name + "/site.html"
    subprocess.run([ASSAY, "site", rows, "--out", PAGE], check=True, env=environment)
    EMPTY = FOLDER.name + "/empty.html"
    open(FOLDER.name + "/none.jsonl", "w").close()
    subprocess.run([ASSAY, "site", FOLDER.name + "/none.jsonl", "--out", EMPTY], check=True,
                   env=environment, stderr=subprocess.DEVNULL)  # fmt: skip


def tearDownModule():
    FOLDER.cleanup()


class Page(unittest.TestCase):
    width, height, phone, dark = 1366, 900, False, False
    page = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(cls.dark, cls.width, cls.height, cls.phone)
        cls.addClassCleanup(cls.browser.close)
        cls.browser.open("file://" + (cls.page or PAGE))

    def tearDown(self):
        """Whatever was done: no complaint, nothing but the file itself was asked for."""
        self.assertEqual(self.browser.console, [])
        asked = [url for url in self.browser.requests if not url.startswith(("data:", "blob:"))]
        self.assertLessEqual(set(url.split("#")[0] for url in asked), {"file://" + (self.page or PAGE)})
        self.assertEqual(self.run_("document.title.includes('broken')"), False)
        self.assertEqual(self.run_("document.querySelectorAll('main script, main img').length"), 0)

    def run_(self, expression):
        return self.browser.run(expression)

    def texts(self, selector):
        return self.run_(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


class Laptop(Page):
    def test_every_view_draws_its_charts(self):
        least = {"case": 5, "history": 1, "runs": 1, "sweep": 4, "roofline": 1, "calibration": 1}
        for view in VIEWS:
            with self.subTest(view):
                name = "/semiring_matmul" if view in ("case", "history", "sweep") else ""
                self.browser.go(f"#/{view}{name}", view)
                self.browser.draw_all()
                drawn = self.run_("document.querySelectorAll('[data-chart] .main-svg, [data-chart] canvas').length")
                self.assertGreaterEqual(drawn, least.get(view, 0))
                self.assertEqual(self.run_("document.querySelectorAll('#content .notice').length"), 0)

    def test_tables_sort(self):
        self.browser.go("#/results", "results")
        column = "[...document.querySelectorAll('[data-table=all] tbody tr')].map(r => r.children[5].textContent)"
        head = "[...document.querySelectorAll('[data-table=all] thead button')].find(b => b.textContent.startsWith('Ratio'))"
        self.run_(f"{head}.click()")
        up = self.run_(column)
        number = lambda text: float(text.split(" ")[0])
        self.assertEqual([number(t) for t in up], sorted(number(t) for t in up))
        self.run_(f"{head}.click()")
        down = self.run_(column)
        self.assertEqual([number(t) for t in down], sorted((number(t) for t in down), reverse=True))
        self.assertGreater(number(down[0]), number(up[0]))
        self.assertEqual(self.run_(f"{head}.closest('th').getAttribute('aria-sort')"), "descending")
        self.assertIn("all.s=Ratio.d", self.run_("location.hash"))

    def test_tables_filter_and_turn_pages(self):
        self.browser.go("#/rows", "rows")
        position = "document.querySelector('[data-table=rows] .pages span').textContent"
        before = self.run_(position)
        self.assertRegex(before, r"1–15 of 1[01],\d\d\d")
        self.run_("document.querySelector('[data-table=rows] .pages button:nth-of-type(2)').click()")
        self.assertTrue(self.run_(position).startswith("16–30"))
        self.run_("document.querySelector('[data-table=rows] input').focus()")
        self.browser.type("assay-simd max_plus")
        self.assertNotEqual(self.run_(position), before)
        self.assertTrue(self.run_(position).startswith("1–15"))
        for text in self.texts("[data-table=rows] tbody tr"):
            self.assertIn("assay-simd", text)
            self.assertIn("max_plus", text)

    def test_a_link_keeps_what_was_chosen(self):
        self.browser.go("#/results", "results")
        self.run_("document.querySelector('[data-table=all] input').focus()")
        self.browser.type("torch")
        kept = self.run_("location.href")
        shown = self.texts("[data-table=all] tbody tr")
        self.browser.go("#/overview", "overview")
        self.browser.go("#" + kept.split("#", 1)[1], "results")
        self.assertEqual(self.run_("document.querySelector('[data-table=all] input').value"), "torch")
        self.assertEqual(self.texts("[data-table=all] tbody tr"), shown)

    def test_switching_the_case(self):
        self.browser.go("#/case/semiring_matmul", "case")
        self.run_("""(() => { const s = document.getElementById('case'); s.value = 'drift_kinetic';
                     s.dispatchEvent(new Event('change')); })()""")
        self.browser.wait("document.querySelector('h1').textContent === 'drift_kinetic'", "the case is switched")
        self.assertIn("#/case/drift_kinetic", self.run_("location.hash"))
        self.assertIn("structured", " ".join(self.texts("[data-table=r] tbody tr")))

    def test_hover_zoom_and_series_toggles(self):
        self.browser.go("#/case/semiring_matmul", "case")
        self.browser.draw_all()
        self.run_("document.querySelector('[data-chart=time]').scrollIntoView({block: 'center'})")
        # Hover: over the first marker of the first series.
        at = self.run_("""(() => { const p = document.querySelector('[data-chart=time] .scatterlayer .point');
            const r = p.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()""")
        self.browser.move_mouse(*at)
        self.browser.wait("document.querySelector('[data-chart=time] .hoverlayer').textContent.includes('[')", "a box with an interval appears")
        # Zoom: dragging changes the range, a double click or the home button would bring it back.
        before = self.run_("document.querySelector('[data-chart=time]').layout.xaxis.range + ''")
        box = self.run_("""(() => { const r = document.querySelector('[data-chart=time] .nsewdrag').getBoundingClientRect();
            return [r.x, r.y, r.width, r.height]; })()""")
        x, y, w, h = box
        self.browser.drag_mouse(x + 0.3 * w, y + 0.3 * h, x + 0.7 * w, y + 0.7 * h)
        self.browser.wait(f"document.querySelector('[data-chart=time]').layout.xaxis.range + '' !== {json.dumps(before)}", "the chart is zoomed")
        # Toggles, by keyboard.
        button = "document.querySelector('[data-chart=time]').parentElement.querySelector('.legend button')"
        shown = "document.querySelectorAll('[data-chart=time] .scatterlayer .trace').length"
        lines = self.run_(shown)
        self.run_(f"{button}.focus()")
        self.browser.key("Enter")
        self.browser.wait(f"{shown} === {lines - 1}", "the series is hidden")
        self.assertEqual(self.run_(f"{button}.getAttribute('aria-pressed')"), "false")
        self.assertIn("time.hide", self.run_("location.hash"))

    def test_provenance_of_two_rows(self):
        self.browser.go("#/rows?rows.q=assay-simd", "rows")
        for which, row in (("A", 1), ("B", 9)):
            self.run_(f"""[...document.querySelectorAll('[data-table=rows] tbody tr')][{row}]
                .querySelector('[aria-label="Mark as {which}"]').click()""")
        fields = self.texts("[data-table=diff] tbody tr td:first-child")
        self.assertIn("provenance.time_start", fields)
        self.assertNotIn("provenance.compiler", fields)
        self.run_("[...document.querySelectorAll('#difference button')].find(b => b.textContent === 'Show everything').click()")
        everything = self.run_("document.querySelector('[data-table=diff] .pages').textContent")
        self.assertRegex(everything, r"of \d{2,}")
        self.assertIn("&a=", self.run_("location.hash.replace('?a=', '&a=')"))

    def test_hostile_text_is_text(self):
        self.browser.go("#/rows?rows.q=failed", "rows")
        everywhere = ""
        for _ in range(25):
            everywhere += "\n".join(self.texts("[data-table=rows] tbody tr"))
            if self.run_("document.querySelector('[data-table=rows] .pages button:nth-of-type(2)').disabled"):
                break
            self.run_("document.querySelector('[data-table=rows] .pages button:nth-of-type(2)').click()")
        for text in HOSTILE:
            self.assertIn(text, everywhere)
        self.assertNotIn("\u202e", everywhere)
        self.assertIn("\\u202e", everywhere)
        names = self.run_("[...document.querySelectorAll('#content a')].length")
        self.assertGreater(names, 0)
        # Each as a page of its own: title, charts, choices.
        self.browser.go("#/case", "case")
        options = self.run_("[...document.getElementById('case').options].map(o => o.value)")
        self.assertTrue(any(len(name) == 10_000 for name in options))
        for name in options:
            self.browser.go("#/case/" + self.run_(f"encodeURIComponent({json.dumps(name)})"), "case")
            self.browser.draw_all()
            self.assertEqual(self.run_("document.querySelector('h1').textContent"), name)
            self.assertLessEqual(self.run_("document.documentElement.scrollWidth"), self.width)
            self.assertEqual(self.run_("document.querySelectorAll('main [data-chart] a[href]').length"), 0)

    def test_the_keyboard_reaches_everything(self):
        self.browser.go("#/results", "results")
        first = "document.querySelector('a[href], button, input, select, [tabindex=\"0\"]')"
        self.assertEqual(self.run_(f"{first}.textContent"), "To the content")
        self.run_(f"{first}.focus()")
        reached = []
        for _ in range(45):
            self.browser.key("Tab")
            reached.append(self.run_("""(e => e.tagName + ':' + (e.getAttribute('aria-label') || e.textContent.trim()).slice(0, 30))(document.activeElement)"""))
        joined = "\n".join(reached)
        for wanted in ("A:Overview", "A:Calibration", "BUTTON:Light or dark", "INPUT:Filter Results",
                       "DIV:Results", "BUTTON:Ratio [95 %]"):
            self.assertIn(wanted, joined)
        # A heading sorts with Enter.
        head = "[...document.querySelectorAll('[data-table=all] thead button')].find(b => b.textContent.startsWith('Memory'))"
        self.run_(f"{head}.focus()")
        self.browser.key("Enter")
        self.assertEqual(self.run_(f"{head}.closest('th').getAttribute('aria-sort')"), "ascending")

    def test_light_and_dark(self):
        colour = "getComputedStyle(document.body).backgroundColor"
        light = self.run_(colour)
        self.run_("document.querySelector('.theme').click()")
        self.assertNotEqual(self.run_(colour), light)
        self.run_("document.querySelector('.theme').click()")
        self.assertEqual(self.run_(colour), light)

    def test_an_unknown_fragment_is_no_error(self):
        for fragment in ("#/nowhere", "#/case/none", "#/case/%E0%A4%A", "#/history/x?point=%22", "#////", "#/results?all.p=-7"):
            self.run_(f"location.hash = {json.dumps(fragment)}")
            self.browser.wait("document.querySelector('#content h1')", "some page is shown")
            self.assertEqual(self.run_("document.querySelectorAll('#content .notice').length"), 0)


class Phone(Page):
    width, height, phone, dark = 390, 844, True, True

    def test_nothing_is_wider_than_the_screen(self):
        for view in VIEWS:
            with self.subTest(view):
                name = "/semiring_matmul" if view in ("case", "history", "sweep") else ""
                self.browser.go(f"#/{view}{name}", view)
                self.browser.draw_all()
                self.assertLessEqual(self.run_("document.documentElement.scrollWidth"), self.width)

    def test_the_system_wants_it_dark(self):
        red = self.run_("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
        self.assertLess(red, 64)


class NoRows(Page):
    @classmethod
    def setUpClass(cls):
        cls.page = EMPTY
        super().setUpClass()

    def test_every_view_says_what_to_run(self):
        for view in VIEWS:
            with self.subTest(view):
                self.browser.go("#/" + view, view)
                if view == "results":
                    self.assertIn("No results", self.run_("document.getElementById('content').textContent"))
                else:
                    self.assertTrue(any(text.startswith("assay ") for text in self.texts("#content .empty code")))


if __name__ == "__main__":
    unittest.main()
