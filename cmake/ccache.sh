#!/bin/sh
# The compiler launcher: runs the compiler through ccache, whose settings are in the environment.
# A precompiled header that is made anew goes first: gcc would build upon it, and the copy that
# comes out would differ from everybody else's, so that nothing compiled with it were found in the
# cache.
previous=
precompiles=false
for word; do
    case $previous$word in -xc++-header) precompiles=true ;; esac
    if $precompiles && [ "$previous" = -o ]; then rm -f "$word"; fi
    previous=$word
done
exec ccache "$@"
