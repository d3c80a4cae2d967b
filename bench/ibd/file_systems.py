"""A fresh file system for a bench: ext4, xfs or btrfs in a file that is mounted as a loop device
with direct I/O, or tmpfs. Needs root, and the mkfs program of the file system."""
import contextlib
import os
import shutil
import subprocess

KINDS = ("ext4", "xfs", "btrfs", "tmpfs")


def missing(kind):
    """Why the file system cannot be made here; none: it can."""
    if os.geteuid() != 0:
        return f"{kind}: skipped, mounting needs root"
    for program in ("mount", *([] if kind == "tmpfs" else ["losetup", f"mkfs.{kind}"])):
        if shutil.which(program) is None:
            return f"{kind}: skipped, there is no {program}"
    return None


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()


@contextlib.contextmanager
def mounted(kind, work, size):
    """The folder at which a new file system of `size` bytes is mounted; removed in the end."""
    folder, image = work / f"mount-{kind}", work / f"{kind}.img"
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as end:
        end.callback(folder.rmdir)
        if kind == "tmpfs":
            run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
        else:
            end.callback(image.unlink)
            with open(image, "wb") as file:
                file.truncate(size)
            device = run("losetup", "--find", "--show", "--direct-io=on", image)
            end.callback(run, "losetup", "-d", device)
            run(f"mkfs.{kind}", "-q", device)
            run("mount", device, folder)
        end.callback(run, "umount", folder)
        yield folder
