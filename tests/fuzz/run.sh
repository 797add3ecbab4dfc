#!/usr/bin/env bash
# One fuzzer for SEMEL_FUZZ_SECONDS. It begins with the corpus and with what earlier runs of this
# build have found; an input that breaks it is written beside that. Add that input to the corpus.
#
# usage: run.sh FUZZER CORPUS
set -euo pipefail
fuzzer=$1 corpus=$2
found=$fuzzer.found
mkdir -p "$found"
exec "$fuzzer" -max_total_time="${SEMEL_FUZZ_SECONDS:-10}" -timeout=5 -rss_limit_mb=1024 \
    -max_len=16384 -verbosity=0 -print_final_stats=1 -artifact_prefix="$found/broken-" \
    "$found" "$corpus"
