#!/usr/bin/env python3
"""The closing lines of test/run.sh: what passed, failed and was skipped over all parts, and why.

    summary.py FOLDER

FOLDER holds `parts`, a line of JSON from each program and runner that counts its tests itself
(IBD_TEST_SUMMARY names it to them), and `ctest.xml`, ctest's report: its entries that wrote no line
count as one test each. Exits 1 if anything failed or nothing ran.
"""

import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree


def read_parts(folder):
    """The results of each part, by name; if a part ran twice, the last run counts."""
    path = folder / "parts"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {part["name"]: part for part in map(json.loads, lines)}


def add_ctest(folder, parts):
    """Entries of ctest that wrote nothing: linters, benches, and programs that crashed."""
    path = folder / "ctest.xml"
    if not path.exists():
        return
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        name, well = case.get("name"), case.get("status") == "run"
        part = parts.setdefault(name, {"name": name, "passed": int(well), "failed": 0, "skips": []})
        if not well and not part["failed"]:
            part["failed"] = 1


def reason_of(skip):
    """Why, without the test's name and the name of the missing file."""
    return re.sub(r"(\.\./shared/testdata)/[\w./-]+;", r"\1;", skip.rsplit(": ", 1)[-1])


def closing_line(parts):
    passed = sum(part["passed"] for part in parts)
    failed = sum(part["failed"] for part in parts)
    reasons = collections.Counter(reason_of(skip) for part in parts for skip in part["skips"])
    line = f"{passed} passed, {failed} failed, {sum(reasons.values())} skipped"
    if reasons:
        line += ": " + "; ".join(f"{n} ({why})" for why, n in reasons.most_common())
    return line


def main():
    folder = pathlib.Path(sys.argv[1])
    by_name = read_parts(folder)
    add_ctest(folder, by_name)
    parts = list(by_name.values())
    for part in parts:
        for skip in part["skips"]:
            print(f"skipped {part['name']}: {skip}")
    for part in parts:
        if part["failed"]:
            print(f"FAILED {part['name']}: {part['failed']}")
    print(closing_line(parts))
    return 1 if not parts or any(part["failed"] for part in parts) else 0


if __name__ == "__main__":
    sys.exit(main())
