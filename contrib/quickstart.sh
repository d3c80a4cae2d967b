#!/usr/bin/env bash
# From a clone to a chainstate built with hints, on a generated chain:
# packages, build, a chain, serial sync, snapshot, hints, the booster, and both times side by side.
#
#   contrib/quickstart.sh [--dir DIR] [--outputs N] [--no-install]
#
#   --dir DIR      everything it makes goes there (default: ibd-booster-quickstart in the clone);
#                  run again with the same DIR to start over
#   --outputs N    transaction outputs in the chain (default: 1000000)
#   --no-install   do not install packages
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$root/ibd-booster-quickstart
outputs=1000000
install=true
while [ $# -gt 0 ]; do
    case $1 in
        --dir) dir=${2:?--dir wants a directory}; shift 2 ;;
        --outputs) outputs=${2:?--outputs wants a number}; shift 2 ;;
        --no-install) install=false; shift ;;
        -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) echo "quickstart: unknown option '$1' (see --help)" >&2; exit 1 ;;
    esac
done
case $outputs in
    '' | *[!0-9]*) echo "quickstart: --outputs wants a number, not '$outputs'" >&2; exit 1 ;;
esac

# A directory of somebody else is left alone.
if [ -d "$dir" ] && [ ! -f "$dir/quickstart.log" ] && [ -n "$(ls -A "$dir")" ]; then
    echo "quickstart: $dir is not empty and was not made by this script; choose another --dir" >&2
    exit 1
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
log=$dir/quickstart.log
data=$dir/data
snapshot=$dir/utxo.dat
hints=$dir/chain.hints
: >"$log"
rm -rf "$data" "$dir/chain.json" "$snapshot" "$hints" "$hints.work"

step_number=0
fail() {
    printf '\nquickstart: %s failed; the end of %s:\n' "$1" "$log" >&2
    tail -n 15 "$log" >&2
    exit 1
}
# step TITLE COMMAND...: runs it into the log, with a clock on a terminal; leaves $took, seconds.
step() {
    local title=$1 begin now status=0
    shift
    step_number=$((step_number + 1))
    [ ! -t 1 ] || printf '%2d  %-46s' "$step_number" "$title"
    printf '\n== %s: %s\n' "$title" "$*" >>"$log"
    begin=$(date +%s%N)
    "$@" >>"$log" 2>&1 </dev/null &
    local pid=$!
    trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
    while kill -0 "$pid" 2>/dev/null; do
        if [ -t 1 ]; then
            now=$((($(date +%s%N) - begin) / 1000000000))
            [ "$now" -lt 1 ] || printf '\r%2d  %-46s%6d s' "$step_number" "$title" "$now"
        fi
        sleep 0.05
    done
    wait "$pid" || status=$?
    trap - INT TERM
    took=$(awk -v ns=$(($(date +%s%N) - begin)) 'BEGIN { printf "%.2f", ns / 1e9 }')
    [ "$status" -eq 0 ] || { echo; fail "$title"; }
    [ ! -t 1 ] || printf '\r'
    printf '%2d  %-46s%8s s\n' "$step_number" "$title" "$took"
}
fact() { # FIELD: from the generator's summary
    sed -n 's/^ *"'"$1"'": *"\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' "$dir/chain.json"
}

echo "ibd-booster quick start, in $dir"
echo
$install && step "packages" "$root/depends/install.sh"
step "configure" cmake --preset dev -S "$root" -B "$root/build"
step "build" cmake --build "$root/build" -j "$(nproc)" --target bitcoind bitcoin-cli ibd-chaingen
bin=$root/build/bin

# The tail buries the block at which the hints end: the booster, like -assumevalid, asks for two
# weeks' worth of blocks above it.
generate() {
    "$bin/ibd-chaingen" --out "$data" --outputs "$outputs" --tail 2100 --shuffle 20 --xor \
        >"$dir/chain.json"
}
step "generate a chain of $outputs outputs" generate
tip_height=$(fact height) hints_height=$(fact hints_height) hints_hash=$(fact hints_hash)
made=$(fact outputs)
common=(-datadir="$data" -regtest -rpcport=28443)
node=("$bin/bitcoind" "${common[@]}" -printtoconsole=0 -assumevalid="$hints_hash"
    -minimumchainwork=0)
