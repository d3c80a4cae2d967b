#!/usr/bin/env python3
"""Counts the words in comments, messages and documents that make a reader read twice.

A sentence names its subject: a noun stands in place of "who", "nobody", "what" or "that which", and
no sentence begins with "Of the ...". `RIDDLES` are counted in the comments and documents and held
to a bound, for `src`, for the other sources and for Markdown. `HOUSE_WORDS` must occur in no
comment, message or name. Given folders, it reads only these, with one bound.
"""
import argparse
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_RIDDLES = 16
SOURCES = (".cpp", ".h", ".py")
FOLDERS = (["src"], ["test", "contrib", "bench"], ["*.md"])
# Documents with dated notes, or about other programs.
NOT_READ = ("bench/log/",)

RIDDLES = re.compile(
    r"\b(who|whoever|whom|nobody|told|so (many|much) \w+ (as|are|is)|(is|are|be|was) so (many|much)"
    r"|so (many|much)(?=[.,;:)]|$)|that which|that what|those that|what is \w+ is"
    r"|in vain|at hand|anew|in league|none the worse|none such|owe[sd]?"
    r"|gone? on (with|from)|goes on (with|from)"
    r"|(?-i:What (?!if\b)\w+|How (many|much|far|long|often))|what (follows|came|comes)"
    r"|(of|for|from|by|with|than) what (is|are|was|were|it|they|the|a|an|each)"
    r"|(?-i:Of (an?|the|each|all|both|several|some|such|two|those|another)))\b",
    re.IGNORECASE)
# The words of the house, and the field's: target, reference, oversized, wanted, bytes.
HOUSE_WORDS = re.compile(
    r"\b(\w*twins?|\w*giants?|\w*sought\w*|bearing on|(take|took|taken|takes) lightly"
    r"|HowTheBoosterDoes|TakeLightly|WayBack|TendBegunHints|LetWaitersGo|kMaxGiantUndoBytes"
    r"|the bar (is|of|for)|kGiant\w*|Sought\w*|\w*Twin)\b", re.IGNORECASE)

COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'|(//[^\n]*|/\*.*?\*/)', re.DOTALL)


def comments_of_cpp(text):
    """(line, text) of each comment; line comments that follow one another are one comment."""
    block, first, last_line = [], 0, -1
    for match in COMMENT.finditer(text):
        if not match.group(1):
            continue
        line = text.count("\n", 0, match.start()) + 1
        alone = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
        if block and not (alone and line == last_line + 1):
            yield first, "\n".join(block)
            block = []
        if not block:
            first = line
        block.append(match.group(1))
        last_line = line + match.group(1).count("\n")
    if block:
        yield first, "\n".join(block)


def comments_of_python(text):
    block, first, last_line = [], 0, -1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and token.string.startswith(('"""', 'r"""'))
        if token.type != tokenize.COMMENT and not docstring:
            continue
        if block and token.start[0] != last_line + 1:
            yield first, "\n".join(block)
            block = []
        if not block:
            first = token.start[0]
        block.append(token.string)
        last_line = token.end[0]
    if block:
        yield first, "\n".join(block)


def paragraphs_of_markdown(text):
    """(line, text) of each paragraph, table or list; without headings and code."""
    block, first, code = [], 0, False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        fence = line.lstrip().startswith("```")
        if fence or code or not line.strip() or line.startswith("#"):
            if block:
                yield first, "\n".join(block)
            block, code = [], code != fence
            continue
        if not block:
            first = number
        block.append(re.sub(r"`[^`]*`", lambda m: "_" * len(m[0]), line))


READERS = {".py": comments_of_python, ".md": paragraphs_of_markdown}


def riddles(path, text):
    """(line, words) of each hit in a comment or document; a phrase may cross a line."""
    comments = READERS.get(path.suffix, comments_of_cpp)
    for first, comment in comments(text):
        plain = re.sub(r"\n[ \t]*(//[!/<]*|\*(?!/)|#)?", lambda m: "\n" + " " * (len(m[0]) - 1),
                       comment)
        flat = re.sub(r"\s", " ", plain)
        squeezed, places = [], []
        for place, letter in enumerate(flat):
            if letter != " " or not squeezed or squeezed[-1] != " ":
                squeezed.append(letter)
                places.append(place)
        for match in RIDDLES.finditer("".join(squeezed)):
            yield first + comment.count("\n", 0, places[match.start()]), match.group(0)


def tracked(folders):
    """The sources or documents in the folders, but for this one, which names the words."""
    names = subprocess.run(["git", "ls-files", "--", *folders], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split("\n")
    suffixes = (".md",) if folders == ["*.md"] else SOURCES
    paths = [ROOT / name for name in names
             if name.endswith(suffixes) and not name.startswith(NOT_READ)]
    return [path for path in paths if path.is_file() and path != Path(__file__).resolve()]


def check(folders, list_all):
    found, house = [], []
    for path in tracked(folders):
        name, text = path.relative_to(ROOT), path.read_text()
        found += [f"{name}:{line}: {words}" for line, words in riddles(path, text)]
        house += [f"{name}:{number}: house word: {match.group(0)}"
                  for number, line in enumerate(text.split("\n"), 1)
                  for match in HOUSE_WORDS.finditer(line)]
    bad = len(found) > MOST_RIDDLES or bool(house)
    if bad or list_all:
        print("\n".join(found + house))
    print(f"{', '.join(folders)}: {len(found)} riddling words (at most {MOST_RIDDLES}), "
          f"{len(house)} words of the house (none)")
    return not bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--all", action="store_true", help="list each hit, also within the bound")
    parser.add_argument("folders", nargs="*")
    args = parser.parse_args()
    groups = [args.folders] if args.folders else FOLDERS
    return 0 if all([check(folders, args.all) for folders in groups]) else 1


if __name__ == "__main__":
    sys.exit(main())
