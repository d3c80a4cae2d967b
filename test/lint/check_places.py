#!/usr/bin/env python3
"""Holds operations that were wrong in more than one place to the places that were looked at.

Each rule is a pattern and the files of src in which it may stand. A new place has to be looked at
with the rule's question; then its file joins the list. A file without the pattern leaves the list.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RULES = [
    # A pipe without a writer, a folder or a device must neither block nor break the program.
    ("opens a path outside Env: what if it is a pipe, a folder or a link to nothing?",
     r"(?<![\w.>])open(at)?\([^;]+,|\bf(re)?open\(|\b[io]?fstream\b",
     {"node/bitcoind_main.cpp", "rpc/cli_table_main.cpp", "util/last_words.cpp",
      "util/log_file.cpp", "util/posix_env.cpp", "util/posix_file.h", "util/posix_pipe.cpp",
      "util/process.cpp"}),
    # Links and hard links of users stay, and so do the modes of their files.
    ("renames over a path: may it be a link, or a file of the user?",
     r"[.>]Rename\(|\bstd::rename\(|filesystem::rename\(",
     {"booster/given_sync_convert.cpp", "booster/hints_from_peers.cpp",
      "booster/hints_library.cpp", "booster/snapshot_loader.cpp", "hints_tool/show.cpp",
      "hints_tool/tool.cpp",
      "join/spend_join.cpp", "jsonrpc/auth.cpp", "net/address/address_files.cpp",
      "rpc/coins.cpp", "storage/chainstate_builder.cpp", "storage/data_dir.cpp",
      "swiftsync/chainstate_loader.cpp", "util/env.cpp", "validation/snapshot_folder.cpp"}),
    # A folder goes only if the program made it and marked it.
    ("removes a folder with all that it holds: has the program made all of it?",
     r"env(\.|->)RemoveAll\(|filesystem::remove_all\(",
     {"booster/kept_work.cpp", "storage/chainstate_builder.cpp",
      "storage/kv_store.cpp", "swiftsync/chainstate_loader.cpp", "util/posix_env.cpp"}),
    # Children have no signal blocked or ignored, no file of the node, and are collected.
    ("starts a process: StartShell() of util/process.h does it right",
     r"\bv?fork\(\)|\b(posix_spawnp?|exec[lv]p?e?|popen)\(|::system\(",
     {"node/bitcoind_main.cpp", "util/process.cpp"}),
    ("handles signals: does the program still end when it is asked to?",
     r"\b(sigaction|sigwait|sigprocmask|pthread_sigmask|std::signal|pthread_kill)\(",
     {"hints_tool/stop_signals.cpp", "node/bitcoind_main.cpp", "util/mapped_file.cpp",
      "util/process.cpp"}),
]


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def offences(texts, rules):
    """`texts`: text by path below src."""
    for question, pattern, allowed in rules:
        found = set()
        for path, text in sorted(texts.items()):
            for number, line in enumerate(without_comments(text).split("\n"), 1):
                if not re.search(pattern, line):
                    continue
                found.add(path)
                if path not in allowed:
                    yield f"src/{path}:{number}: {question} {line.strip()}"
        for path in sorted(allowed - found):
            yield f"src/{path}: is in a list without need ({question.partition(':')[0]})"


def main():
    src = ROOT / "src"
    texts = {str(path.relative_to(src)): path.read_text(encoding="utf-8")
             for path in src.rglob("*") if path.suffix in (".h", ".cpp")}
    bad = list(offences(texts, RULES))
    print("\n".join(bad) if bad else f"{len(RULES)} operations stand where they were looked at")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
