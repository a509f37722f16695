# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of one's own: files that are right run as any case does, hostile ones leave one line or the right row."""

import glob
import json
import os
import subprocess

import numpy as np

from assay_cli import ROOT, CliTest, full_disk, main

CASE = """case = "twice"
[parameters]
n = [8, 16]
dtype = ["f32"]
[inputs.x]
shape = ["n"]
dtype = "dtype"
low = -1.0
[outputs.y]
shape = ["n"]
[oracle]
python = "f.py:right"
[work]
flops = "n"
[providers.numpy]
python = "f.py:twice"
"""
FUNCTIONS = """
import os, sys, time
import numpy as np
kept = None
def right(inputs, point): return 2 * inputs["x"]
def twice(inputs, point): return {"y": inputs["x"] + inputs["x"]}
def wrong(inputs, point): return 3 * inputs["x"]
def double(inputs, point): return 2 * inputs["x"].astype(np.float64)
def short(inputs, point): return 2 * inputs["x"][1:]
def raises(inputs, point): raise ValueError("not today")
def names_a_file(inputs, point): raise ValueError("no caf\\udce9, no caf\u00e9")
def leaves(inputs, point): sys.exit(7)
def leaves_well(inputs, point): os._exit(0)
def changes(inputs, point):
    inputs["x"] *= 2
    return inputs["x"]
def remembers(inputs, point):
    global kept
    if kept is None: kept = 2 * inputs["x"]
    return kept
def other_name(inputs, point): return {"z": 2 * inputs["x"]}
def text(inputs, point): return "two"
def crashes(inputs, point): os.kill(os.getpid(), 11)
def own_setup(inputs, point): return (inputs["x"], point["n"])
def after_setup(inputs, point): return 2 * inputs[0]
def big_endian(inputs, point): return (2 * inputs["x"]).astype(">f4")
def narrow(inputs, point): return (2 * inputs["x"]).astype(np.float32)
def none(inputs, point): return None
class Lazy:
    def __init__(self, x): self.x = x
    def __array__(self, dtype=None, copy=None):
        time.sleep(0.02)
        return 2 * self.x
def lazy(inputs, point): return Lazy(inputs["x"])
"""
LIBRARY = """
#include <assay/workload.h>
#include <stdlib.h>
#include <string.h>
typedef struct { const float* x; float* y; int64_t n; int calls; } twice;
int assay_workload_version(void) { return VERSION; }
const char* assay_message(void) { return "no more memory"; }
int assay_prepare(const char* point, const assay_tensor* in, int ins, const assay_tensor* out, int outs, void** state) {
  twice* t = malloc(sizeof *t);
  t->calls = 0; t->x = in[0].data; t->y = out[0].data; t->n = in[0].shape[0];
  *state = t;
  PREPARE
  return ins == 1 && outs == 1 && in[0].dtype == ASSAY_F32 && in[0].ndim == 1 && in[0].strides[0] == 1
    && strcmp(in[0].name, "x") == 0 && strstr(point, "\\"n\\":") ? 0 : 5;
}
int assay_call(void* state) {
  twice* t = state;
  BEGIN
  for (int64_t i = 0; i < t->n; ++i) t->y[i] = 2 * t->x[i];
  CALL
  return 0;
}
void assay_release(void* state) { RELEASE free(state); }
"""
FAST = ("--rounds", "1", "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%")


