# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""egglog as a provider of egraph_saturation: the rules of mathematics.txt, nodes after each iteration."""

import os
import re

import numpy as np
from egglog.bindings import EGraph

from assay_worker import philox
from assay_worker.workload import Workload

OPERATORS = {"+": ("Add", 2), "*": ("Mul", 2), "-": ("Sub", 2), "/": ("Div", 2), "pow": ("Pow", 2), "d": ("Diff", 2),
             "i": ("Integral", 2), "ln": ("Ln", 1), "sin": ("Sin", 1), "cos": ("Cos", 1), "sqrt": ("Sqrt", 1)}  # fmt: skip
LEAVES, DRAWN = ("x", "y", "z", "2", "3"), ("+", "*", "-")


def read_text():
    rules, terms = [], []
    with open(os.path.join(os.path.dirname(__file__), "mathematics.txt")) as file:
        for line in file:
            if line.startswith("rule "):
                rules.append(line.split(": ", 1)[1].strip().split(" -> "))
            elif line.startswith("term "):
                terms.append(line[5:].strip())
    return rules, terms


def drawn_term(point, input_set):
    draws = [int(value) for value in philox.raw(philox.input_stream(point["seed"], "terms", input_set), 15)]
    leaves = list(LEAVES)
    for i in range(4, 0, -1):
        j = draws[3 * i] % (i + 1)
        leaves[i], leaves[j] = leaves[j], leaves[i]
    term = leaves[0]
    for i in range(1, 5):
        op = DRAWN[draws[3 * i + 1] % len(DRAWN)]
        term = f"({op} {term} {leaves[i]})" if draws[3 * i + 2] % 2 == 0 else f"({op} {leaves[i]} {term})"
    return term


def in_egglog(text):
    words = re.findall(r"[()]|[^\s()]+", text)
    out = []
    for i, word in enumerate(words):
        if word in "()":
            out.append(word)
        elif i > 0 and words[i - 1] == "(":
            out.append(OPERATORS[word][0])
        elif word[0] == "?":
            out.append(word[1:])
        elif re.fullmatch(r"-?\d+", word):
            out.append(f"(Const {word})")
        else:
            out.append(f'(Var "{word}")')
    return " ".join(out)


class EgglogWorkload(Workload):
    def __init__(self, point):
        self.point, self.slots, self.nodes = point, [None, None], None
        rules, self.terms = read_text()
        kinds = " ".join(f"({name} {' '.join(['Math'] * arity)})" for name, arity in OPERATORS.values())
        text = f"(datatype Math {kinds} (Const i64) (Var String))\n"
        text += "".join(f"(rewrite {in_egglog(left)} {in_egglog(right)})\n" for left, right in rules)
        self.graph = EGraph()
        self.run(text)
        self.step = self.graph.parse_program("(run 1)(print-size)")

    def run(self, text):
        return self.graph.run_program(*self.graph.parse_program(text))

    def load(self, slot, input_set):
        terms = self.terms + [drawn_term(self.point, input_set)]
        text = "(push)" + "".join(f"(let $e{i} {in_egglog(term)})" for i, term in enumerate(terms))
        self.slots[slot] = self.graph.parse_program(text)

    def call(self, slot):
        self.graph.run_program(*self.slots[slot])
        nodes = []
        for _ in range(self.point["iterations"]):
            sizes = self.graph.run_program(*self.step)[-1]
            nodes.append(sum(size for name, size in sizes.sizes if not name.startswith("$")))
        self.run("(pop)")
        self.nodes = nodes

    def poison_outputs(self):
        self.nodes = None

    def outputs(self):
        return {"nodes": np.array(self.nodes, dtype=np.int64)}


def make(case, provider, point, cores):
    return EgglogWorkload(point)
