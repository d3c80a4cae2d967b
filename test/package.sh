#!/usr/bin/env bash
# Builds the packages twice, from two clones in two folders, compares their bytes, and runs
# test/functional/test_install.py from what the .deb and the tar archive hold; as root it also
# installs the .deb into a root of its own and removes it. Takes ten minutes for each clone the
# first time; not part of test/run.sh. Needs a build of the tests in build/.
#
#   test/package.sh [COMMIT]     (default: HEAD)
set -euo pipefail
cd "$(dirname "$0")/.."
commit=$(git rev-parse "${1:-HEAD}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in first a-second-folder; do
    git clone -q . "$work/$name"
    git -C "$work/$name" checkout -q "$commit"
    "$work/$name/contrib/packaging/make_package.sh" "$work/$name-out"
done
diff -r "$work/first-out" "$work/a-second-folder-out"
echo "both clones gave the same bytes"
for package in "$work"/first-out/*.deb "$work"/first-out/*.tar.gz; do
    echo "== $(basename "$package")"
    IBD_PACKAGE=$package python3 test/functional/run.py --bindir build/bin test_install
done
root=$work/root
mkdir -p "$root/var/lib/dpkg"
touch "$root/var/lib/dpkg/status"
dpkg --root="$root" --force-depends --force-not-root --log=/dev/null \
    -i "$work"/first-out/*.deb 2>/dev/null
"$root/usr/bin/bitcoind" -version
dpkg --root="$root" --force-not-root --log=/dev/null --purge ibd-booster 2>/dev/null
left=$(find "$root" -type f -not -path "$root/var/lib/dpkg/*")
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
echo "removed: nothing left"
