#!/usr/bin/env python3
"""Checks the Markdown files: every relative link names a file and an anchor that exist, and doc/
has no dated lines (dated runs belong to bench/log, decisions to doc/decisions). Every page that a
source names exists, and every source that a page names. The comparison with Bitcoin Core has the
same figures in README.md, bench/README.md and the plot. Exits 1 and lists each offence.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MONTHS = ("January|February|March|April|May|June|July|August|September|October|November|December")
DATED = re.compile(rf"\b20\d\d-\d\d-\d\d\b|\bOn 20\d\d|\b({MONTHS}) \d|\b\d+ ({MONTHS})\b")
SOURCE_ROOTS = (".", "src", "bench", "test")
SOURCES = (".cpp", ".h", ".py", ".sh", ".rs", ".cmake", ".txt")
PAGE = re.compile(r"(?<![\w./-])(?:doc|bench)/[\w/.-]+\.md\b")
NAMED_SOURCE = re.compile(r"`([a-z_-]+/[\w/-]+\.(?:h|cpp|py|sh))`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def tracked(suffixes):
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split("\n")
    return [ROOT / name for name in names if name.endswith(suffixes) and (ROOT / name).is_file()]


def text_lines(path):
    """(number, line) of each line outside fenced code."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def slug(heading):
    """The anchor that a heading gets."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(path):
    found = set()
    for _, line in text_lines(path):
        heading = re.match(r"#+ +(.*)", line)
        if heading:
            name, count = slug(heading.group(1)), 1
            while name in found:
                name, count = f"{slug(heading.group(1))}-{count}", count + 1
            found.add(name)
    return found


def broken(path, target):
    """Why a link from `path` leads nowhere, or None."""
    if re.match(r"\w+:", target):
        return None
    name, _, anchor = target.partition("#")
    there = (path.parent / name).resolve() if name else path
    if not there.exists():
        return "no such file"
    if anchor and anchor not in anchors(there):
        return "no such heading"
    return None


def is_dated_place(path):
    """Whether dated lines belong into this file."""
    name = str(path.relative_to(ROOT))
    return not name.startswith("doc/") or name.startswith("doc/decisions/")


def offences(path):
    name = path.relative_to(ROOT)
    for number, line in text_lines(path):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            why = broken(path, target)
            if why:
                yield f"{name}:{number}: {target}: {why}"
        if not name.is_relative_to("bench/log"):
            for source in NAMED_SOURCE.findall(line):
                if not any((ROOT / folder / source).exists() for folder in SOURCE_ROOTS):
                    yield f"{name}:{number}: {source}: no such source"
        if DATED.search(line) and not is_dated_place(path):
            yield f"{name}:{number}: dated line outside bench/log: {line.strip()}"


def missing_pages(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        for page in PAGE.findall(line):
            if not (ROOT / page).is_file():
                yield f"{path.relative_to(ROOT)}:{number}: {page}: no such page"


def comparison():
    """The README's table of seconds is bench/README.md's and the plot's, and each ratio follows
    from it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    bench = (ROOT / "bench/README.md").read_text(encoding="utf-8")
    plot = (ROOT / "doc/images/comparison.svg").read_text(encoding="utf-8")
    shown = re.findall(r"^\| [^|]+ \| \**(\d+\.\d)\** \| [^|]+ \| [^|]+ \|$", readme, re.M)
    rows = re.findall(r"^\| [^|]+ \| (\d+\.\d) \| ?([\d.]*) ?\|$", bench, re.M)[:len(shown)]
    if len(shown) != 4:
        yield "README.md: no table of four runs"
        return
    if [seconds for seconds, _ in rows] != shown:
        yield f"bench/README.md: the comparison is not that of README.md: {rows}, {shown}"
    if re.findall(r">(\d+\.\d) s<", plot) != shown:
        yield "doc/images/comparison.svg: the seconds are not those of README.md"
    core = float(shown[0])
    for seconds, ratio in rows[1:]:
        digits = len(ratio.partition(".")[2])
        if ratio != f"{core / float(seconds):.{digits}f}":
            yield f"bench/README.md: {core} / {seconds} is not {ratio}"
    default = re.search(r"^\| \*\*[^|]+\| \*\*(\d+\.\d)", readme, re.M)
    usual = f"{core / float(default.group(1)):.0f}"
    for path in tracked(".md"):
        for number, line in text_lines(path):
            for ratio in re.findall(r"\b([\d.]+) times as fast as (?:Bitcoin )?Core", line):
                if ratio != usual:
                    where = f"{path.relative_to(ROOT)}:{number}"
                    yield f"{where}: {ratio} times; the table says {usual}"


def main():
    paths = tracked(".md")
    bad = [line for path in paths for line in offences(path)]
    bad += [line for path in tracked(SOURCES) for line in missing_pages(path)]
    bad += comparison()
    print("\n".join(bad))
    print(f"{len(paths)} documents, {len(bad)} offences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
