# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Seeds faults into the engines and looks whether the laboratory finds them.

mutate.py SOURCE BUILD [NAME …]: for each fault of faults.toml (or those named) the changed file is
compiled, linked into a runner and a worker of their own, and the case is run, or the test of a module of
torch (make peers): the fault must end as wrong_result. Runner and worker have the same fault, so that an oracle that computes with the engine
would agree with it. Without the fault, the same attempt must be ok."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib


def translation_unit(source, build, file):
    """The file that is compiled for this one (itself, or one that joins its folder's) and how."""
    commands = json.loads((build / "compile_commands.json").read_text())
    line = f'#include "{file}"'
    for entry in commands:
        unit = pathlib.Path(entry["file"])
        if unit == file or ("/Unity/" in str(unit) and line in unit.read_text().splitlines()):
            break
    else:
        raise SystemExit(f"{file}: not part of {build}")
    words = shlex.split(entry["command"])
    at = words.index("-o")
    del words[at:at + 2]
    words.remove("-c")
    return unit, [word for word in words if not word.endswith((".cc", ".cxx"))]


def link_command(build, program):
    """The arguments that link a program, without its own output."""
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", program], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    words = shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))
    at = words.index("-o")
    del words[at:at + 2]
    return words


def mutant(source, build, fault, folder):
    """A folder with `assay` and `assay-worker` that have the fault."""
    file = source / fault["file"]
    text = file.read_text()
    if text.count(fault["old"]) != 1:
        raise SystemExit(f"{fault['name']}: {fault['file']} has the text {text.count(fault['old'])} times: "
                         f"{fault['old']!r}")
    changed = folder / file.name
    changed.write_text(text.replace(fault["old"], fault["new"]))
    # Files that are compiled together call one another without asking the linker: all of them again.
    unit, command = translation_unit(source, build, file)
    compiled = changed
    if unit != file:
        compiled = folder / "unit.cc"
        compiled.write_text(unit.read_text().replace(f'#include "{file}"', f'#include "{changed}"'))
    objects = [str(folder / "mutant.o")]
    subprocess.run([*command, f"-I{source / 'src'}", "-w", "-Wno-psabi", "-c", compiled, "-o", objects[0]], check=True,
                   cwd=build)
    for program in ("assay", "assay-worker"):
        words = link_command(build, program)
        # Ours comes first, and the first definition counts.
        subprocess.run([words[0], "-Wl,--allow-multiple-definition", *objects, *words[1:], "-o",
                        folder / program], check=True, cwd=build)
    (folder / "python").symlink_to(source / "python")
    (folder / "assay-launch").symlink_to(build / "assay-launch")


def statuses(source, folder, fault, journal):
    """How the attempts of the fault's provider ended; of a module of torch, what came of its test."""
    if "module" in fault:
        return [of_module(source, folder, fault["module"])]
    subprocess.run([folder / "assay", "run", fault["case"], "--points", fault["point"], "--providers",
                    fault["provider"], "--rounds", "1", "--steady", "0.001", "--batches", "5", "--max-steal",
                    "1", "--max-foreign", "1", "--out", journal], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    if not journal.exists():
        return ["no rows"]
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    return [row["status"] for row in rows]


def of_module(source, folder, module):
    """A module, exported and run, against itself."""
    test = subprocess.run([sys.executable, source / "tests/peers/start.py", source, "torch", "pt2_peer_test.py",
                           folder / "assay", "0", f"Pt2Test.test_{module}"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    if test.returncode == 77:
        return "env_missing"
    if test.returncode == 0:
        return "ok"
    return "wrong_result" if "in check_equal" in test.stderr else "failed"


def main():
    source, build = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    faults = tomllib.loads((pathlib.Path(__file__).parent / "faults.toml").read_text())["fault"]
    names = sys.argv[3:]
    unknown = set(names) - {f["name"] for f in faults}
    if unknown:
        raise SystemExit(f"no such fault: {', '.join(sorted(unknown))}")
    missed = 0
    sound = {}
    for fault in faults:
        if names and fault["name"] not in names:
            continue
        with tempfile.TemporaryDirectory(prefix="assay-mutant-") as name:
            folder = pathlib.Path(name)
            attempt = tuple(fault.get(key, "") for key in ("case", "point", "provider", "module"))
            if attempt not in sound:
                sound[attempt] = statuses(source, build, fault, folder / "sound.jsonl")
            mutant(source, build, fault, folder)
            found = statuses(source, folder, fault, folder / "mutant.jsonl")
        # A point may stand for several rows (a field that is off, say), not all of which meet the fault.
        ok = set(sound[attempt]) == {"ok"} and "wrong_result" in found
        missed += not ok
        what = (fault.get("case", "torch.export"), fault.get("provider") or fault["module"])
        print(f"{'found ' if ok else 'MISSED'}  {fault['name']:<40} {what[0]:<22} {what[1]:<22} sound: {','.join(sound[attempt])}  faulty: {','.join(found)}",
              flush=True)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
