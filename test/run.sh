#!/usr/bin/env bash
# Sets up and runs everything that tests this project: unit, lint, contrib, fuzz, functional and
# interop. On a bare Debian 12 machine it installs the packages first. What cannot run (no cargo, no
# go, no clang, no ../shared/testdata) is named and skipped; with CI=true that is a failure. The
# last line counts what passed, failed and was skipped in all parts, and says why.
#
#   test/run.sh [--quick | --since REV]
#
#   --quick       unit, lint and contrib tests only
#   --since REV   what the changes since REV concern (test/support/since.py): unit tests of touched
#                 modules and of their users, touched functional tests, lint and contrib tests, and
#                 clang-tidy over touched sources
set -euo pipefail
cd "$(dirname "$0")/.."
quick=false since=
case "${1:-}" in
--quick) quick=true ;;
--since) since=${2:?a commit} quick=true ;;
"") ;;
*) echo "test/run.sh: no such option: $1 (--quick, --since REV)" >&2; exit 2 ;;
esac
[ -z "$since" ] || since=$(git rev-parse --verify "$since^{commit}")

results=$(mktemp -d)
export IBD_TEST_SUMMARY=$results/parts
others= status=0
# Builds of the other implementations are a process group of their own: a terminal's Ctrl-C does not
# reach it, and a kill of its leader would leave the compilers running.
trap '[ -z "$others" ] || kill -- "-$others" 2>/dev/null || true; rm -rf "$results"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

step "packages"
depends/install.sh depends/packages-page.txt
if ! $quick; then
    # The other implementations and the fuzz targets take minutes to build the first time, so they
    # start now, at low priority; the tests that run them wait for them and say what went wrong.
    set -m
    (for program in oracle btcd core lnd corepc python_clients bloom_wallet filter_wallet \
        electrs zmq_subscriber; do
        test/interop/build_$program.sh || true
    done
    nice -n 10 python3 test/fuzz/run.py --only-build || true) >/dev/null 2>&1 &
    others=$!
    set +m
fi
if [ -n "$since" ]; then
    step "changes since $since"
    mapfile -t concerned < <(test/support/since.py "$since")
    read -ra units <<<"${concerned[0]}"
    read -ra functional <<<"${concerned[1]}"
    step "build"
    cmake --preset dev >/dev/null
    programs=()
    [ ${#functional[@]} -eq 0 ] || programs=(bitcoind bitcoin-cli bitcoin-hints ibd-chaingen)
    [ ${#units[@]}${#programs[@]} = 00 ] ||
        cmake --build build -j "$(nproc)" --target "${units[@]}" "${programs[@]}"
    only=$(IFS='|'; echo "${units[*]}")
    step "unit, lint and contrib tests"
    ctest --test-dir build --output-on-failure -j "$(nproc)" --output-junit "$results/ctest.xml" \
        -R "^(${only:+$only|}lint_.*|contrib.*|test_support)\$" || status=1
    if [ ${#functional[@]} -gt 0 ]; then
        step "functional tests: ${functional[*]}"
        python3 test/functional/run.py --bindir build/bin "${functional[@]/%/.}" || status=1
    fi
    step "clang-tidy"
    test/lint/clang_tidy.py "$since" || status=1
    step "in all"
    python3 test/support/summary.py "$results" || status=1
    exit "$status"
fi
step "build"
cmake --preset dev >/dev/null
cmake --build build -j "$(nproc)"
# A part that fails does not keep the others from running.
step "unit, lint, contrib and bench-once tests"
ctest --test-dir build --output-on-failure -j "$(nproc)" --output-junit "$results/ctest.xml" ||
    status=1
if ! $quick; then
    step "functional tests"
    python3 test/functional/run.py --bindir build/bin || status=1
    step "interop tests"
    wait "$others" || true
    others=
    python3 test/interop/run.py || status=1
    step "fuzz targets, seconds each"
    python3 test/fuzz/run.py || status=1
fi
step "in all"
python3 test/support/summary.py "$results" || status=1
exit "$status"
