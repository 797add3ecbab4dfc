# The command line of ./test. Sourced; sets suites, options, preset, sanitizers and list.

usage() {
    cat <<'USAGE'
usage: ./test [suite…] [--preset NAME] [--sanitizers] [options of the suite…]

  ./test                          all suites
  ./test --sanitizers             then also unit, engine, conformance and sim with the address,
                                  undefined-behaviour and thread sanitizers (two more builds)
  ./test unit                     one suite
  ./test unit --preset asan       with another preset (dev release asan tsan clang fuzz)
  ./test sim --seeds 20000        further options go to the suite's own binary
  ./test fuzz --seconds 60        each fuzzer for a minute, instead of its corpus alone
  ./test histories --seconds 60   two gateways under faults, 60 s on each store; --seed N
                                  repeats a plan, --store NAME takes one store
  ./test --list                   the suites

Results are kept in build/<preset>/reports/.
USAGE
}

refuse() {
    echo "./test: $*" >&2
    exit 2
}

suites=() options=() preset=dev sanitizers=no list=no

read_options() {
    while [[ $# -gt 0 ]]; do
        case $1 in
        -h | --help) usage && exit 0 ;;
        --list) list=yes ;;
        --sanitizers) sanitizers=yes ;;
        --preset=*) preset=${1#*=} ;;
        --preset) preset=${2:?--preset needs a name} && shift ;;
        -*) options+=("$1") ;;
        *) if [[ ${#options[@]} -gt 0 ]]; then options+=("$1"); else suites+=("$1"); fi ;;
        esac
        shift
    done
    if [[ ${#options[@]} -gt 0 && ${#suites[@]} -eq 0 ]]; then
        refuse "'${options[0]}' needs the name of a suite before it; see ./test --help"
    fi
    # Fuzzers are programs of another compiler.
    if [[ ${suites[*]} == fuzz && ${options[0]:-} == --seconds ]]; then
        preset=fuzz
        export SEMEL_FUZZ_SECONDS=${options[1]:?--seconds needs a number}
        options=()
    fi
}

# check_options: once the preset is configured, its suites are known.
check_options() {
    local suite
    for suite in "${suites[@]}"; do
        if ! suites_of "$preset" | grep -qx -- "$suite"; then
            refuse "no suite '$suite'; there are: $(suites_of "$preset" | xargs)"
        fi
        if [[ ${#options[@]} -gt 0 && -z $(binaries_of "$preset" "$suite") ]]; then
            refuse "suite '$suite' takes no option '${options[0]}'"
        fi
    done
}
