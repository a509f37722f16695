# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Finds types that are defined twice under one name: no program may link both, and no compiler says so.

one_definition.py SRC …: every .h and .cc below the folders. Types of anonymous namespaces, of functions and of
other types are nobody else's business."""

import pathlib
import re
import sys

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*',
    re.S | re.M)
NAMESPACE = re.compile(r"\bnamespace(?:\s+([\w:]+))?\s*$")
TYPE = re.compile(r"\b(?:enum\s+(?:class|struct)|enum|struct|class|union)\s+(?:alignas\([^)]*\)\s*)?(\w+)"
                  r"(?:\s+final)?\s*(?::[^:;{}()][^;{}]*)?\s*$")


def definitions(text):
    """Qualified names of the types that a file defines in named namespaces."""
    text = NOISE.sub(" ", text)
    stack = []  # names of the namespaces around; None for any other block
    start = 0
    for match in re.finditer(r"[{};]", text):
        head = text[start:match.start()].strip()
        start = match.end()
        if match[0] == "}":
            if stack:
                stack.pop()
        elif match[0] == "{":
            space = NAMESPACE.search(head)
            if space:
                stack.append(space[1] or "")
                continue
            defined = TYPE.search(head)
            if defined and all(stack) and not head.startswith("friend"):
                yield "::".join([*stack, defined[1]])
            stack.append(None)


def main():
    places = {}
    files = [f for folder in sys.argv[1:] for f in pathlib.Path(folder).rglob("*") if f.suffix in (".h", ".cc")]
    for file in sorted(files):
        for name in definitions(file.read_text()):
            places.setdefault(name, []).append(file)
    if len(places) < 100:  # of many hundreds: the reading above has gone wrong
        raise SystemExit(f"only {len(places)} types found")
    twice = {name: where for name, where in places.items() if len(where) > 1}
    for name, where in twice.items():
        print(f"{name} is defined in", *where, file=sys.stderr)
    raise SystemExit(1 if twice else 0)


if __name__ == "__main__":
    main()
