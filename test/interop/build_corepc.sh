#!/usr/bin/env bash
# Builds corepc-calls (a program over the published crate corepc-client) into the cache and prints
# the path of its binary. 80 CPU seconds the first time. Exit status as depends/cached_build.sh
# says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
build_crate "$here/corepc-calls" corepc-calls
