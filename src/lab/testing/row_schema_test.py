# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/row.schema.json to rows that the library writes, and to rows that it must refuse.

usage: row_schema_test.py SCHEMA PROGRAM

PROGRAM prints journal lines. Without python3-jsonschema this fails, and says so.
"""

import copy
import json
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("row_schema_test: python3-jsonschema is missing (Debian: apt-get install python3-jsonschema)")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    line_validator = jsonschema.Draft202012Validator(schema)
    row_validator = jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/row"})
    output = subprocess.run([sys.argv[2]], check=True, capture_output=True).stdout
    lines = [json.loads(line) for line in output.decode("utf-8").splitlines()]
    faults = []

    for line in lines:
        for error in line_validator.iter_errors(line):
            faults.append(f"a good line is refused: {error.message}")
        row = {key: value for key, value in line.items() if key != "check"}
        for error in row_validator.iter_errors(row):
            faults.append(f"a good row is refused: {error.message}")
        if line_validator.is_valid(row):
            faults.append("a line without its check is let pass")

    statuses = {line["status"] for line in lines}
    known = set(schema["$defs"]["row"]["properties"]["status"]["enum"])
    if statuses != known:
        faults.append(f"statuses of the library and of the schema differ: {statuses ^ known}")

    ok = next(line for line in lines if line["status"] == "ok")
    bad = next(line for line in lines if line["status"] == "failed")

    def refuse(what, line, **changes):
        changed = copy.deepcopy(line)
        for key, value in changes.items():
            if value is KeyError:
                del changed[key]
            else:
                changed[key] = value
        if line_validator.is_valid(changed):
            faults.append(f"{what} is let pass")

    for key in ok:
        if key != "a_field_of_tomorrow":
            refuse(f"a line without {key}", ok, **{key: KeyError})
    refuse("a newer schema", ok, schema=2)
    refuse("an unknown status", ok, status="great")
    refuse("an ok row with a failure", ok, failure=bad["failure"])
    refuse("a failed row without one", bad, failure=None)
    for key in bad["failure"]:
        part = {k: v for k, v in bad["failure"].items() if k != key}
        refuse(f"a failure without {key}", bad, failure=part)
    refuse("a negative round", ok, round=-1)
    refuse("half a core", ok, cores=0.5)
    refuse("a number as a point", ok, point=3)
    refuse("a word as a metric", ok, metrics={"steady_time": "fast"})
    refuse("a metric's odd name", ok, metrics={"Steady Time": 1})
    refuse("a short attempt_id", ok, attempt_id="12ab")
    refuse("a run_id that is no time", ok, run_id="yesterday")
    refuse("a machine without a fingerprint", ok, machine={})
    refuse("an unknown fidelity", ok, fidelity={"status": "fine"})
    refuse("a check that is none", ok, check="xyz")
    refuse("a time without its zone", ok, provenance={"time_start": "2026-01-01T00:00:00"})

    for fault in faults:
        print(fault)
    print(f"{len(lines)} lines, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
