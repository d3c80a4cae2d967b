#!/usr/bin/env bash
# Builds the .deb and the tar archive of this checkout, whose programs need only libc, libstdc++
# and libzmq. Two clones of the same commit give the same bytes, in any folder.
#
#   contrib/packaging/make_package.sh [OUTDIR]     (default: build-package)
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
[ -z "${1:-}" ] || out=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
: "${out:=build-package}"
depends/install.sh depends/packages-package.txt
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH
umask 022
cmake --preset package >/dev/null
cmake --build build-package -j "${IBD_JOBS:-$(nproc)}"
(cd build-package && cpack -B packages >/dev/null)
mkdir -p "$out"
for package in build-package/packages/*.deb build-package/packages/*.tar.gz; do
    [ "$(dirname "$package")" -ef "$out" ] || cp "$package" "$out"
done
(cd "$out" && sha256sum ./*.deb ./*.tar.gz)