class Own(CliTest):
    def setUp(self):
        super().setUp()
        self.write("f.py", FUNCTIONS)
        self.write("bench.toml", CASE)

    def library(self, name, version="ASSAY_WORKLOAD_VERSION", **pieces):
        source = LIBRARY.replace("VERSION; }", f"{version}; }}")
        for place in ("PREPARE", "BEGIN", "CALL", "RELEASE"):
            source = source.replace(place, pieces.get(place.lower(), ""))
        path = self.write(f"{name}.c", source)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", f"-I{ROOT}/include", "-o", self.path(f"lib{name}.so"), path], check=True)
        return f'[providers.{name}]\nlibrary = "./lib{name}.so"\n'

    def rows(self, journal="j.jsonl"):
        return [json.loads(line) for line in self.read(journal).splitlines()]

    def by_provider(self, text, *options, status=None):
        self.write("bench.toml", text)
        result = self.assay("run", "bench.toml", "--points", '{"n":8}', "--out", "j.jsonl", *FAST, *options)
        if status is not None:
            self.assertEqual(result.returncode, status, result.stderr)
        self.assertTrue(os.path.exists(self.path("j.jsonl")), result.stderr)
        return {row["provider"]: row for row in self.rows()}

    def expect(self, rows, provider, status, code=None, message=""):
        row = rows[provider]
        self.assertEqual(row["status"], status, (provider, row["failure"]))
        if code is not None:
            self.assertEqual(row["failure"]["code"], code, row["failure"])
            self.assertIn(message, row["failure"]["message"], provider)

    def refused(self, text, says, *arguments, status=2):
        self.write("bench.toml", text)
        for command in (("run", "bench.toml", *FAST), ("list", "bench.toml")):
            result = self.assay(*command)
            lines = [line for line in result.stderr.splitlines() if line]
            self.assertEqual(result.returncode, status, (text, result.stderr))
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertIn(says, lines[0])
            self.assertTrue(lines[0].startswith("assay: bench.toml"), lines[0])
            self.assertEqual(result.stdout, "")
        self.assertEqual(glob.glob(self.path("results")), [])

    def with_piece(self, old, new):
        self.assertIn(old, CASE)
        return CASE.replace(old, new, 1)

    def test_example_runs_as_it_is(self):
        full = self.assay("new", "case", "softmax", **full_disk(1000))
        self.assertEqual(full.returncode, 2, full.stderr)
        self.assertFalse(os.path.exists(self.path("softmax")))
        made = self.run_ok("new", "case", "softmax")
        self.assertEqual(len(made.stdout.splitlines()), 5)
        before = self.read("softmax/softmax.toml")
        again = self.assay("new", "case", "softmax")
        self.assertEqual(again.returncode, 2)
        self.assertIn("stays as it is", again.stderr)
        self.assertEqual(self.read("softmax/softmax.toml"), before)
        subprocess.run(["make", "-C", self.path("softmax")], check=True, capture_output=True)
        listed = self.run_ok("list", "softmax/softmax.toml").stdout
        for word in ("own", "softmax", "numpy", "library", "program", "rows=256 seed=0  (quick)"):
            self.assertIn(word, listed)
        self.run_ok("run", "softmax/softmax.toml", "--quick", "--out", "j.jsonl", *FAST)
        rows = self.rows()
        self.assertEqual({(r["provider"], r["status"]) for r in rows}, {(p, "ok") for p in ("numpy", "library", "program")})
        for row in rows:
            self.assertEqual(row["suite"], "own")
            self.assertEqual(row["fidelity"]["status"], "pass")
            self.assertIn("softmax.py:softmax64", row["fidelity"]["oracle"])
            self.assertIn("problem", row["provenance"]["identity"])
        by_name = {row["provider"]: row for row in rows}
        self.assertIn("libsoftmax.so", by_name["library"]["provenance"]["versions"])
        self.assertIn("softmax.py", by_name["numpy"]["provenance"]["versions"])
        self.assertGreater(by_name["program"]["metrics"]["user_time"], 0)
        # Every view copes with a case that no program knows.
        for view in (("report", "j.jsonl"), ("compare", "numpy", "library", "j.jsonl"), ("figures", "j.jsonl", "--formats", "svg"),
                     ("export", "j.jsonl"), ("history", "softmax", "j.jsonl"), ("bundle", "softmax", "j.jsonl"), ("site", "j.jsonl", "--out", "s.html")):
            result = self.assay(*view)
            self.assertIn(result.returncode, (0, 3), (view, result.stderr))

    def test_hostile_files(self):
        p = self.with_piece
        cases = [
            ("", "case: missing key"),
            ("case = 3\n", "expected a string"),
            ('case = "' + "a" * 100_000 + '"\n', "up to 32 letters"),
            ("case = \n", "not valid TOML"),
            ("\x00\xff", "not valid TOML"),
            ("[" * 5000, "not valid TOML"),
            (p('"twice"', '"../twice"'), "case"),
            (p('"twice"', '"all"'), "case"),
            (p('"twice"', '"semiring_matmul"'), "another case of that name"),
            (p("n = [8, 16]", "n = []"), "parameters.n"),
            (p("n = [8, 16]", "n = [8, 1.5]"), "parameters.n"),
            (p("n = [8, 16]", 'n = [8, "x"]'), "parameters.n"),
            (p("n = [8, 16]", "n = 1979-05-27"), "parameters.n"),
            (p("n = [8, 16]", "n = [8]\nf32 = [1]"), "parameters.f32"),
            (p("n = [8, 16]", "n = [8]\n" + "".join(f"p{i} = [1,2,3,4,5,6,7,8,9,0]\n" for i in range(20))), "more than 10000 points"),
            (p("n = [8, 16]", "n = [99999999999999999999]"), "not valid TOML"),
            (p("n = [8, 16]", "n = [9223372036854775807]"), "2^53"),
            (p("n = [8, 16]", "n = [8]\nseed = [-1]"), "seed"),
            (p('["f32"]', '["f31"]'), "f31"),
            (p('["f32"]', '["c128"]'), "c128"),
            (p('["f32"]', "[4]"), "is no dtype"),
            (p('["n"]', '["n - 8"]'), "at least 1, got 0"),
            (p('["n"]', '["-n"]'), "at least 1, got -8"),
            (p('["n"]', '["n * 9000000000000000000"]'), "63 bits"),
            (p('["n"]', '["n", "1000000000000000000"]'), "elements"),
            (p('["n"]', '["n // (n - 8)"]'), "division by zero"),
            (p('["n"]', '["m"]'), "no parameter 'm'"),
            (p('["n"]', '["x"]'), "no parameter 'x'"),
            (p('["n"]', '["dtype"]'), "no number"),
            (p('["n"]', '["' + "(" * 400 + '"]'), "nested too deeply"),
            (p('["n"]', '["' + "n+" * 4000 + 'n"]'), "500 characters"),
            (p('["n"]', '["__import__(\'os\')"]'), "unexpected"),
            (p('["n"]', '"n"'), "expected an array"),
            (p('["n"]', "[[8]]"), "expected an expression"),
            (p('["n"]', "[" + "1," * 40 + "1]"), "16 axes"),
            (p('shape = ["n"]\ndtype', "dtype"), "missing key"),
            (p("low = -1.0", "low = nan"), "finite"),
            (p("low = -1.0", "low = 5"), "low must be below high"),
            (p("low = -1.0", "below = 4"), "below is for integers"),
            (p("low = -1.0", "permutation = true"), "a permutation has"),
            (p("low = -1.0", 'file = "none.npy"'), "no such file"),
            (p("low = -1.0", 'file = "f.py"'), "f.py"),
            (p("low = -1.0", 'file = "/dev/zero"'), "no such file"),
            (p("low = -1.0", "lowest = -1.0"), "unknown key"),
            (p("low = -1.0", "constant = 1\nnormal = {}"), "already"),
            (p("low = -1.0", "low = -1e300"), "dtype f32 does not hold all values from -1e+300"),
            (p("low = -1.0", "normal = { deviation = 1e38 }"), "dtype f32 does not hold"),
            (p('n = [8, 16]\ndtype = ["f32"]', 'n = 8\ndtype = "f64"').replace("low = -1.0", "low = -1.5e308\nhigh = 1.5e308"), "dtype f64 does not hold"),
            (p('python = "f.py:right"', 'python = "f.py:right"\nreduction = "1000000000000000000"'), "more terms than any sum"),
            (p("[outputs.y]", "[outputs.x]"), "an input has this name"),
            (p("[outputs.y]", "[outputs.n]"), "a parameter has this name"),
            (p('[outputs.y]\nshape = ["n"]\n', ""), "outputs: expected at least one output"),
            (p('python = "f.py:right"\n', ""), "expected one of python, file and provider"),
            (p('[oracle]\npython = "f.py:right"\n', ""), "oracle: missing table"),
            (p('python = "f.py:right"', 'python = "g.py:right"'), "no such file"),
            (p('python = "f.py:right"', 'python = "f.py:os.system"'), "FILE.py:FUNCTION"),
            (p('python = "f.py:right"', 'file = "f.py"'), "'x' is drawn"),
            (p('python = "f.py:right"', 'provider = "me"'), "'me'"),
            (p('python = "f.py:right"', 'python = "f.py:right"\nrtol = -1'), "at least 0"),
            (p('python = "f.py:right"', 'python = "f.py:right"\nsample_rows = 0'), "at least 1"),
            (p('python = "f.py:right"', 'python = "f.py:right"\nreduction = "n - n"'), "at least 1"),
            (p('flops = "n"', 'flops = "1e308 * 100 * n"'), "finite"),
            (p('flops = "n"', 'flops = "8 - n"'), "negative"),
            (p('flops = "n"', "flops = []"), "expected an expression"),
            (p('python = "f.py:twice"', 'python = "f.py:twice"\nlibrary = "a.so"'), "got 2"),
            (p('python = "f.py:twice"', 'pyton = "f.py:twice"'), "got 0"),
            (p('python = "f.py:twice"', "command = []"), "expected a program"),
            (p('python = "f.py:twice"', 'command = ["cp", "{x}", "y"]'), "where to write output 'y'"),
            (p('python = "f.py:twice"', 'command = ["cp", "{x}", "{y}", "{z}"]'), "nothing is called {z}"),
            (p('python = "f.py:twice"', 'command = 7'), "array of strings"),
            (p('python = "f.py:twice"', 'python = "f.py:twice"\nsynchronise = "os"'), "MODULE.FUNCTION"),
            (p('python = "f.py:twice"', 'python = "f.py:twice"\nplatforms = ["abacus"]'), "abacus"),
            (p("[providers.numpy]", '[providers."a@b"]'), "a provider's name"),
            (p('[providers.numpy]\npython = "f.py:twice"\n', ""), "providers: missing key"),
            ('baseline = "torch"\n' + CASE, "'torch'"),
            ('quiet = true\n' + CASE, "quiet: unknown key"),
            (CASE + "[providers.numpy.more]\n", "unknown key"),
        ]  # fmt: skip
        for text, says in cases:
            with self.subTest(says=says, text=text[:200]):
                self.refused(text, says)
        self.assertGreaterEqual(len(cases), 40)
        self.assertEqual(self.assay("run", "./none.toml").returncode, 2)
        self.assertEqual(self.assay("run", self.folder + "/").returncode, 2)

    def test_points_that_are_typed_are_checked(self):
        for point, says in (('{"n":-3}', "at least 1"), ('{"n":"x"}', "integer"), ('{"dtype":"f16"}', "f16"), ('{"m":1}', "'m'")):
            result = self.assay("run", "bench.toml", "--points", point, "--dry-run")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(says, result.stderr)

    def test_more_than_memory_is_a_row(self):
        self.write("bench.toml", CASE)
        self.assay("run", "bench.toml", "--points", '{"n":1000000000000000}', "--out", "j.jsonl", *FAST)
        (row,) = self.rows()
        self.assertEqual((row["status"], row["failure"]["code"]), ("skipped", "over_memory_estimate"))

    def test_functions_that_misbehave(self):
        text = CASE
        names = ("wrong", "double", "short", "raises", "names_a_file", "leaves", "changes", "remembers", "other_name", "text", "crashes", "none", "missing", "lazy")
        for name in names:
            text += f'[providers.{name}]\npython = "f.py:{name}"\n'
        text += '[providers.with_setup]\npython = "f.py:after_setup"\nsetup = "f.py:own_setup"\nsynchronise = "gc.collect"\n'
        text += '[providers.big_endian]\npython = "f.py:big_endian"\n'
        text += '[providers.no_module]\npython = "f.py:twice"\nmodules = ["no_such_module"]\n'
        rows = self.by_provider(text, status=4)
        self.expect(rows, "numpy", "ok")
        self.expect(rows, "with_setup", "ok")
        self.expect(rows, "big_endian", "ok")
        self.expect(rows, "lazy", "ok")
        self.assertGreater(rows["lazy"]["metrics"]["steady_time"], 0.02)  # what was put off is part of it
        self.expect(rows, "wrong", "wrong_result", "value")
        self.expect(rows, "double", "wrong_result", "shape", "f64")
        self.expect(rows, "short", "wrong_result", "shape")
        self.expect(rows, "raises", "failed", "error", "ValueError: not today")
        self.expect(rows, "names_a_file", "failed", "error", "ValueError: no caf?, no café")
        self.expect(rows, "leaves", "failed", "exit_code", "exit code 7")
        self.expect(rows, "changes", "failed", "error", "read-only")
        self.expect(rows, "remembers", "wrong_result", "stale")
        self.expect(rows, "other_name", "failed", "output_form", "'y'")
        self.expect(rows, "text", "failed", "output_form")
        self.expect(rows, "none", "failed", "output_form")
        self.expect(rows, "crashes", "crashed", "signal")
        self.expect(rows, "missing", "failed", "function_missing", "'missing'")
        self.expect(rows, "no_module", "env_missing", "module_missing", "no_such_module")
        self.assertEqual(len(self.rows()), len(names) + 4)

    def test_libraries_that_misbehave(self):
        text = CASE + self.library("good")
        text += self.library("old", version="99")
        text += self.library("prepare_fails", prepare="return 3;")
        text += self.library("call_fails", call="return 4;")
        for phase in ("prepare", "call", "release"):
            text += self.library(f"crash_{phase}", **{phase: "*(volatile int*)8 = 1;"})
        text += self.library("beyond", call="for (int i = 0; i < 64; ++i) t->y[t->n + i] = 1;")
        text += self.library("just_beyond", call="t->y[t->n] = 1;")
        text += self.library("before", call="t->y[-1] = 1;")
        text += self.library("far_before", call="t->y[-4096] = 1;")
        text += self.library("into_inputs", call="((float*)t->x)[0] = 1;")
        text += self.library("lazy", call="t->y[t->n - 1] = t->y[0];")
        text += self.library("leaves", call="_Exit(0);")
        text += self.library("only_once", begin="if (t->calls++) return 0;")
        text += self.library("right_once", call="if (t->calls++) t->y[0] = 7;")
        self.write("empty.c", "int nothing;")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("libempty.so"), self.path("empty.c")], check=True)
        text += '[providers.empty]\nlibrary = "libempty.so"\n'
        text += '[providers.unbuilt]\nlibrary = "./libunbuilt.so"\n'
        text += '[providers.no_library]\nlibrary = "f.py"\n'
        rows = self.by_provider(text, status=4)
        self.expect(rows, "good", "ok")
        self.expect(rows, "old", "failed", "version", "99")
        self.expect(rows, "prepare_fails", "failed", "prepare", "returned 3: no more memory")
        self.expect(rows, "call_fails", "failed", "call", "returned 4")
        for phase in ("prepare", "call"):
            self.expect(rows, f"crash_{phase}", "crashed", "signal")
        self.assertEqual(rows["crash_prepare"]["failure"]["phase"], "prepare")
        self.assertEqual(rows["crash_call"]["failure"]["phase"], "cold")
        self.expect(rows, "crash_release", "crashed", "signal")
        self.expect(rows, "beyond", "crashed", "signal")
        self.expect(rows, "just_beyond", "failed", "out_of_bounds", "assay_call wrote beside 'y'")
        self.expect(rows, "before", "failed", "out_of_bounds", "'y'")
        self.expect(rows, "far_before", "crashed", "signal")
        self.expect(rows, "into_inputs", "crashed", "signal")
        self.expect(rows, "lazy", "wrong_result")
        self.expect(rows, "leaves", "failed", "no_output")
        self.expect(rows, "only_once", "wrong_result", "stale", "called again on the same inputs")
        self.expect(rows, "right_once", "wrong_result", "value", "called again on the same inputs")
        self.expect(rows, "empty", "failed", "symbol_missing", "assay_workload_version")
        self.expect(rows, "unbuilt", "env_missing", "library_missing", "libunbuilt.so")
        self.expect(rows, "no_library", "env_missing", "library_missing")

    def test_commands_that_misbehave(self):
        self.write("ok.py", "import sys, numpy as np\nnp.save(sys.argv[2], 2 * np.load(sys.argv[1]))\n")
        self.write("half.py", "import sys, numpy as np\nnp.save(sys.argv[2], 2 * np.load(sys.argv[1])[1:])\n")

        def command(name, *words):
            return f"[providers.{name}]\ncommand = {json.dumps(words)}\n"

        ok = 'python3 ok.py "$1" "$2"'
        text = CASE + command("good", "python3", "ok.py", "{x}", "{y}")
        text += command("fails", "sh", "-c", "echo first >&2; echo too bad >&2; exit 3", "{y}")
        text += command("killed", "sh", "-c", "kill -9 $$", "{y}")
        text += command("silent", "true", "{y}")
        text += command("half", "python3", "half.py", "{x}", "{y}")
        text += command("nonsense", "sh", "-c", 'echo no numbers > "$1"', "sh", "{y}")
        text += command("asks", "sh", "-c", f"if read a || read a </dev/tty; then exit 9; fi; {ok}", "sh", "{x}", "{y}")
        text += command("forks", "sh", "-c", f"sleep 1000 & sleep 1000 & {ok}", "sh", "{x}", "{y}")
        text += command("stubborn", "sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done", "{y}")
        text += command("absent", "./no_such_program", "{y}")
        text += command("sorts", "sh", "-c", f"{ok}; : > \"$1\"", "sh", "{x}", "{y}")
        text += command("folder", "./", "{y}")
        rows = self.by_provider(text, "--limit", "15s", status=4)
        self.expect(rows, "good", "ok")
        self.expect(rows, "fails", "failed", "exit_code", "exit status 3: too bad")
        self.expect(rows, "killed", "failed", "signal", "signal 9")
        self.expect(rows, "silent", "failed", "no_output")
        self.expect(rows, "half", "wrong_result", "shape")
        self.expect(rows, "nonsense", "failed", "no_output")
        self.expect(rows, "asks", "ok")
        self.expect(rows, "forks", "ok")
        self.expect(rows, "stubborn", "timeout", "timeout")
        self.expect(rows, "absent", "env_missing", "command_missing")
        self.expect(rows, "folder", "env_missing")
        self.expect(rows, "sorts", "failed", "input_changed", "'x'")
        self.assertEqual(len(self.rows()), 13)

    def test_oracles_that_misbehave(self):
        for name, says in (("raises", "ValueError: not today"), ("short", "shape"), ("leaves", "exit status 7"), ("leaves_well", "f.py:leaves_well ended its process without an answer"), ("crashes", "signal 11"),
                           ("narrow", "float32"), ("missing", "no function 'missing'"), ("text", "no array of numbers")):
            self.write("bench.toml", CASE.replace("f.py:right", f"f.py:{name}"))
            result = self.assay("run", "bench.toml", "--out", f"{name}.jsonl", *FAST)
            self.assertEqual(result.returncode, 2, (name, result.stderr))
            last = result.stderr.splitlines()[-1]
            self.assertIn(says, last)
            self.assertIn("bench.toml: oracle: ", last)

    def test_integers_are_judged_to_the_last_digit(self):
        self.write("i.py", """
import numpy as np
BIG = 2**60
def right(inputs, point): return inputs["x"] + BIG
def rounded(inputs, point): return (inputs["x"] + BIG).astype(np.float64)
def good(inputs, point): return inputs["x"].astype(np.int64) + BIG
def off(inputs, point): return (inputs["x"].astype(np.int64) + BIG) ^ 1
def wide(inputs, point): return 100 * inputs["x"]
def wraps(inputs, point): return (inputs["x"] * np.uint8(100)).astype(np.int64)
def fits(inputs, point): return 100 * inputs["x"].astype(np.int64)
""")
        case = """case = "integers"
[parameters]
n = [64]
[inputs.x]
shape = ["n"]
dtype = "u8"
below = "256"
[outputs.y]
shape = ["n"]
dtype = "i64"
[oracle]
python = "i.py:right"
""" + "".join(f'[providers.{name}]\npython = "i.py:{name}"\n' for name in ("good", "off", "wraps", "fits"))
        rows = self.by_provider(case, status=4)
        self.expect(rows, "good", "ok")
        self.expect(rows, "off", "wrong_result", "value")
        for name in glob.glob(self.path("j.jsonl*")):
            os.remove(name)
        rows = self.by_provider(case.replace("i.py:right", "i.py:wide"), status=4)
        self.expect(rows, "fits", "ok")
        self.expect(rows, "wraps", "wrong_result", "value")
        self.write("bench.toml", case.replace("i.py:right", "i.py:rounded"))
        refused = self.assay("run", "bench.toml", "--out", "r.jsonl", *FAST)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("must give integers", refused.stderr)

    def test_other_oracles(self):
        x = np.linspace(-1, 1, 8, dtype=np.float32)
        np.save(self.path("x.npy"), x)
        np.save(self.path("y.npy"), 2.0 * x.astype(np.float64))
        base = CASE.replace("low = -1.0", 'file = "x.npy"').replace("n = [8, 16]", "n = 8")
        rows = self.by_provider(base.replace('python = "f.py:right"', 'file = "y.npy"') + '[providers.wrong]\npython = "f.py:wrong"\n', status=4)
        self.expect(rows, "numpy", "ok")
        self.expect(rows, "wrong", "wrong_result", "value")
        os.remove(self.path("j.jsonl")), os.remove(self.path("j.jsonl.request.json"))
        more = '[providers.wrong]\npython = "f.py:wrong"\n[providers.remembers]\npython = "f.py:remembers"\n'
        rows = self.by_provider(CASE.replace('python = "f.py:right"', 'provider = "numpy"') + more, status=4)
        self.expect(rows, "numpy", "ok")
        self.expect(rows, "wrong", "wrong_result", "value")
        self.expect(rows, "remembers", "wrong_result", "stale")
        os.remove(self.path("j.jsonl")), os.remove(self.path("j.jsonl.request.json"))
        unjudged = 'oracle = "none"\n' + CASE.replace('[oracle]\npython = "f.py:right"\n', "")
        rows = self.by_provider(unjudged, status=0)
        self.assertEqual(rows["numpy"]["fidelity"]["status"], "no_oracle")

    # Two files may have a provider of one name: what one of them needs says nothing about the other.
    def test_two_files(self):
        for name in ("one", "two"):
            text = CASE.replace('"twice"', f'"{name}"') + self.library("mine").replace("libmine", f"lib{name}")
            self.write(f"{name}.toml", text)
        os.rename(self.path("libmine.so"), self.path("libtwo.so"))
        self.assay("run", "one.toml", "./two.toml", "--quick", "--out", "j.jsonl", *FAST)
        mine = {row["case"]: row["status"] for row in self.rows() if row["provider"] == "mine"}
        self.assertEqual(mine, {"one": "env_missing", "two": "ok"})
        result = self.assay("run", "one.toml", "bench.toml", "--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.write("bench.toml", CASE.replace('"twice"', '"one"'))
        result = self.assay("run", "one.toml", "bench.toml", "--dry-run")
        self.assertEqual(result.returncode, 2)
        self.assertIn("another case of that name", result.stderr)

    def test_rows_are_of_the_commit_that_holds_the_file(self):
        git = ["git", "-C", self.path("."), "-c", "user.name=a", "-c", "user.email=a@b"]
        for command in (["init", "-q"], ["add", "f.py", "bench.toml"], ["commit", "-qm", "first"]):
            subprocess.run([*git, *command], check=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        arguments = ("run", "bench.toml", "--points", '{"n":8}', *FAST)
        self.run_ok(*arguments, "--out", "clean.jsonl")
        with open(self.path("f.py"), "a") as file:
            file.write("# changed\n")
        self.run_ok(*arguments, "--out", "changed.jsonl")
        for journal, dirty in (("clean.jsonl", False), ("changed.jsonl", True)):
            (row,) = self.rows(journal)
            self.assertEqual((row["provenance"]["commit"], row["provenance"]["dirty"]), (head, dirty))
        # The function's file changed in between: no repetition, and nothing is pooled.
        report = self.run_ok("report", "clean.jsonl", "changed.jsonl").stdout
        self.assertIn("1 attempt of other contents of the case's files left out", report)
        self.assertNotIn("pooled", report)

    def test_resume(self):
        run = ("run", "bench.toml", "--out", "j.jsonl", *FAST)
        self.run_ok(*run)
        whole = self.read("j.jsonl")
        request = json.loads(self.read("j.jsonl.request.json"))["request"]
        (file,) = request["case_files"]
        self.assertEqual(file["path"], os.path.realpath(self.path("bench.toml")) if os.path.islink(self.folder) else self.path("bench.toml"))
        self.assertIn(self.path("f.py"), file["sha256"])
        self.write("j.jsonl", whole.splitlines(keepends=True)[0])
        self.run_ok("run", "--resume", "j.jsonl")
        self.assertEqual(len(self.read("j.jsonl").splitlines()), 2)
        for name, content in (("f.py", FUNCTIONS + "\n"), ("bench.toml", CASE + "\n")):
            kept = self.read(name)
            self.write(name, content)
            result = self.assay("run", "--resume", "j.jsonl")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(name, result.stderr)
            self.write(name, kept)
        self.run_ok("run", "--resume", "j.jsonl")
        os.remove(self.path("bench.toml"))
        self.assertEqual(self.assay("run", "--resume", "j.jsonl").returncode, 2)


main()
