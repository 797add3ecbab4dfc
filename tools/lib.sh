# Shared by the root scripts; sourced with the working directory at the project's root.

jobs_max() {
    echo "${SEMEL_JOBS:-$(nproc)}"
}

# configure_preset <preset>: brings the build files up to date; quiet unless it fails.
configure_preset() {
    local preset=$1 log=build/$1.configure.log
    mkdir -p build
    # If the console's pages could not be fetched the last time, configuring tries again.
    local failed
    failed=$(compgen -G "build/$preset/src/edge/console/*.failed" || true)
    if [[ -f build/$preset/build.ninja && -z $failed ]]; then
        ninja -C "build/$preset" build.ninja >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
    else
        echo "configuring: $preset"
        cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
    fi
}

# build_preset <preset> <target>…: shows ninja's own progress.
build_preset() {
    local preset=$1
    shift
    configure_preset "$preset" || return 1
    echo "building: $preset ($*)"
    cmake --build "build/$preset" --parallel "$(jobs_max)" --target "$@"
}

# Where tools/fetch_mysql keeps MySQL. Root's own folders are closed to the account of the server.
mysql_folder() {
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}
    if [[ $EUID -eq 0 ]]; then cache=/var/cache; fi
    echo "${SEMEL_CACHE_DIR:-$cache/semel}/mysql"
}

# mysql_command <folder>: what runs the server that lies there, with the libraries beside it.
mysql_command() {
    local root=$1/root loader
    loader=$(ls "$root"/usr/lib/*/ld-linux-*.so.* | head -n 1)
    printf '%s\n' "$loader" --library-path "${loader%/*}" "$root/usr/sbin/mysqld" --no-defaults \
        --basedir="$root/usr" --secure-file-priv= --mysqlx=OFF
}

# mysql_server <folder> <options…>
mysql_server() {
    local command
    mapfile -t command < <(mysql_command "$1")
    shift
    "${command[@]}" "$@"
}
