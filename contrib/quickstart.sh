#!/usr/bin/env bash
# From a clone to a chainstate built with hints, on a generated chain: packages, build, a chain,
# hints, three ways to rebuild the chainstate, and Bitcoin Core's where it can be built.
#
#   contrib/quickstart.sh [--dir DIR] [--outputs N] [--no-install] [--no-core]
#
#   --dir DIR      everything it makes goes there (default: ibd-booster-quickstart in the clone);
#                  run again with the same DIR to start over
#   --outputs N    transaction outputs in the chain (default: 8000000)
#   --no-install   do not install packages
#   --no-core      do not build Bitcoin Core to compare with, which takes ten minutes once
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$root/ibd-booster-quickstart
outputs=8000000
install=true
more=()
while [ $# -gt 0 ]; do
    case $1 in
        --dir) dir=${2:?--dir wants a directory}; shift 2 ;;
        --outputs) outputs=${2:?--outputs wants a number}; shift 2 ;;
        --no-install) install=false; shift ;;
        --no-core) more+=(--no-core); shift ;;
        -h | --help) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) echo "quickstart: unknown option '$1' (see --help)" >&2; exit 1 ;;
    esac
done
case $outputs in
    '' | *[!0-9]*) echo "quickstart: --outputs wants a number, not '$outputs'" >&2; exit 1 ;;
esac

# A directory of somebody else is left alone: ours has the marker.
marker=made-by-quickstart
if [ -e "$dir" ] && [ ! -f "$dir/$marker" ] &&
    { [ ! -d "$dir" ] || [ -n "$(ls -A "$dir")" ]; }; then
    echo "quickstart: $dir is there and was not made by this script (no $marker in it);" \
        "choose another --dir" >&2
    exit 1
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
echo "contrib/quickstart.sh writes over what it has made here." >"$dir/$marker"
log=$dir/quickstart.log
: >"$log"

step_number=0
fail() {
    printf '\nquickstart: %s failed; the end of %s:\n' "$1" "$log" >&2
    tail -n 15 "$log" >&2
    exit 1
}
# How far a build is, by the last line of ninja's in the log: "12 of 439".
built() {
    tail -c 4096 "$log" | sed -nE 's/^\[([0-9]+)\/([0-9]+)\] .*/\1 of \2/p' | tail -n 1
}
# step TITLE COMMAND...: runs it into the log, with a clock on a terminal; leaves $took, seconds.
# All that it starts is a process group of its own, so that an end of this script can end all of it;
# but not what may ask for a password, which must be in the terminal's.
step() {
    local title=$1 begin now status=0 group=true
    shift
    step_number=$((step_number + 1))
    [ ! -t 1 ] || printf '%2d  %-46s' "$step_number" "$title"
    printf '\n== %s: %s\n' "$title" "$*" >>"$log"
    begin=$(date +%s%N)
    [ "$title" != packages ] || group=false
    ! $group || set -m
    "$@" >>"$log" 2>&1 </dev/null &
    local pid=$!
    set +m
    if $group; then pid=-$pid; fi
    trap 'kill -- "$pid" 2>/dev/null; exit 130' INT TERM HUP
    while kill -0 -- "${pid#-}" 2>/dev/null; do
        if [ -t 1 ]; then
            now=$((($(date +%s%N) - begin) / 1000000000))
            [ "$now" -lt 1 ] ||
                printf '\r%2d  %-46s%6d s  %s' "$step_number" "$title" "$now" "$(built)"
        fi
        sleep 0.05
    done
    wait "${pid#-}" || status=$?
    trap - INT TERM HUP
    took=$(awk -v ns=$(($(date +%s%N) - begin)) 'BEGIN { printf "%.2f", ns / 1e9 }')
    [ "$status" -eq 0 ] || { echo; fail "$title"; }
    [ ! -t 1 ] || printf '\r%78s\r' ''
    printf '%2d  %-46s%8s s\n' "$step_number" "$title" "$took"
}
echo "ibd-booster quick start, in $dir"
echo
$install && step "packages" "$root/depends/install.sh"
step "configure" cmake --preset dev -S "$root" -B "$root/build"
step "build" cmake --build "$root/build" -j "$(nproc)" --target bitcoind bitcoin-cli ibd-chaingen

exec python3 "$root/contrib/quickstart/demo.py" --bin "$root/build/bin" --dir "$dir" \
    --outputs "$outputs" --first-step $((step_number + 1)) "${more[@]}"
