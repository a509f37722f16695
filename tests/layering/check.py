# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Compares every #include under src/ with the table in src/README.md.

A header in angle brackets is the standard library's, the operating system's, or a library that the
table must name. Tests (…_test.cc, test_…) may use lab/testing and GoogleTest beside what their
folder may.
"""

import pathlib
import re
import sys

# How a library of the table is recognised in an #include; several headers may belong to one.
LIBRARY_OF_HEADER = {
    r"nlohmann/": "nlohmann-json",
    r"toml\+\+/": "toml++",
    r"hwy/": "Highway",
    r"cuda|cublas|nvrtc": "CUDA",
    r"cblas\.h|blis/": "BLAS",
    r"lapacke\.h": "LAPACK",
    r"netcdf": "NetCDF",
    r"hdf5|H5": "HDF5",
    r"mpi\.h": "MPI",
    r"hwloc": "hwloc",
    r"sqlite3\.h": "sqlite3",
    r"libpq": "libpq",
    r"CLI/": "CLI11",
    r"zlib\.h": "zlib",
    r"simdjson\.h": "simdjson",
    r"gtest/|gmock/": "gtest",
    r"assay/workload\.h": "workload.h",
}
# Free to all, as the table's preface says.
FREE = re.compile(
    r"(algorithm|array|atomic|barrier|bit|bitset|cctype|cerrno|cfloat|charconv|chrono|cinttypes|climits|cmath|compare|complex|concepts|"
    r"clocale|condition_variable|coroutine|csetjmp|csignal|cstdarg|cstddef|cstdint|cstdio|cstdlib|cstring|ctime|cwctype|deque|exception|filesystem|"
    r"forward_list|fstream|functional|future|initializer_list|iomanip|ios|iostream|istream|iterator|latch|limits|list|map|"
    r"memory|memory_resource|mutex|new|numbers|numeric|optional|ostream|queue|random|ranges|ratio|regex|set|shared_mutex|"
    r"source_location|span|sstream|stack|stdexcept|stop_token|streambuf|string|string_view|system_error|thread|tuple|"
    r"type_traits|typeindex|typeinfo|unordered_map|unordered_set|utility|valarray|variant|vector|version)$|fmt/|omp\.h$|xmmintrin\.h$|arm_neon\.h$|immintrin\.h$|cpuid\.h$|"
    r"(sys|arpa|linux|netinet)/[a-z_]+\.h$|"
    r"(unistd|signal|fcntl|sched|stdlib|time|dlfcn|elf|link|poll|string|stdio|pthread|spawn|errno|netdb|regex)\.h$")
TESTS = {"lab/testing", "gtest"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
ANY_INCLUDE = re.compile(r"^\s*#\s*(include|include_next|import)\b")


def read_table(readme):
    """folder → (folders it names, libraries it names), in the table's order."""
    table = {}
    for line in readme.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not cells[0].startswith("`"):
            continue
        uses, _, libraries = cells[2].partition("(")
        split = lambda text: {word.strip() for word in text.split(",") if word.strip()}
        table[cells[0].strip("`")] = (split(uses), split(libraries.rstrip(")")))
    return table


def closure(table):
    """What each folder may use, directly or through what it names."""
    allowed = {}
    for folder, (uses, libraries) in table.items():
        if "anything above" in uses:
            folders, libs = set(allowed), set().union(*(libs for _, libs in allowed.values()))
        else:
            folders, libs = set(uses), set()
            for used in uses:
                if used not in allowed and used not in table:
                    raise SystemExit(f"the table's row '{folder}' names an unknown folder: '{used}'")
        allowed[folder] = (folders, libs | libraries)
    for folder in table:  # follow the arrows; the table may name a folder before its row
        pending = list(allowed[folder][0])
        while pending:
            used = pending.pop()
            allowed[folder][0].add(used)
            allowed[folder][1].update(table[used][1])
            pending += [u for u in table[used][0] if u in table and u not in allowed[folder][0]]
    return allowed


def circles(allowed):
    """Folders that may use themselves through others; "anything above" is no arrow back."""
    return [
        f"the table's row '{folder}' may use '{used}', which may use it: arrows go one way"
        for folder, (folders, _) in allowed.items()
        for used in sorted(folders)
        if folder in allowed.get(used, (set(), set()))[0] and used >= folder
    ]


def folder_of(path, folders):
    """The longest folder of the table that holds this path."""
    text = path.as_posix()
    matches = [folder for folder in folders if text.startswith(folder + "/")]
    return max(matches, key=len, default=None)


def main():
    root = pathlib.Path(sys.argv[1])
    table = read_table(root / "src/README.md")
    allowed = closure(table)
    problems, files = circles(allowed), 0
    for source in sorted((root / "src").rglob("*")):
        if source.suffix not in {".h", ".hpp", ".inc", ".cc", ".cpp", ".cu", ".cuh"}:
            continue
        files += 1
        path = source.relative_to(root / "src")
        folder = folder_of(path, table)
        if folder is None:
            problems.append(f"src/{path}: its folder is not in the table of src/README.md")
            continue
        for number, line in enumerate(source.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                if ANY_INCLUDE.match(line) and "HWY_TARGET_INCLUDE" not in line:
                    problems.append(f"src/{path}:{number}: an #include that tests/layering cannot read")
                continue
            kind, header = match.groups()
            is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
            beside = TESTS if is_test else set()
            place = f"src/{path}:{number}: {folder} includes"
            if kind == '"':
                target = folder_of(pathlib.PurePosixPath(header), table)
                if target is None:
                    problems.append(f"{place} '{header}', which is no path from src/")
                elif target != folder and target not in allowed[folder][0] | beside:
                    problems.append(f"{place} '{header}': {folder} may not use {target}")
            else:
                libraries = {lib for pattern, lib in LIBRARY_OF_HEADER.items() if re.match(pattern, header)}
                if not libraries and not FREE.match(header):
                    problems.append(f"{place} <{header}>, of a library that tests/layering does not know")
                for library in libraries - allowed[folder][1] - beside:
                    problems.append(f"{place} <{header}>: {folder} may not use {library}")
    for problem in problems:
        print(problem)
    if files < 20:
        problems.append("too few files were found")
        print(f"only {files} files under {root}/src: is this the source tree?")
    print(f"{files} files, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
