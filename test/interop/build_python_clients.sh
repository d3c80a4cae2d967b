#!/usr/bin/env bash
# Installs the Python packages of python-clients.txt into the cache and prints the folder to import
# them from. Exit status as depends/cached_build.sh says.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../depends/cached_build.sh"
build_python "$here/python-clients.txt" "Python clients"
