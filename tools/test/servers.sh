# The databases and brokers of tools/servers, while suites run that need them. Sourced.

servers=none # none, ours (this run stops them at its end) or theirs

# start_servers <preset> <suite>…: if one of the suites needs them. Running servers are used as they
# are.
start_servers() {
    local preset=$1 suite needed=no
    shift
    for suite in "$@"; do
        if needs_servers "$preset" "$suite"; then needed=yes; fi
    done
    if [[ $needed == no || $servers != none ]]; then return; fi
    # If a server cannot be had, the cases that need it fail and name it.
    tools/setup servers || echo "./test: not all servers could be installed" >&2
    servers=ours
    local known='^SEMEL_TEST_(POSTGRES|MARIADB|MYSQL|REDIS|NATS)'
    if tools/servers env | grep -qE "$known"; then servers=theirs; fi
    tools/servers start || echo "./test: not all servers could be started" >&2
    while IFS= read -r line; do export "${line?}"; done < <(tools/servers env)
}

# Also ends what an interrupted run has left: processes in the background do not hear of Ctrl-C. A
# lane is the first process of a group of its own, and the suites that it runs belong to the group.
clean_up() {
    local process
    for process in $(jobs -p); do
        # It may have ended by itself; the servers are stopped in any case.
        kill -- "-$process" 2>/dev/null || kill "$process" 2>/dev/null || true
    done
    if [[ $servers == ours ]]; then tools/servers clean || true; fi
}
