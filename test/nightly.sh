#!/usr/bin/env bash
# The checks that take hours, one after the other, on an idle machine. A failing step does not keep
# the others from running. The table at the end has the result of each.
#
#   test/nightly.sh [STEP...]     default: all steps, in this order:
#
#   clang      the whole tree built by clang, warnings as errors
#   tidy       clang-tidy over all of src
#   asan tsan  all unit and functional tests under the sanitizers
#   fuzz       each fuzz target, an hour in all; new inputs are kept in FUZZ_CORPUS
#   kills      200 kill -9 of each kind (with hints, without, network, undo data, full validation,
#              relay)
#
# Environment: LOGS (folder of one log for each step, default build-nightly/logs), KILLS (200),
# OUTPUTS (2100000, of the chain that is killed over), FUZZ_SECONDS (3600, over all targets),
# FUZZ_CORPUS (build-nightly/corpus).
set -uo pipefail
# A step that ends on Ctrl-C would count as failed, and the next would begin.
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
cd "$(dirname "$0")/.."
logs=${LOGS:-build-nightly/logs}
corpus=${FUZZ_CORPUS:-build-nightly/corpus}
mkdir -p "$logs" "$corpus"

clang() {
    cmake -S . -B build-clang -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 &&
        cmake --build build-clang -j "$(nproc)"
}

tidy() { test/lint/clang_tidy.py --all --jobs "$(nproc)"; }

asan() { test/sanitize.sh asan everything; }

tsan() { test/sanitize.sh tsan everything; }

fuzz() {
    local targets
    targets=$(find test/fuzz -name 'fuzz_*.cpp' | wc -l)
    # As many targets at a time as there are cores.
    test/fuzz/run.py --corpus "$corpus" \
        --seconds $((${FUZZ_SECONDS:-3600} * $(nproc) / targets + 1))
}

kills() {
    cmake --preset dev && cmake --build build -j "$(nproc)" || return 1
    # A test that kills waits most of the time.
    python3 test/functional/run.py --bindir build/bin -j $((2 * $(nproc))) -v \
        --kills "${KILLS:-200}" --outputs "${OUTPUTS:-2100000}" \
        test_crash. test_network_booster.Killed test_undo. test_full_validation. test_leftovers. \
        test_killed_while_relaying. killed_with_all_indexes
}

known="clang tidy asan tsan fuzz kills"
for step in "$@"; do
    case " $known " in
    *" $step "*) ;;
    *) echo "test/nightly.sh: no such step: $step ($known)" >&2; exit 2 ;;
    esac
done
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $known

table= failed=0
for step in "$@"; do
    begin=$SECONDS
    printf '== %s, log in %s\n' "$step" "$logs/$step.log"
    if "$step" >"$logs/$step.log" 2>&1; then result=passed; else result=FAILED failed=1; fi
    last=$(grep -v '^$' "$logs/$step.log" | tail -n 1)
    [ "$result" = passed ] || tail -n 20 "$logs/$step.log"
    table+=$(printf '| %s | %s | %s min | %s |' "$step" "$result" \
        $(((SECONDS - begin + 59) / 60)) "$last")$'\n'
done
printf '\nRevision %s on %s, %s cores\n\n' "$(git rev-parse --short HEAD)" "$(date +%F)" "$(nproc)"
printf '| step | result | time | last line |\n|---|---|---|---|\n%s' "$table"
exit "$failed"
