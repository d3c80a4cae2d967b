#!/usr/bin/env python3
"""Writes manual pages, shell completions and the example bitcoin.conf from the programs' own help.

    make_docs.py BINDIR OUTDIR

OUTDIR gets man1/*.1, bash/*, zsh/_*, fish/*.fish and bitcoin.conf. The output depends on the
programs alone: the same programs give the same bytes.
"""

import pathlib
import sys

import program_help as source

SEE_ALSO = {
    "bitcoind": ("bitcoin-cli", "bitcoin-hints"),
    "bitcoin-cli": ("bitcoind", "bitcoin-hints"),
    "bitcoin-hints": ("bitcoind", "bitcoin-cli"),
}
PATH_ARGUMENTS = ("<file>", "<dir>", "<path>", "<loc>", "FILE", "DIR", "SVG")


# --- manual pages ---------------------------------------------------------------------------------

def roff(text):
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in ".'" else escaped


def option_entries(groups):
    for group in groups:
        yield f".SS {roff(group.title)}"
        for option in group.options:
            yield from (".TP", f"\\fB{roff(option.name)}\\fR{roff(option.argument)}",
                        roff(option.text))


def literal(text):
    return [".nf", *(roff(line) for line in text.splitlines()), ".fi"]


def page(name, version, summary, sections):
    lines = [f'.TH "{name.upper()}" "1" "" "ibd-booster {version}" "User Commands"',
             ".SH NAME", f"{roff(name)} \\- {roff(summary)}"]
    for title, body in sections:
        lines += [f".SH {title}", *body]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{roff(other)}\\fR(1)" for other in SEE_ALSO[name])]
    return "\n".join(lines) + "\n"


def node_page(program):
    return page("bitcoind", program.version, "Bitcoin full node with the IBD Booster", [
        ("SYNOPSIS", ["\\fBbitcoind\\fR [\\fIoptions\\fR]"]),
        ("DESCRIPTION", [roff(
            "Downloads, checks and serves the block chain. Takes the options, the configuration "
            "file and the data directory of Bitcoin Core. A hints file lets it build the set of "
            "unspent outputs from blocks in any order, on all cores.")]),
        ("OPTIONS", list(option_entries(program.node))),
        ("FILES", [".TP", "\\fI~/.bitcoin\\fR", "data directory, with bitcoin.conf in it"]),
        ("EXIT STATUS", ["0 after an orderly stop, 1 after an error."]),
    ])


def cli_page(program):
    calls = []
    for category, names in program.calls:
        calls += [".TP", f"\\fB{roff(category)}\\fR", roff(" ".join(names))]
    return page("bitcoin-cli", program.version, "calls a running bitcoind", [
        ("SYNOPSIS", ["\\fBbitcoin\\-cli\\fR [\\fIoptions\\fR] \\fIcall\\fR [\\fIarguments\\fR]"]),
        ("DESCRIPTION", [roff("Sends one call to a node and prints its answer. "
                              "`bitcoin-cli help CALL` describes a call.")]),
        ("OPTIONS", list(option_entries(program.cli))),
        ("CALLS", calls),
        ("EXIT STATUS", [roff("0 after an answer, the absolute value of the error's code if the "
                              "node refused the call, 1 if there was no answer.")]),
    ])


def hints_page(program):
    tool = program.hints
    return page("bitcoin-hints", program.version, tool.summary, [
        ("SYNOPSIS", literal(tool.usage)),
        ("DESCRIPTION", literal(tool.described)),
        ("OPTIONS", list(option_entries([source.Group("All commands", tool.options)]))),
        ("FORMATS", literal(tool.remarks)),
        ("EXIT STATUS", [roff("0 on success, 1 after an error or, of diff, if files differ.")]),
    ])


# --- completions ----------------------------------------------------------------------------------

class Completion:
    """The words of one program that a shell can complete: its options, and the first word after
    them."""

    def __init__(self, name, options, words, formats=()):
        self.name, self.options, self.words, self.formats = name, options, words, formats

    def flag(self, option):
        return option.name + ("=" if option.argument else "")

    def takes_path(self, option):
        return any(word in option.argument for word in PATH_ARGUMENTS)

    def function(self):
        return "_ibd_" + self.name.replace("-", "_")


