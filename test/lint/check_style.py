#!/usr/bin/env python3
"""Holds the sources against the house rules that a machine can count.

Files at most 800 lines, C++ functions at most 70 (those of the allow-list are printed), lines at
most 100 columns (in Markdown: outside tables, code and lines that are one link), nothing left open,
results by their names, atomics of plain types, no address in build files; a script is executable if
it names its interpreter, and only then. Exits 1 and lists each offence.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE_CAP, FUNCTION_CAP, WIDTH = 800, 70, 100
SOURCES = (".cpp", ".h", ".py", ".sh", ".rs")
CPP = (".cpp", ".h")

# Types that have a name of their own in src; util/found.h and consensus/rule_verdict.h define
# these.
NAMED = {
    r"\bResult<std::optional<": "Found<...>",
    r"\bResult<RuleResult>": "RuleVerdict",
    r"\bkind [!=]= (Error::)?Kind::k(System|BadData)\b":
        "SystemFailed(), IsBadData() or IBD_RETURN_IF_SYSTEM_ERROR",
}
DEFINITIONS = {"src/util/found.h", "src/consensus/rule_verdict.h"}

# Files whose functions may be longer, as one table or scenario reads worse in pieces: none.
LONG_FUNCTIONS = set()

# Atomics of class types call libatomic in some builds (clang with UBSan), which is not linked.
CLASS_ATOMIC = re.compile(r"\bstd::atomic<std::")


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def long_functions(lines):
    """(line number, first line, length) of each function whose braces stand in column 0."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line.startswith("}") and start:
            if number - start > FUNCTION_CAP:
                head = start - 1
                while head > 1 and lines[head - 1].startswith(" "):
                    head -= 1
                yield head, lines[head - 1], number - start
            start = None


def unnamed_types(name, lines):
    """Types and conditions of src that have a name and are written without it."""
    if not name.startswith("src/") or name in DEFINITIONS:
        return []
    return [f"{name}:{number}: write {short}" for number, line in enumerate(lines, 1)
            for pattern, short in NAMED.items() if re.search(pattern, line)]


def check_source(path, bad, allowed):
    name = str(path.relative_to(ROOT))
    lines = path.read_text().split("\n")
    if len(lines) > FILE_CAP:
        bad.append(f"{name}: {len(lines)} lines, cap {FILE_CAP}")
    for number, line in enumerate(lines, 1):
        if len(line) > WIDTH:
            bad.append(f"{name}:{number}: {len(line)} columns")
        if re.search(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b", line):
            bad.append(f"{name}:{number}: left open: {line.strip()}")
    if path.suffix not in CPP:
        return
    bad += [f"{name}:{number}: an atomic of a class type: use a plain one or a Mutex"
            for number, line in enumerate(lines, 1) if CLASS_ATOMIC.search(line)]
    if name.startswith("src/") and re.search(r"^test_|_test$", path.stem):
        bad.append(f"{name}: reads as a test; tests are below test/")
    bad += unnamed_types(name, lines)
    for number, head, length in long_functions(lines):
        if name in LONG_FUNCTIONS:
            allowed.append(f"allowed: {name}:{number}: {length} lines: {head.strip()}")
        else:
            bad.append(f"{name}:{number}: function of {length} lines, cap {FUNCTION_CAP}")


def check_markdown(path, bad):
    name, fenced = str(path.relative_to(ROOT)), False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        code = fenced or line.startswith("    ")
        free = code or line.startswith("|") or re.fullmatch(r"\s*!?\[[^]]*\]\(\S+\)\S*", line)
        if len(line) > WIDTH and not free:
            bad.append(f"{name}:{number}: {len(line)} columns")


def check_mode(path, bad):
    """The documents start scripts by their paths."""
    named = path.read_bytes().startswith(b"#!")
    if named != os.access(path, os.X_OK):
        bad.append(f"{path.relative_to(ROOT)}: " +
                   ("not executable" if named else "executable, names no interpreter"))


def main():
    bad, allowed, files = [], [], 0
    for path in tracked():
        if path.suffix in SOURCES:
            files += 1
            check_source(path, bad, allowed)
        if path.suffix in (".py", ".sh"):
            check_mode(path, bad)
        if path.suffix == ".md":
            check_markdown(path, bad)
        if path.name == "CMakeLists.txt" or path.suffix in (".cmake", ".sh"):
            for number, line in enumerate(path.read_text().split("\n"), 1):
                if re.search(r"https?://", line):
                    bad.append(f"{path.relative_to(ROOT)}:{number}: address in a build file")
    print("\n".join(allowed + bad))
    print(f"{files} sources, {len(bad)} offences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
