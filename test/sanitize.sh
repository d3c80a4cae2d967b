#!/usr/bin/env bash
# Runs the engine's tests, and a sanitized bitcoind, under address and undefined-behaviour (asan) or
# thread (tsan) sanitizers. Nothing is left out or shortened but the sizes of generated chains. The
# last line is "asan: clean" or "tsan: clean"; anything else is a failure, with a status to match.
#
#   test/sanitize.sh asan|tsan [unit|functional|everything]
#
# Default: the parts of unit and functional tests in which threads and memory matter most;
# `everything` runs all unit and functional tests, for hours.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?asan or tsan}
part=${2:-all}
case $part in
all | unit | functional | everything) ;;
*) echo "$0: no such part: $part (unit, functional or everything)" >&2; exit 2 ;;
esac
units="unit_swiftsync unit_join unit_full_validation unit_validation unit_storage unit_rpc \
unit_index unit_util"
functional="test_booster.SmallChain test_booster.Rebuild test_booster.FullValidation \
test_booster.Progress \
test_hints_files.ChangedInUse test_process test_rpc test_crash test_own_hints \
test_undo.Background test_undo.BrokenFarBelow test_undo_last_blocks test_undo.Interrupted \
test_full_validation test_hints_calls"
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
# Tests run programs as a user who may not read the clone.
suppressions=$(mktemp)
trap 'rm -f "$suppressions"' EXIT
install -m 644 test/tsan.supp "$suppressions"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:suppressions=$suppressions"
export IBD_KILLS=${IBD_KILLS:-2} IBD_OUTPUTS=${IBD_OUTPUTS:-60000} IBD_SANITIZED=$preset

cmake --preset "$preset" >/dev/null
if [ "$part" = everything ]; then
    cmake --build "build-$preset" -j "$(nproc)"
    status=0
    ctest --test-dir "build-$preset" -L unit --output-on-failure -j "$(nproc)" || status=1
    python3 test/functional/run.py --bindir "build-$preset/bin" || status=1
    [ "$status" = 0 ] || exit "$status"
    echo "$preset: clean (everything)"
    exit 0
fi
# shellcheck disable=SC2086 # lists of words
cmake --build "build-$preset" -j "$(nproc)" \
    --target bitcoind bitcoin-cli bitcoin-hints ibd-chaingen $units
if [ "$part" != functional ]; then
    for unit in $units; do
        printf '== %s\n' "$unit"
        "$(find "build-$preset" -name "$unit" -type f)"
    done
fi
if [ "$part" != unit ]; then
    for tests in $functional; do
        printf '== %s\n' "$tests"
        python3 test/functional/run.py --bindir "build-$preset/bin" -j 1 "$tests"
    done
fi
printf '%s: clean%s\n' "$preset" "$([ "$part" = all ] || echo " ($part part)")"
