#!/usr/bin/env bash
# Sets up and runs everything that tests this project: unit, lint, contrib, functional and interop.
# On a bare Debian 12 machine it installs the packages first. What cannot run (no cargo, no go, no
# ../shared/testdata) is named and skipped; with CI=true that is a failure.
#
#   test/run.sh [--quick]     --quick: unit, lint and contrib tests only
set -euo pipefail
cd "$(dirname "$0")/.."
quick=false
[ "${1:-}" != --quick ] || quick=true

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

step "packages"
depends/install.sh
step "build"
secp256k1=$(depends/build_secp256k1.sh) || secp256k1= # else Debian's, which is slower
cmake --preset dev -DIBD_SECP256K1_ROOT="$secp256k1" >/dev/null
cmake --build build -j "$(nproc)"
step "unit, lint, contrib and bench-once tests"
ctest --test-dir build --output-on-failure -j "$(nproc)"
$quick && exit 0
step "functional tests"
python3 test/functional/run.py --bindir build/bin
step "interop tests"
python3 test/interop/run.py
step "all passed"
