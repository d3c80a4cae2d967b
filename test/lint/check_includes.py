#!/usr/bin/env python3
"""Checks every #include under src/ against the module table in doc/architecture.md.

A module may include itself, what its row allows (with everything below it), and the external
headers it is the sole user of. Exits 1 and lists each offending line.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DIRECT = {
    "util": [], "crypto": ["util"], "primitives": ["crypto"], "script": ["primitives"],
    "consensus": ["script"], "chain": ["consensus"], "storage": ["script"],
    "validation": ["chain", "storage"], "swiftsync": ["chain", "storage"],
    "mempool": ["chain", "storage"], "mining": ["mempool", "validation"], "net": ["chain"],
    "rpc": ["swiftsync", "mining", "net"], "node": ["rpc"], "cli": ["util"],
}

# External header prefix -> modules that may use it.
OWNED = {
    "secp256k1": {"crypto"}, "openssl/": {"crypto"}, "leveldb/": {"storage"},
    "sqlite3": {"storage"}, "boost/multi_index": {"mempool"}, "event2/": {"net", "rpc", "cli"},
    "univalue": {"rpc", "cli", "node"},
}


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


def main():
    bad, files = [], 0
    for module in DIRECT:
        allowed = closure(module)
        for path in sorted((ROOT / "src" / module).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files += 1
                bad += offences(path, module, allowed)
    unknown = [p.name for p in (ROOT / "src").iterdir() if p.is_dir() and p.name not in DIRECT]
    bad += [f"src/{name}: not a module of the table" for name in unknown]
    print("\n".join(bad) if bad else f"includes of {files} files follow the module table")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
