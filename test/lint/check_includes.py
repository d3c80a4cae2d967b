#!/usr/bin/env python3
"""Checks every #include under src/, and doc/architecture.md, against cmake/modules.json.

A module may include itself, the modules of its row (with everything below them), and the external
headers of which it is the sole user. Inside a module no arrow leads back up: a .h and its .cpp are
one file here; neither files nor folders of a module may include each other in a circle. Threads and
shells start only where doc/architecture.md ("Threads and locks", "House rules") has them. Exits 1
and lists each offending line.
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

TABLE = json.loads((ROOT / "cmake" / "modules.json").read_text())
DIRECT = {row["name"]: row["uses"] for row in TABLE["modules"]}
OWNED = TABLE["external_headers"]  # prefix of a header: the modules that may use it


# Names that only some folders or files below src/ may use: pattern, allowed users, description.
PLACES = [
    (re.compile(r"\bstd::system\(|\bpopen\(|\bexec[lv]p?e?\("), ("node/commands.",), "a shell"),
    (re.compile(r"\b(NamedThread|ThreadPool|std::(thread(?!::)|jthread|async))\b"),
     ("util/", "swiftsync/", "join/", "hints_tool/", "validation/", "net/", "jsonrpc/",
      "booster/", "events/", "index/", "node/bitcoind_main.", "node/tx_intake."),
     "a thread"),
    (re.compile(r"\b(LockBooster|(Load|Remove)Checkpoint|FindFoldStanding|RememberBadHints|"
                r"(Load|Remove|BytesOf)Join(State)?|RemoveFullMark|FindKeptFiles)\("),
     ("swiftsync/", "join/", "booster/kept_", "booster/full_mark."),
     "access to the files of unfinished work (see booster/kept_work.h)"),
]

def closure(module):
    """The module and everything it may include, directly or not."""
    seen, todo = set(), [module]
    while todo:
        m = todo.pop()
        if m not in seen:
            seen.add(m)
            todo += DIRECT[m]
    return seen


def offences(path, module, allowed):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
        if not found:
            continue
        target = found.group(1)
        head = target.split("/")[0]
        if head in DIRECT and "/" in target and head not in allowed:
            yield f"{path.relative_to(ROOT)}:{number}: {module} may not include {target}"
        for prefix, users in OWNED.items():
            if target.startswith(prefix) and module not in users:
                yield f"{path.relative_to(ROOT)}:{number}: {target} belongs to {sorted(users)}"


def misplaced(path):
    name = str(path.relative_to(ROOT / "src"))
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//")[0]
        for pattern, places, what in PLACES:
            if pattern.search(code) and not name.startswith(places):
                yield f"src/{name}:{number}: {what} does not belong here"


def reachable(edges, start):
    seen, todo = set(), list(edges.get(start, ()))
    while todo:
        stem = todo.pop()
        if stem not in seen:
            seen.add(stem)
            todo += edges.get(stem, ())
    return seen


def include_edges(module, root=ROOT):
    """The files of a module that each of its files includes, by path in the module, no suffix."""
    edges, folder = {}, root / "src" / module
    for path in folder.rglob("*"):
        if path.suffix in (".h", ".cpp"):
            stem = str(path.relative_to(folder).with_suffix(""))
            found = re.findall(rf'#\s*include\s*"{module}/([\w/]+)\.h"', path.read_text())
            edges.setdefault(stem, set()).update(set(found) - {stem})
    return edges


def folder_edges(edges):
    """The folders that each folder includes; "." stands for the module's own files."""
    found = {}
    for stem, targets in edges.items():
        folder = str(Path(stem).parent)
        found.setdefault(folder, set()).update({str(Path(t).parent) for t in targets} - {folder})
    return found


def knots(edges):
    """Sets of names of which each reaches each other."""
    down = {name: reachable(edges, name) for name in edges}
    found = {frozenset(b for b in down[a] if a in down.get(b, ())) for a in edges if a in down[a]}
    return sorted(map(sorted, found))


def circles(module, root=ROOT):
    """Files, and folders of a module, that include each other."""
    edges = include_edges(module, root)
    for circle in knots(edges):
        yield f"src/{module}: {', '.join(circle)} include each other in a circle"
    for circle in knots(folder_edges(edges)):
        yield f"src/{module}: the folders {', '.join(circle)} include each other in a circle"


def documented():
    """The modules that each module may include, according to doc/architecture.md."""
    text = (ROOT / "doc/architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", text, re.M)
    return {name: [word for word in cell.split(", ") if word in DIRECT] for name, cell in rows
            if name in DIRECT}


def undocumented():
    told = documented()
    for module, uses in DIRECT.items():
        if told.get(module) != uses:
            yield (f"doc/architecture.md: `{module}` may include {told.get(module)}; "
                   f"cmake/modules.json says {uses}")


def unused():
    """Rows of the table for a library that the module does not include."""
    for prefix, users in OWNED.items():
        include = re.compile(rf"^\s*#\s*include\s*<{re.escape(prefix)}", re.M)
        for module in users:
            folder = ROOT / "src" / module
            if not any(include.search(path.read_text()) for path in folder.rglob("*.[hc]*")):
                yield f"cmake/modules.json: {module} does not include <{prefix}...>"


def main():
    bad, files = [*undocumented()], 0
    for module in DIRECT:
        allowed = closure(module)
        for path in sorted((ROOT / "src" / module).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files += 1
                bad += [*offences(path, module, allowed), *misplaced(path)]
        bad += circles(module)
    bad += unused()
    unknown = [p.name for p in (ROOT / "src").iterdir() if p.is_dir() and p.name not in DIRECT]
    bad += [f"src/{name}: not a module of the table" for name in unknown]
    print("\n".join(bad) if bad else f"includes of {files} files follow the module table")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
