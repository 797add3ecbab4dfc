# What came of each case, in a file per suite: `passed`, `skipped <name>`, `failed <name>` and
# `seconds <number>`, a line each. Lanes are processes of their own, so variables would not do.
# Sourced.

summary=() # a line per suite and build
tallies=() # the files, in the order of the suites

tally_of() { echo "build/$1/reports/$2.tally"; }

# add_result <file> <passed|skipped|failed> [<name>]
add_result() { printf '%s\t%s\n' "$2" "${3:-}" >>"$1"; }

# count_report <tally> <label> <xml> <exit code> [<file>]: adds what the report says. A binary that
# left no report, or failed without a failed case in it (crash, leak at exit, timeout), counts as
# one failure of its own, with what the file says of its end.
count_report() {
    local tally=$1 label=$2 xml=$3 code=$4 end=${5:-} kind name seen_failure=no
    if [[ -s $xml ]]; then
        while IFS=$'\t' read -r kind name; do
            if [[ $kind == skipped ]]; then echo "skipped: $label: $name"; fi
            if [[ $kind == failed ]]; then seen_failure=yes; fi
            add_result "$tally" "$kind" "$label: $name"
        done < <(python3 tools/report.py "$xml")
    fi
    if [[ ! -s $xml || ($code -ne 0 && $seen_failure == no) ]]; then
        add_result "$tally" failed \
            "$label: exit code $code$([[ ! -s $end ]] || echo "; $(cat "$end")")"
    fi
}

# count_of <kind> <file>…
count_of() { awk -F'\t' -v kind="$1" '$1 == kind { ++n } END { print n + 0 }' "${@:2}"; }

# add_suite <preset> <suite>: takes the suite's tally into the summary.
add_suite() {
    local file
    file=$(tally_of "$1" "$2")
    [[ -e $file ]] || add_result "$file" failed "$2 ($1): was not run"
    tallies+=("$file")
    summary+=("$(printf '%-24s %6d passed %4d failed %4d skipped %5d s' "$2 ($1)" \
        "$(count_of passed "$file")" "$(count_of failed "$file")" "$(count_of skipped "$file")" \
        "$(awk -F'\t' '$1 == "seconds" { print $2 }' "$file")")")
}

# add_failure <preset> <what>: of no suite.
add_failure() {
    mkdir -p "build/$1/reports"
    local file
    file=$(mktemp "build/$1/reports/failure.XXXXXX.tally")
    add_result "$file" failed "$2"
    tallies+=("$file")
}

finish() {
    local passed failed skipped
    passed=$(count_of passed "${tallies[@]}" /dev/null)
    failed=$(count_of failed "${tallies[@]}" /dev/null)
    skipped=$(count_of skipped "${tallies[@]}" /dev/null)
    printf '\n'
    if [[ ${#summary[@]} -gt 0 ]]; then printf '%s\n' "${summary[@]}"; fi
    awk -F'\t' '$1 == "failed" { print "FAILED: " $2 }' "${tallies[@]}" /dev/null
    echo "$passed passed, $failed failed, $skipped skipped"
    [[ $failed -eq 0 && $passed -gt 0 ]] && exit 0
    exit 1
}
