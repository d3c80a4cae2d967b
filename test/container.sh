#!/usr/bin/env bash
# Builds the container image of contrib/container and runs the node in it: it starts, answers
# bitcoin-cli, makes a block and stops in order with the signal of `stop`. Takes ten minutes the
# first time; not part of test/run.sh. Exit status 77 (skipped, with the reason) without podman or
# docker, without a running engine, or without a base image.
#
#   test/container.sh            environment: BASE (debian:12-slim), ENGINE (podman, else docker)
set -euo pipefail
cd "$(dirname "$0")/.."
base=${BASE:-debian:12-slim}
skip() { echo "SKIP container: $1" >&2; exit 77; }

engine=${ENGINE:-$(command -v podman || command -v docker || true)}
[ -n "$engine" ] || skip "neither podman nor docker is installed"
"$engine" info >/dev/null 2>&1 || skip "$(basename "$engine") has no running engine"
"$engine" image inspect "$base" >/dev/null 2>&1 || "$engine" pull -q "$base" >/dev/null 2>&1 ||
    skip "no base image $base is at hand"

image=ibd-booster-test node=ibd-booster-test-$$
"$engine" build --build-arg "BASE=$base" -t "$image" -f contrib/container/Containerfile .
trap '"$engine" rm -f -v "$node" >/dev/null 2>&1 || true' EXIT
"$engine" run -d --name "$node" "$image" -regtest -connect=0 >/dev/null
cli() { "$engine" exec "$node" bitcoin-cli -datadir=/data -regtest "$@"; }

cli -rpcwait -rpcwaittimeout=60 getblockcount
descriptor=$(cli getdescriptorinfo 'raw(51)' | sed -n 's/.*"descriptor": "\(.*\)".*/\1/p')
cli generatetodescriptor 1 "$descriptor" >/dev/null
[ "$(cli getblockcount)" = 1 ] || { echo "container: no block was made" >&2; exit 1; }
"$engine" stop -t 60 "$node" >/dev/null
status=$("$engine" inspect -f '{{.State.ExitCode}}' "$node")
[ "$status" = 0 ] || { echo "container: the node ended with $status" >&2; exit 1; }
echo "container: starts, makes a block, stops in order"
