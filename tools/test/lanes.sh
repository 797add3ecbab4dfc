# Which suites run, and which of them at the same time. Sourced.

# run_lane <preset> <suite>…: one after another. A suite that does not build fails alone.
run_lane() {
    local preset=$1 suite
    shift
    for suite in "$@"; do run_suite "$preset" "$suite"; done
}

# lane_beside <preset> <suite>…: in a process group of its own. What a suite prints is shown when
# the suite has ended.
lane_beside() {
    local preset=$1 suite log
    shift
    set +m
    for suite in "$@"; do
        log=build/$preset/reports/$suite.log
        echo "beside:  $suite ($preset)"
        run_suite "$preset" "$suite" >"$log" 2>&1
        sed 1d "$log"
    done
}

# run_lanes <preset> <suite>…: suites with servers wait for them most of the time; the others
# compute. So these two kinds run beside each other, and suites of one kind one after another: they
# share the servers.
run_lanes() {
    local preset=$1 suite waiting=() computing=()
    shift
    for suite in "$@"; do
        if needs_servers "$preset" "$suite"; then
            waiting+=("$suite")
        else
            computing+=("$suite")
        fi
    done
    if [[ ${#waiting[@]} -eq 0 || ${#computing[@]} -eq 0 || $(jobs_max) -lt 2 ]]; then
        run_lane "$preset" "$@"
        return
    fi
    set -m
    lane_beside "$preset" "${computing[@]}" </dev/null &
    local beside=$!
    set +m
    run_lane "$preset" "${waiting[@]}"
    wait "$beside" || true
}

# run_preset <preset> <suite>…: builds what the suites need, then runs them. If something does not
# build, only the suites that need it fail.
run_preset() {
    local preset=$1 suite targets=() built=() start=$SECONDS complete=yes
    shift
    for suite in "$@"; do targets+=("semel_suite_$suite"); done
    build_preset "$preset" "${targets[@]}" || complete=no
    mkdir -p "build/$preset/reports"
    rm -f "build/$preset/reports/"*.tally
    for suite in "$@"; do
        if [[ $complete == yes ]] || build_preset "$preset" "semel_suite_$suite"; then
            built+=("$suite")
        else
            add_result "$(tally_of "$preset" "$suite")" failed "$suite ($preset): does not build"
        fi
    done
    summary+=("$(printf '%-24s %44d s' "build ($preset)" $((SECONDS - start)))")
    start_servers "$preset" "${built[@]}"
    run_lanes "$preset" "${built[@]}"
    for suite in "$@"; do add_suite "$preset" "$suite"; done
}

# Those of the wanted suites that the preset has, in its order.
only_known() {
    local preset=$1 suite
    shift
    for suite in $(suites_of "$preset"); do
        if [[ " $* " == *" $suite "* ]]; then echo "$suite"; fi
    done
}
