#!/usr/bin/env bash
# Builds the hints oracle (the published crate for BIP 456's hints as a program) into the cache and
# prints the path of its binary. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
build_crate "$here/hints-oracle" "the hints oracle"
