"""Errors, hashing, networks and atomic publishing shared by the tools."""

import hashlib
import os

_sha256 = hashlib.sha256


class ToolError(Exception):
    """Bad input or a refused request; its text is the one line the user sees."""


def sha256d(data):
    return _sha256(_sha256(data).digest()).digest()


def hash_hex(internal):
    """A hash as users know it: byte-reversed hex."""
    return internal[::-1].hex()


def parse_hash(text, what):
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise ToolError(f"{what}: not 64 hex digits: {text}")
    return raw[::-1]


# name -> (wire magic, folder below the data directory)
NETWORKS = {
    "main": (bytes.fromhex("f9beb4d9"), ""),
    "test": (bytes.fromhex("0b110907"), "testnet3"),
    "testnet4": (bytes.fromhex("1c163f28"), "testnet4"),
    "signet": (bytes.fromhex("0a03cf40"), "signet"),
    "regtest": (bytes.fromhex("fabfb5da"), "regtest"),
}
_NAMES = {magic: name for name, (magic, _) in NETWORKS.items()}


def network_name(magic):
    """The network's name; a custom signet has a magic of its own and is shown by it."""
    return _NAMES.get(magic, f"magic {magic.hex()}")


def fsync_dir(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def publish(temporary, final):
    """Move a finished temporary file to its name so that a crash leaves either none or all."""
    fd = os.open(temporary, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(temporary, final)
    fsync_dir(os.path.dirname(os.path.abspath(final)))


def write_atomic(path, *chunks):
    """Write a small file in one step (readers see the old one or the new one)."""
    temporary = path + ".tmp"
    with open(temporary, "wb") as out:
        for chunk in chunks:
            out.write(chunk)
    publish(temporary, path)


def run_main(main):
    """Run a tool: one line on stderr and exit code 1 for errors, 130 for Ctrl-C."""
    try:
        code = main()
    except ToolError as error:
        code = _fail(error)
    except KeyboardInterrupt:
        code = _fail("interrupted; what is done is kept, run the same command again", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 1
    except OSError as error:
        code = _fail(f"{error.filename}: {error.strerror}" if error.filename else error)
    raise SystemExit(code or 0)


def _fail(text, code=1):
    import sys
    print(f"error: {text}", file=sys.stderr)
    return code