cli() { "$bin/bitcoin-cli" "${common[@]}" -rpcclienttimeout=0 "$@"; }
start() { "${node[@]}" -daemonwait; }
stop() {
    cli stop
    while [ -e "$data/regtest/bitcoind.pid" ]; do sleep 0.05; done
}
coins_hash() { cli gettxoutsetinfo muhash | sed -n 's/.*"muhash": "\(.*\)",.*/\1/p'; }

step "index the block files, validate serially" "${node[@]}" -reindex -stopatheight="$tip_height"
dump() {
    start
    cli -named dumptxoutset path="$snapshot" rollback="$hints_height"
    coins_hash >"$dir/serial.muhash"
    stop
}
step "snapshot at height $hints_height: dumptxoutset" dump
step "hints from blocks and snapshot: booster-gen.py" \
    python3 "$root/contrib/ibd-booster-hints-gen/booster-gen.py" "$data" "$snapshot" "$hints"

# measure NAME COMMAND...: adds a line "wall-seconds CPU-seconds peak-MiB" to NAME.times.
measure() {
    python3 - "$dir/$1.times" "${@:2}" <<'PYTHON'
import os, sys, time
begin = time.monotonic()
_, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[2], sys.argv[2:]), 0)
wall = time.monotonic() - begin
with open(sys.argv[1], "a") as out:
    print(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, file=out)
sys.exit(os.waitstatus_to_exitcode(status) != 0)
PYTHON
}
rm -f "$dir/serial.times" "$dir/booster.times"
rebuild=("${node[@]}" -stopatheight="$tip_height" -reindex-chainstate)
for round in 1 2 3; do
    step "serial, run $round: -reindex-chainstate" measure serial "${rebuild[@]}"
    step "booster, run $round: ... -ibdboosterfile=chain.hints" \
        measure booster "${rebuild[@]}" -ibdboosterfile="$hints"
done
node_log=$data/regtest/debug.log
success=$(grep -o '\*\*\* IBD Booster: .*succeeded\. \*\*\*' "$node_log" | tail -n 1) ||
    fail "the booster's check"
compare() {
    start
    coins_hash >"$dir/booster.muhash"
    stop
    cmp "$dir/serial.muhash" "$dir/booster.muhash"
}
step "compare the coins of both" compare

echo
echo "$success"
echo
best() { sort -n "$dir/$1.times" | head -n 1; }
awk -v o="$made" -v serial="$(best serial)" -v booster="$(best booster)" \
    -v h="$(stat -c %s "$hints")" '
    function row(name, text) {
        split(text, t, " ")
        printf "    %-10s%9.2f%13.2f%18d%14.0f\n", name, t[1], t[2], o / t[1], t[3]
    }
    BEGIN {
        split(serial, s, " ")
        split(booster, b, " ")
        printf "    %-10s%9s%13s%18s%14s\n", "", "seconds", "CPU seconds", "outputs/second",
            "peak MiB"
        row("serial", serial)
        row("booster", booster)
        printf "    %-10s%8.1fx%12.1fx\n\n", "ratio", s[1] / b[1], s[2] / b[2]
        printf "%d outputs; hints of %d bytes, %.2f bits for each output; ", o, h, 8 * h / o
    }'
echo "same coins, MuHash $(cut -c1-16 "$dir/serial.muhash")..."
echo
echo "The best of three runs of bitcoind each, start and shutdown included. The chain is made up"
echo "and so small that all coins fit in memory, where serial validation is at its best."
echo
echo "Everything is in $dir; look around with:"
echo "    $bin/bitcoind -datadir=$data -regtest -daemonwait"
echo "    $bin/bitcoin-cli -datadir=$data -regtest getblockchaininfo"
