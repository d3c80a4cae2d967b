#!/usr/bin/env bash
# clang-tidy over the sources that differ from a commit (default: main), or over all of src: every
# finding is an error. Needs a configured build tree; .clang-tidy says which checks, and why.
#
#   test/lint/clang_tidy.sh [BASE | --all]     BUILD=build TIDY=clang-tidy-14
#
# Half a minute a file, so it is no part of the tests.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
tidy=${TIDY:-clang-tidy-14}
[ -f "$build/compile_commands.json" ] || { echo "no $build/compile_commands.json"; exit 1; }
if [ "${1:-}" = --all ]; then
    mapfile -t files < <(git ls-files 'src/*.cpp')
else
    mapfile -t files < <(git diff --name-only --diff-filter=d "${1:-main}" -- 'src/*.cpp')
fi
[ ${#files[@]} -gt 0 ] || { echo "nothing to check"; exit 0; }
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${JOBS:-1}" "$tidy" -p "$build" --quiet
echo "${#files[@]} files are clean"