def bash(completion):
    function = completion.function()
    paths = "|".join(option.name for option in completion.options if completion.takes_path(option))
    words = " ".join(completion.words)
    flags = " ".join(completion.flag(option) for option in completion.options)
    return f"""# bash completion of {completion.name}; made by contrib/packaging
{function}() {{
    local word=${{COMP_LINE:0:COMP_POINT}}
    word=${{word##* }}
    COMPREPLY=()
    case $word in
    --format=*|--from=*)
        COMPREPLY=($(compgen -W "{' '.join(completion.formats)}" -- "${{word#*=}}")) ;;
    {paths.replace('|', '=*|')}=*)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "${{word#*=}}") ;;
    -*=*) ;;
    -*)
        COMPREPLY=($(compgen -W "{flags}" -- "$word"))
        [[ ${{COMPREPLY[0]-}} != *= ]] || compopt -o nospace ;;
    *)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$word"; compgen -f -- "$word") ;;
    esac
}}
complete -F {function} {completion.name}
"""


def quoted(text):
    """A text in single quotes, for sh and similar shells."""
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(completion):
    lines = [f"#compdef {completion.name}", "_arguments \\"]
    for option in completion.options:
        text = option.text.replace("[", "(").replace("]", ")").replace(":", "\\:")
        value = ""
        if option.argument:
            value = ":value:_files" if completion.takes_path(option) else ":value:"
        equals = "=-" if option.argument else ""
        lines.append(f"    {quoted(f'*{option.name}{equals}[{text}]{value}')} \\")
    if completion.words:
        lines.append(f"    {quoted('1:command:(' + ' '.join(completion.words) + ')')} \\")
    lines.append("    '*:file:_files'")
    return "\n".join(lines) + "\n"


def fish(completion):
    lines = [f"# fish completion of {completion.name}"]
    for option in completion.options:
        text = quoted(option.text)
        if option.name.startswith("--"):
            needs = " -r" if option.argument else " -f"
            if option.name in ("--format", "--from"):
                needs = f" -x -a {quoted(' '.join(completion.formats))}"
            lines.append(f"complete -c {completion.name} -l {option.name[2:]}{needs} -d {text}")
        else:
            flag = quoted(completion.flag(option))
            lines.append(f"complete -c {completion.name} -n 'string match -q -- \"-*\" "
                         f"(commandline -ct)' -a {flag} -d {text}")
    if completion.words:
        words = quoted(" ".join(completion.words))
        lines.append(f"complete -c {completion.name} -f -n 'not __fish_seen_subcommand_from "
                     f"{' '.join(completion.words)}' -a {words}")
    return "\n".join(lines) + "\n"


def completions(program):
    node = [option for group in program.node for option in group.options]
    cli = [option for group in program.cli for option in group.options]
    calls = [name for _, names in program.calls for name in names]
    return [Completion("bitcoind", node, []), Completion("bitcoin-cli", cli, calls),
            Completion("bitcoin-hints", program.hints.options, program.hints.commands,
                       program.hints.formats)]


# --- example configuration ------------------------------------------------------------------------

COMMAND_LINE_ONLY = ("-conf", "-help", "-version", "-settings")


def example_config(groups):
    lines = ["# Example configuration of bitcoind. Remove the # before what you need.",
             "# Options of one network go into a section: [main], [test], [testnet4], [signet] or",
             "# [regtest]."]
    for group in groups:
        lines += ["", "", f"# {group.title}"]
        for option in group.options:
            if option.name in COMMAND_LINE_ONLY:
                continue
            lines += ["", *wrapped(option.text), f"#{option.name[1:]}{option.argument or '=1'}"]
    return "\n".join(lines) + "\n"


def wrapped(text, columns=92):
    line = "#"
    for word in text.split():
        if len(line) + 1 + len(word) > columns:
            yield line
            line = "#"
        line += " " + word
    yield line


# --- all of it ------------------------------------------------------------------------------------

class Program:
    def __init__(self, bindir):
        self.version = source.version(bindir)
        self.node, self.cli = source.node_options(bindir), source.cli_options(bindir)
        self.hints, self.calls = source.hints_help(bindir), source.calls(bindir)


def documents(bindir):
    """{path below OUTDIR: text}"""
    program = Program(bindir)
    files = {"man1/bitcoind.1": node_page(program), "man1/bitcoin-cli.1": cli_page(program),
             "man1/bitcoin-hints.1": hints_page(program),
             "bitcoin.conf": example_config(program.node)}
    for completion in completions(program):
        files[f"bash/{completion.name}"] = bash(completion)
        files[f"zsh/_{completion.name}"] = zsh(completion)
        files[f"fish/{completion.name}.fish"] = fish(completion)
    return files


def main(bindir, out):
    for name, text in documents(bindir).items():
        path = pathlib.Path(out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
