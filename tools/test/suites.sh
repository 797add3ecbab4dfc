# How one suite runs. build/<preset>/suites.txt says what it consists of. Sourced.

suites_of() { awk '{ if (!seen[$2]++) print $2 }' "build/$1/suites.txt"; }
binaries_of() {
    awk -v suite="$2" '$1 == "gtest" && $2 == suite { print $3 }' "build/$1/suites.txt"
}
has_checks() { grep -q "^ctest $2 " "build/$1/suites.txt"; }
needs_servers() { grep -q "^servers $2 " "build/$1/suites.txt"; }

# Shows GTest's output without the lines about each case that passes. The file gets the last words.
show_progress() {
    awk -v end="$1" '
        /^\[ RUN  / { at = " in " $4; next }
        /^\[       OK / { at = ""; next }
        /^\[-+\]/ || /^\[=+\] Running / || /^Running main/ || /^Note: / ||
            (/^$/ && at == "") { next }
        { print; fflush(); before = last; last = $0 }
        END { print "ended" at ": " before " " last >end }'
}

# One GTest binary, with the suite's options. Suites with servers wait most of the time, so each
# half of their cases has a process of its own.
run_binary() {
    local preset=$1 suite=$2 binary=$3 shards=1 shard code xml pids=()
    if needs_servers "$preset" "$suite"; then shards=2; fi
    local reports=build/$preset/reports/${binary##*/}
    rm -f "$reports".?.xml "$reports".?.end
    for ((shard = 0; shard < shards; ++shard)); do
        GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
            timeout --foreground "${SEMEL_TEST_TIMEOUT:-1800}" "build/$preset/$binary" \
            "--gtest_output=xml:$PWD/$reports.$shard.xml" "${options[@]}" \
            > >(show_progress "$reports.$shard.end") 2>&1 &
        pids+=($!)
    done
    for ((shard = 0; shard < shards; ++shard)); do
        code=0 xml=$reports.$shard.xml
        wait "${pids[$shard]}" || code=$?
        # The filter may be a moment behind; it only stays away if it was killed.
        for _ in $(seq 500); do
            if [[ -s $reports.$shard.end ]]; then break; else sleep 0.01; fi
        done
        count_report "$(tally_of "$preset" "$suite")" "$suite ($preset)" "$xml" "$code" \
            "$reports.$shard.end"
    done
}

# The suite's other tests, through ctest.
run_checks() {
    local preset=$1 suite=$2 code=0
    local xml=build/$preset/reports/$suite.checks.xml log=build/$preset/reports/$suite.checks.log
    rm -f "$xml"
    ctest --test-dir "build/$preset" -L "^$suite\$" -L '^check$' --output-on-failure \
        --no-tests=error --parallel "$(jobs_max)" --output-junit "$PWD/$xml" >"$log" 2>&1 || code=$?
    [[ $code -eq 0 ]] || cat "$log"
    count_report "$(tally_of "$preset" "$suite")" "$suite ($preset)" "$xml" "$code"
}

# run_suite <preset> <suite>: runs what has been built, and leaves a tally.
run_suite() {
    local preset=$1 suite=$2 binary start=$SECONDS tally
    tally=$(tally_of "$preset" "$suite")
    echo "running: $suite ($preset)"
    for binary in $(binaries_of "$preset" "$suite"); do
        run_binary "$preset" "$suite" "$binary"
    done
    if has_checks "$preset" "$suite"; then run_checks "$preset" "$suite"; fi
    printf 'seconds\t%d\n' $((SECONDS - start)) >>"$tally"
}
