#!/usr/bin/env python3
"""Figures of the structure: lines by module, methods of the largest classes, friends, names that
two types share, options and calls that more than one file names.

    house_figures.py            prints them
    house_figures.py --check    exits 1 if one is above its bound

A method is a function that a class declares: constructors, destructors and operators count, data
members, types and aliases do not.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Bounds that hold today; the targets are in the comments. They only ever fall.
MAX_NODE_LINES = 5_000
MAX_METHODS = {"booster": 40, "net": 40}
MAX_METHODS_ELSEWHERE = 70
MAX_FRIENDS = 0
MAX_SPREAD_OPTIONS = 83  # options that more than one file of src names; see CONTRIBUTING.md


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def body_end(text, begin):
    """Behind the brace that closes the one at `begin`."""
    depth = 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return len(text)


def declarations(body):
    """The declarations of a class body at its own level, each without its inner braces."""
    flat, at = "", 0
    while at < len(body):
        if body[at] == "{":
            at = body_end(body, at)
            flat += ";"
        else:
            flat += body[at]
            at += 1
    flat = re.sub(r"^\s*#.*$|\b(public|protected|private)\s*:", "", flat, flags=re.M)
    return [" ".join(part.split()) for part in flat.split(";")]


def is_method(declaration):
    head = re.sub(r"^(template\s*<[^()]*>\s*|\[\[\w+\]\]\s*)+", "", declaration)
    if re.match(r"(using|typedef|friend|struct|class|enum|static_assert)\b", head):
        return False
    # A member whose type or initializer has parentheses is none: std::function<void(int)> m_call.
    head = re.sub(r"IBD_GUARDED_BY\([^)]*\)", "", head)
    while "<" in (shorter := re.sub(r"<[^<>]*>", "", head)) and shorter != head:
        head = shorter
    head = re.sub(r"<[^<>]*>", "", head).partition("=")[0] if "operator" not in head else head
    return re.search(r"(operator\s*[^\s\w(]+|~?\w+)\s*\(", head) is not None


def classes(text):
    """(name, number of methods) of each class and struct of a source."""
    text = without_comments(text)
    for match in re.finditer(r"(?<!enum )\b(?:class|struct)\s+([\w:]+)[^;{}()=]*\{", text):
        begin = match.end() - 1
        body = text[begin + 1:body_end(text, begin) - 1]
        yield match[1], sum(map(is_method, declarations(body)))


def lines_by_module():
    return {folder.name: sum(len(path.read_text().splitlines()) for path in folder.rglob("*")
                             if path.suffix in (".h", ".cpp"))
            for folder in sorted((ROOT / "src").iterdir()) if folder.is_dir()}


def largest_classes():
    """(methods, module, class), largest first."""
    found = [(count, path.relative_to(ROOT / "src").parts[0], name)
             for path in (ROOT / "src").rglob("*") if path.suffix in (".h", ".cpp")
             for name, count in classes(path.read_text())]
    return sorted(found, reverse=True)


def types(text):
    """(name with namespace, type of an alias or "") of each type that a header declares for all."""
    text = without_comments(text)
    within = re.search(r"^namespace ([\w:]+) \{", text, flags=re.M)
    prefix = within[1] + "::" if within else ""
    for match in re.finditer(r"^(?:class|struct|enum(?: class)?) (\w+)\b(?!::)[^;{}()=]*\{|"
                             r"^using (\w+) = ([^;]*);", text, flags=re.M):
        yield prefix + (match[1] or match[2]), match[3] or ""


def names_of_two(headers):
    """Names that stand for different types; `headers`: (path, text)."""
    found = {}
    for path, text in headers:
        for name, alias in types(text):
            found.setdefault(name, {})[alias or path] = path
    return {name: sorted(places.values()) for name, places in found.items() if len(places) > 1}


def friends():
    return [f"{path.relative_to(ROOT)}: {match[0]}" for path in (ROOT / "src").rglob("*.h")
            for match in re.finditer(r"\bfriend\s+(class\s+|struct\s+)?[\w:]+(<[\w:, ]*>)?\s*;",
                                     without_comments(path.read_text()))]


def sources():
    """(path below the root, text without comments) of each source in src."""
    return [(str(path.relative_to(ROOT)), without_comments(path.read_text()))
            for path in sorted((ROOT / "src").rglob("*")) if path.suffix in (".h", ".cpp")]


def files_by_option(texts):
    """The files that name each option; the first of them declares it, with text behind the name."""
    declared = {name for _, text in texts
                for name in re.findall(r'(?:\{|args\.Add\()\s*"(-[a-z?][a-z0-9-]*)",\s*"', text)}
    named = {name: [] for name in declared}
    for path, text in texts:
        for name in set(re.findall(r'"(-[a-z?][a-z0-9-]*)"', text)) & declared:
            named[name].append(path)
    return named


def calls_told_twice(texts):
    """Calls of the node in bitcoin-cli's own table, which the build makes from the node's."""
    rpc = {name for path, text in texts if path.startswith("src/rpc/")
           for name in re.findall(r'"([a-z]{4,})",\s*"[A-Z]', text)}
    table = next(text for path, text in texts if path == "src/cli/param_table.cpp")
    return sorted(rpc & set(re.findall(r'\{"([a-z]{4,})",', table)))


def offences(lines, sizes, befriended):
    if lines["node"] > MAX_NODE_LINES:
        yield f"node has {lines['node']} lines, more than {MAX_NODE_LINES}"
    for count, module, name in sizes:
        bound = MAX_METHODS.get(module, MAX_METHODS_ELSEWHERE)
        if count > bound:
            yield f"{module}: {name} has {count} methods, more than {bound}"
    if len(befriended) > MAX_FRIENDS:
        yield f"{len(befriended)} friends, more than {MAX_FRIENDS}: {', '.join(befriended)}"


def ambiguous(texts):
    headers = [(path, text) for path, text in texts if path.endswith(".h")]
    for name, paths in names_of_two(headers).items():
        yield f"{name} is the name of two types: {', '.join(paths)}"


def spread(options):
    return sorted(name for name, files in options.items() if len(files) > 1)


def repeated(options, calls):
    if len(spread(options)) > MAX_SPREAD_OPTIONS:
        yield (f"{len(spread(options))} options are named in more than one file of src, more than "
               f"{MAX_SPREAD_OPTIONS}: give the row a field (CONTRIBUTING.md, Which files a change"
               f" touches)")
    for name in calls:
        yield f"src/cli/param_table.cpp: {name} is a call of this node: its row is made"


def main():
    lines, sizes, befriended = lines_by_module(), largest_classes(), friends()
    texts = sources()
    options, calls = files_by_option(texts), calls_told_twice(texts)
    bad = [*offences(lines, sizes, befriended), *ambiguous(texts), *repeated(options, calls)]
    if "--check" in sys.argv[1:]:
        print("\n".join(bad) if bad else "the structure keeps its bounds")
        return 1 if bad else 0
    for name, count in lines.items():
        print(f"{name:12} {count:6} lines")
    print("\nmethods of the largest classes:")
    for count, module, name in sizes[:15]:
        print(f"{module:12} {name:24} {count:4}")
    print(f"\n{len(befriended)} friends")
    print("\n".join(befriended))
    print(f"\n{len(options)} options, {len(spread(options))} of them named in more than one file")
    return 0


if __name__ == "__main__":
    sys.exit(main())
